/*
 * pane-parameters: the parameters and buffers that differ between replicas, one in each row, and a
 * summary.
 */
#ifndef UI_VIEWS_PANE_PARAMETERS_H
#define UI_VIEWS_PANE_PARAMETERS_H

#include <stddef.h>

struct paramdiff_row;
struct session;
struct view;

/* Returns row `at`, borrowed; NULL: there are no more rows. */
const struct paramdiff_row *parameters_row(const struct session *session, size_t at);
/* Returns the index of the row under the cursor; -1: there are no rows. */
int parameters_cursor(const struct session *session, const struct view *view);

#endif
