/*
 * tensorheat: the mean of each part of a tensor's plane, for a map of it that
 * fits a screen. It is made of slices, which are read one after the other: of
 * a plane with too many elements some rows in the middle of each part are
 * read, and one that is too wide as well only where the cursor is.
 */
#ifndef MODEL_TENSORHEAT_H
#define MODEL_TENSORHEAT_H

#include <stdbool.h>
#include <stdint.h>

#include "model/tensorplane.h"

/* So many elements are read for one map. */
#define TENSOR_HEAT_ELEMENTS (1 << 20)

struct tensor_heat_bin {
	double sum; /* of the finite ones */
	int64_t count;
	int64_t odd_count; /* NaN and infinities */
};

struct tensor_heat {
	struct tensor_plane plane;
	int64_t rows; /* of the plane */
	int64_t columns;
	int64_t first_column; /* of those that the map shows */
	int64_t shown_columns;
	int64_t bin_rows; /* elements along the sides of a part */
	int64_t bin_columns;
	int64_t read_rows; /* of each part's; all: bin_rows */
	int row_count;	   /* parts */
	int column_count;
	struct tensor_heat_bin *bins; /* row by row; NULL: there is no map */
	int64_t page;		      /* the next to be read */
};

/* A map of at most so many parts; the column is one that it shows. */
void tensor_heat_begin(struct tensor_heat *heat, const struct tensor_plane *plane,
		       const struct tensor *tensor, int row_maximum, int column_maximum,
		       int64_t column);
void tensor_heat_clear(struct tensor_heat *heat);
/* It would be the same if it began so. */
bool tensor_heat_is_of(const struct tensor_heat *heat, const struct tensor_plane *plane,
		       const struct tensor *tensor, int row_maximum, int column_maximum,
		       int64_t column);
/* The slice to be read next; false: all were. */
bool tensor_heat_next(const struct tensor_heat *heat, struct tensor_slice *slice);
/* Takes the slice that was to be read next. */
void tensor_heat_add(struct tensor_heat *heat, const struct tensor_slice *slice);
/* Of the parts with finite elements; false: there is none. */
bool tensor_heat_range(const struct tensor_heat *heat, double *low, double *high);
/* 0 … count - 1 of a value between low and high, count equal steps. */
int tensor_heat_step(double value, double low, double high, int count);
/* A number's value, a complex one's magnitude; false: it is no number. */
bool tensor_number_value(const struct tensor_number *number, double *value);

#endif
