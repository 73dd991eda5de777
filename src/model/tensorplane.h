/*
 * tensorplane: which two dimensions of a tensor are looked at, and where the
 * others stand: "[2, :, :]". Rows are the first that runs, columns the second;
 * of a 1-D tensor only columns run, of a 0-d one none: one row, one column.
 */
#ifndef MODEL_TENSORPLANE_H
#define MODEL_TENSORPLANE_H

#include <stdbool.h>
#include <stdint.h>

#include "protocol/tensor.h"
#include "protocol/tensorslice.h"

struct buffer;
struct error;

struct tensor_plane {
	int dimension_count; /* -1: of no tensor yet */
	int row_dimension;   /* -1: none */
	int column_dimension;
	int64_t index[TENSOR_DIMENSIONS]; /* 0 of those that run */
};

struct tensor_place {
	int64_t row;
	int64_t column;
};

/* Of no tensor: the first that it is fitted to gives its last two. */
void tensor_plane_init(struct tensor_plane *plane);
/* Another number of dimensions begins anew; indices stay inside. */
void tensor_plane_fit(struct tensor_plane *plane, const struct tensor *tensor);
bool tensor_plane_is_same(const struct tensor_plane *a, const struct tensor_plane *b);
int64_t tensor_plane_rows(const struct tensor_plane *plane, const struct tensor *tensor);
int64_t tensor_plane_columns(const struct tensor_plane *plane, const struct tensor *tensor);
/* Appends "[2, :, :]". */
void tensor_plane_append(struct buffer *out, const struct tensor_plane *plane);
/*
 * Reads "[2, :, 3:]" as slicetext does; place is where it begins. -1, a
 * sentence, and nothing is changed where it does not fit the tensor, or ends
 * before it.
 */
int tensor_plane_parse(struct tensor_plane *plane, struct tensor_place *place,
		       const struct tensor *tensor, const char *text, struct error *error);
/* The next plane, or the one before, around the ends; false: it is all. */
bool tensor_plane_step(struct tensor_plane *plane, const struct tensor *tensor, int by);
/* The element's place in the order of indices, the last one fastest. */
int64_t tensor_plane_flat(const struct tensor_plane *plane, const struct tensor *tensor,
			  const struct tensor_place *place);
/* Moves to the plane with that element, and gives its place there. */
struct tensor_place tensor_plane_show(struct tensor_plane *plane, const struct tensor *tensor,
				      int64_t flat);
/* Appends an element's indices, "[2, 3, 8]". */
void tensor_plane_append_element(struct buffer *out, const struct tensor_plane *plane,
				 const struct tensor_place *place);
/* What is to be asked for these cells; it holds no numbers. */
struct tensor_slice tensor_plane_slice(const struct tensor_plane *plane,
				       const struct tensor_place *place, int64_t rows,
				       int64_t columns);

#endif
