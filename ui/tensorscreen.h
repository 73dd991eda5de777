/*
 * tensorscreen: the layout of the tensor pane, computed from the pane's size and the known
 * properties of the tensor. Drawing, moves of the cursor and requests use the same layout.
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

/*
 * Number of bins requested for the histogram; if fewer bars fit, several bins are joined to one
 * bar.
 */
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
	bool is_logarithmic; /* the histogram's bars have a logarithmic scale */
	struct tensor_plane plane;
	struct tensor_place cursor;
	struct tensor_place first; /* element in the upper left corner */
	bool is_at_found;	   /* the cursor is still at the element found last */
};

struct tensor_screen {
	bool has_frame;
	int header_rows; /* number of rows above the line that describes the shown part */
	int row_count;	 /* row_count and column_count of the numbers, map or histogram, without the
			  * head */
	int column_count;
	bool has_head; /* a head row shows the numbers of the columns */
	struct tensor_format format;
	struct tensor_plane plane;
	struct tensor_place cursor;
	struct tensor_place first;
	int64_t rows; /* rows and columns of the plane */
	int64_t columns;
	int label_width; /* width of the row numbers, including a blank */
	int cell_width;	 /* width of a number, including the blank before it */
	int shown_rows;	 /* rows and columns of numbers that fit, at most those of the plane */
	int shown_columns;
};

extern const char *const tensor_mode_names[TENSOR_MODE_COUNT];

void tensor_choice_init(struct tensor_choice *choice);
/* Computes the layout for a body of row_count * column_count cells, border included. */
void tensor_screen_make(struct tensor_screen *screen, const struct session *session,
			const struct view *view, int row_count, int column_count);
/*
 * Sets *row_maximum and *column_maximum to the number of rows and columns of values that a heat map
 * can show in the pane.
 */
void tensor_screen_map(const struct tensor_screen *screen, const struct view *view,
		       int *row_maximum, int *column_maximum);
/* Returns how many of count bins are joined to one bar, so that the bars fit into `rows` rows. */
int tensor_bins_joined(int count, int rows);

#endif
