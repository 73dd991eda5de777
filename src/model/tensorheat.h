/*
 * tensorheat: a heat map of a tensor's plane that fits the screen: the plane is divided into bins,
 * and the mean of each bin is shown. The elements are read slice by slice. If the plane has too
 * many elements, only some rows in the middle of each bin are read; of a plane that is too wide,
 * only the columns around the cursor.
 */
#ifndef MODEL_TENSORHEAT_H
#define MODEL_TENSORHEAT_H

#include <stdbool.h>
#include <stdint.h>

#include "model/tensorplane.h"

/* Limit of elements read for one map. */
#define TENSOR_HEAT_ELEMENTS (1 << 20)

struct tensor_heat_bin {
	double sum; /* of the finite elements */
	int64_t count;
	int64_t odd_count; /* number of NaN and infinities */
};

struct tensor_heat {
	struct tensor_plane plane;
	int64_t rows; /* rows and columns of the plane */
	int64_t columns;
	int64_t first_column; /* first column of the plane that the map shows */
	int64_t shown_columns;
	int64_t bin_rows; /* rows and columns of the plane per bin */
	int64_t bin_columns;
	int64_t read_rows; /* rows that are read per bin; bin_rows: all */
	int row_count;	   /* number of bins */
	int column_count;
	struct tensor_heat_bin *bins; /* row by row; NULL: no map */
	int64_t page;		      /* number of the next page to read */
};

/* Starts a map of at most row_maximum * column_maximum bins that contains column. */
void tensor_heat_begin(struct tensor_heat *heat, const struct tensor_plane *plane,
		       const struct tensor *tensor, int row_maximum, int column_maximum,
		       int64_t column);
void tensor_heat_clear(struct tensor_heat *heat);
/* True if tensor_heat_begin() with these arguments would make the same map. */
bool tensor_heat_is_of(const struct tensor_heat *heat, const struct tensor_plane *plane,
		       const struct tensor *tensor, int row_maximum, int column_maximum,
		       int64_t column);
/* Sets slice to the next slice to read; false: all slices were read. */
bool tensor_heat_next(const struct tensor_heat *heat, struct tensor_slice *slice);
/* Adds the slice that tensor_heat_next() has set, after its numbers were read. */
void tensor_heat_add(struct tensor_heat *heat, const struct tensor_slice *slice);
/*
 * Sets *low and *high to the lowest and the highest mean of the bins; false: no bin has finite
 * elements.
 */
bool tensor_heat_range(const struct tensor_heat *heat, double *low, double *high);
/*
 * Divides low … high into count equal steps, and returns the index (0 … count - 1) of value's step.
 */
int tensor_heat_step(double value, double low, double high, int count);
/* Sets *value to the number, or to the magnitude of a complex number; false: not a number. */
bool tensor_number_value(const struct tensor_number *number, double *value);

#endif
