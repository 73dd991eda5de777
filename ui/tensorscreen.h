/*
 * tensorscreen: what of a tensor is where in its pane, from the size of the
 * pane and what is known of the tensor. Drawing, moving and asking share it.
 */
#ifndef UI_TENSORSCREEN_H
#define UI_TENSORSCREEN_H

#include <stdbool.h>
#include <stdint.h>

#include "model/tensorformat.h"
#include "model/tensorplane.h"
#include "protocol/tensor.h"

struct session;
struct view;

/* Bins that are asked for: they are joined evenly to fewer. */
#define TENSOR_BINS 60

enum tensor_mode {
	TENSOR_NUMBERS,
	TENSOR_HEAT,
	TENSOR_HISTOGRAM,
	TENSOR_MODE_COUNT,
};

/* How a person looks at it: a part of the view. */
struct tensor_choice {
	enum tensor_mode mode;
	struct tensor_format format;
	bool is_logarithmic; /* the histogram */
	struct tensor_plane plane;
	struct tensor_place cursor;
	struct tensor_place first; /* in the upper left corner */
	bool is_at_found;	   /* the cursor was not moved since */
};

struct tensor_screen {
	bool has_frame;
	int header_rows; /* above the line that says what is shown */
	int row_count;	 /* of what is shown, without its own head */
	int column_count;
	bool has_head; /* there is a row for it */
	struct tensor_format format;
	struct tensor_plane plane;
	struct tensor_place cursor;
	struct tensor_place first;
	int64_t rows; /* of the plane */
	int64_t columns;
	int label_width; /* numbers of rows, and a blank */
	int cell_width;	 /* a number and a blank before it */
	int shown_rows;	 /* numbers that fit, at most what there are */
	int shown_columns;
};

extern const char *const tensor_mode_names[TENSOR_MODE_COUNT];

void tensor_choice_init(struct tensor_choice *choice);
/* In a body of so many rows and columns, its border included. */
void tensor_screen_make(struct tensor_screen *screen, const struct session *session,
			const struct view *view, int row_count, int column_count);
/* Parts that a map has at most, and where it begins in the pane. */
void tensor_screen_map(const struct tensor_screen *screen, const struct view *view,
		       int *row_maximum, int *column_maximum);
/* So many bins stand together, that they fit into so many rows. */
int tensor_bins_joined(int count, int rows);

#endif
