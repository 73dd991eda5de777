/*
 * tensorscreen: the layout of the tensor pane, from the size of the pane and the known properties
 * of the tensor. Drawing, moving and requests use the same layout.
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

/* Bins of the histogram that are requested; they are joined evenly to fewer bars. */
#define TENSOR_BINS 60

enum tensor_mode {
	TENSOR_NUMBERS,
	TENSOR_HEAT,
	TENSOR_HISTOGRAM,
	TENSOR_MODE_COUNT,
};

/* The user's choices in the tensor pane; a part of struct view. */
struct tensor_choice {
	enum tensor_mode mode;
	struct tensor_format format;
	bool is_logarithmic; /* bars of the histogram */
	struct tensor_plane plane;
	struct tensor_place cursor;
	struct tensor_place first; /* place in the upper left corner */
	bool is_at_found;	   /* the cursor is still at the element found last */
};

struct tensor_screen {
	bool has_frame;
	int header_rows; /* rows above the line that describes the shown part */
	int row_count;	 /* rows of the numbers, map or histogram, without their head */
	int column_count;
	bool has_head; /* there is a row for the head */
	struct tensor_format format;
	struct tensor_plane plane;
	struct tensor_place cursor;
	struct tensor_place first;
	int64_t rows; /* size of the plane */
	int64_t columns;
	int label_width; /* columns of the row numbers, and a blank */
	int cell_width;	 /* columns of a number, and a blank before it */
	int shown_rows;	 /* rows of numbers that fit, at most those of the plane */
	int shown_columns;
};

extern const char *const tensor_mode_names[TENSOR_MODE_COUNT];

void tensor_choice_init(struct tensor_choice *choice);
/* Computes the layout in a body of this size, its border included. */
void tensor_screen_make(struct tensor_screen *screen, const struct session *session,
			const struct view *view, int row_count, int column_count);
/* Computes the most rows and columns of values that a heat map shows in the pane. */
void tensor_screen_map(const struct tensor_screen *screen, const struct view *view,
		       int *row_maximum, int *column_maximum);
/* Returns how many bins are joined to one bar, so that the bars fit into so many rows. */
int tensor_bins_joined(int count, int rows);

#endif
