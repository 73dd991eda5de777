/*
 * pane-parameters: the parameters and buffers in which replicas differ, a row
 * each, and what is said of all of them.
 */
#ifndef UI_PANE_PARAMETERS_H
#define UI_PANE_PARAMETERS_H

#include <stddef.h>

#include "ui/window.h"

struct buffer;
struct paramdiff_row;
struct rankset;
struct session;
struct view;

size_t parameters_count(const struct session *session);
/* Lends a row; NULL: there are no more. */
const struct paramdiff_row *parameters_row(const struct session *session, size_t at);
/* Lends the next row; NULL: that was the last one. */
const struct paramdiff_row *parameters_next(const struct session *session,
					    const struct paramdiff_row *row);
/* The row under the cursor, kept among them; -1: there is none. */
int parameters_cursor(const struct session *session, const struct view *view);
/* The ranks that differ from most there; all of one class lent. */
const struct rankset *parameters_odd(const struct paramdiff_row *row);
/* Appends a row: its name, ranks, and how they differ. */
void parameters_append_row(struct buffer *out, const struct paramdiff_row *row);
/* In place of the verdict: how far it is, or what was found. */
void pane_parameters_append_summary(struct buffer *out, const struct session *session);
void pane_parameters_summary(struct window window, const struct session *session);
void pane_parameters(struct window window, const struct session *session, const struct view *view);

#endif
