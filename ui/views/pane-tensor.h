/* pane-tensor: the parts of the tensor pane, one file for each mode. */
#ifndef UI_VIEWS_PANE_TENSOR_H
#define UI_VIEWS_PANE_TENSOR_H

#include <stdbool.h>

#include "ui/style.h"
#include "ui/tensorscreen.h"
#include "ui/window.h"

struct session;
struct tensorview;
struct view;

/* Returns the number of rows that the header needs in column_count columns, at most row_maximum. */
int pane_tensor_header_rows(const struct session *session, const struct view *view,
			    int column_count, int row_maximum);
void pane_tensor_header(struct window window, const struct session *session,
			const struct view *view, int row_maximum);
/* True if the rank may have changed the tensor since it was read. */
bool tensor_is_stale(const struct session *session, const struct view *view);

/* Draw a mode of the pane, below the line that describes the shown part of the tensor. */
void pane_tensor_numbers(struct window window, const struct session *session,
			 const struct view *view, const struct tensor_screen *screen);
void pane_tensor_heat(struct window window, const struct session *session, const struct view *view,
		      const struct tensor_screen *screen);
void pane_tensor_histogram(struct window window, const struct session *session,
			   const struct view *view, const struct tensor_screen *screen);

#endif
