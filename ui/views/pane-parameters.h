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

/* Returns a row (borrowed); NULL: no more rows. */
const struct paramdiff_row *parameters_row(const struct session *session, size_t at);
/* Returns the row under the cursor, limited to the rows; -1: no rows. */
int parameters_cursor(const struct session *session, const struct view *view);

#endif
