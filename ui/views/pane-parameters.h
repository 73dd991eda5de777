/*
 * pane-parameters: the parameters and buffers in which replicas differ, a row
 * each, and what is said of all of them.
 */
#ifndef UI_VIEWS_PANE_PARAMETERS_H
#define UI_VIEWS_PANE_PARAMETERS_H

#include <stddef.h>

struct paramdiff_row;
struct session;
struct view;

/* Lends a row; NULL: there are no more. */
const struct paramdiff_row *parameters_row(const struct session *session, size_t at);
/* The row under the cursor, kept among them; -1: there is none. */
int parameters_cursor(const struct session *session, const struct view *view);

#endif
