/*
 * tensorslice: a rectangle of a tensor's elements, requested or received. Rows and columns run
 * along two dimensions; all other dimensions have a fixed index. A 1-D tensor has only columns
 * (row_dimension -1), a 0-D tensor neither.
 */
#ifndef PROTOCOL_TENSORSLICE_H
#define PROTOCOL_TENSORSLICE_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "protocol/tensor.h"

struct error;

/* Maximum of elements in one slice. */
#define TENSOR_CELLS_MAXIMUM 65536

struct tensor_slice {
	int row_dimension; /* dimension of the rows; -1: none */
	int column_dimension;
	int64_t index[TENSOR_DIMENSIONS]; /* fixed index of each other dimension */
	int dimension_count;
	int64_t row; /* first row */
	int64_t row_count;
	int64_t column;
	int64_t column_count;
	struct tensor_number *numbers; /* elements row by row; NULL: a request */
	size_t count;
};

void tensor_slice_clear(struct tensor_slice *slice);
json_t *tensor_slice_to_json(const struct tensor_slice *slice);
/*
 * Reads json and checks that the slice is consistent. The caller must check the slice against the
 * tensor. -1: *error is set.
 */
int tensor_slice_from_json(struct tensor_slice *slice, const json_t *json, struct error *error);

#endif
