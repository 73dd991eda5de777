/*
 * tensorslice: a rectangle of the numbers of a tensor, asked for or come: two
 * dimensions run, the others stand at index. Of a 1-D tensor only columns run
 * (row_dimension -1), of a 0-d one none.
 */
#ifndef PROTOCOL_TENSORSLICE_H
#define PROTOCOL_TENSORSLICE_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "protocol/tensor.h"

struct error;

/* Of one slice. */
#define TENSOR_CELLS_MAXIMUM 65536

struct tensor_slice {
	int row_dimension; /* -1: none */
	int column_dimension;
	int64_t index[TENSOR_DIMENSIONS]; /* of the others */
	int dimension_count;
	int64_t row; /* the first, and how many */
	int64_t row_count;
	int64_t column;
	int64_t column_count;
	struct tensor_number *numbers; /* row by row; NULL: only asked for */
	size_t count;
};

void tensor_slice_clear(struct tensor_slice *slice);
json_t *tensor_slice_to_json(const struct tensor_slice *slice);
/* Checked against itself; who uses it checks it against the tensor. */
int tensor_slice_from_json(struct tensor_slice *slice, const json_t *json, struct error *error);

#endif
