/*
 * pane-tensor: the parts of the tensor pane, one file a view of it.
 */
#ifndef UI_VIEWS_PANE_TENSOR_H
#define UI_VIEWS_PANE_TENSOR_H

#include <stdbool.h>

#include "ui/style.h"
#include "ui/tensorscreen.h"
#include "ui/window.h"

struct session;
struct tensorview;
struct view;

/* Rows of its header in so many columns, at most so many. */
int pane_tensor_header_rows(const struct session *session, const struct view *view,
			    int column_count, int row_maximum);
void pane_tensor_header(struct window window, const struct session *session,
			const struct view *view, int row_maximum);
/* What was read of it is older than what its rank may have made of it. */
bool tensor_is_stale(const struct session *session, const struct view *view);

/* The views: below the line that says what is shown. */
void pane_tensor_numbers(struct window window, const struct session *session,
			 const struct view *view, const struct tensor_screen *screen);
void pane_tensor_heat(struct window window, const struct session *session, const struct view *view,
		      const struct tensor_screen *screen);
void pane_tensor_histogram(struct window window, const struct session *session,
			   const struct view *view, const struct tensor_screen *screen);

#endif
