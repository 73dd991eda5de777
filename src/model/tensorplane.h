/*
 * tensorplane: a plane of a tensor: the two dimensions that are shown, and a fixed index for each
 * other dimension: "[2, :, :]". The first ":" runs along the rows, the second along the columns; a
 * 1-D tensor has only columns, a 0-d tensor one row and one column.
 */
#ifndef MODEL_TENSORPLANE_H
#define MODEL_TENSORPLANE_H

#include <stdbool.h>
#include <stdint.h>

#include "protocol/tensor.h"

struct buffer;
struct error;
struct tensor;
struct tensor_slice;

struct tensor_plane {
	int dimension_count; /* -1: not fitted to a tensor yet */
	int row_dimension;   /* -1: none */
	int column_dimension;
	int64_t index[TENSOR_DIMENSIONS]; /* 0 for the two shown dimensions */
};

struct tensor_place {
	int64_t row;
	int64_t column;
};

/* Makes an unfitted plane; tensor_plane_fit() chooses the last two dimensions. */
void tensor_plane_init(struct tensor_plane *plane);
/*
 * Fits the plane to a tensor: chooses the last two dimensions if the number of dimensions differs,
 * and limits the indices to the shape.
 */
void tensor_plane_fit(struct tensor_plane *plane, const struct tensor *tensor);
bool tensor_plane_is_same(const struct tensor_plane *a, const struct tensor_plane *b);
/* Number of rows, and of columns, respectively, of the plane. */
int64_t tensor_plane_rows(const struct tensor_plane *plane, const struct tensor *tensor);
int64_t tensor_plane_columns(const struct tensor_plane *plane, const struct tensor *tensor);
/* Appends "[2, :, :]". */
void tensor_plane_append(struct buffer *out, const struct tensor_plane *plane);
/*
 * Parses "[2, :, 3:]" with slicetext_parse(); sets *plane, and *place to the first element. Returns
 * 0; -1 and *error (a syntax error, an index outside the tensor, or a range that ends before the
 * dimension's end): *plane and *place are unchanged.
 */
int tensor_plane_parse(struct tensor_plane *plane, struct tensor_place *place,
		       const struct tensor *tensor, const char *text, struct error *error);
/* Moves to the next or previous plane (by 1 or -1), with wrap-around; false: there is only one. */
bool tensor_plane_step(struct tensor_plane *plane, const struct tensor *tensor, int by);
/* Flat index of an element in row-major order. */
int64_t tensor_plane_flat(const struct tensor_plane *plane, const struct tensor *tensor,
			  const struct tensor_place *place);
/* Moves to the plane of an element with this flat index; returns the element's place in the
 * plane. */
struct tensor_place tensor_plane_show(struct tensor_plane *plane, const struct tensor *tensor,
				      int64_t flat);
/* Appends an element's indices, "[2, 3, 8]". */
void tensor_plane_append_element(struct buffer *out, const struct tensor_plane *plane,
				 const struct tensor_place *place);
/*
 * Makes a slice, to be requested, of rows * columns cells from place on; the slice has no numbers.
 */
struct tensor_slice tensor_plane_slice(const struct tensor_plane *plane,
				       const struct tensor_place *place, int64_t rows,
				       int64_t columns);

/*
 * slicetext: parses a slice in Python's notation, "[0:8, 3, -1]", of a tensor with a known shape.
 * At most two dimensions may be ranges; omitted dimensions are full ranges.
 */

/*
 * Parses text into *slice (uninitialised); its ranges may have any size. Returns 0; -1 and *error.
 */
int slicetext_parse(struct tensor_slice *slice, const char *text, const struct tensor *tensor,
		    struct error *error);

#endif
