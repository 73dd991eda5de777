/*
 * tensorparameters: parameters and buffers of a module, page by page; for any other object its
 * tensors and, if requested, its plain values.
 */
#ifndef PROTOCOL_TENSORPARAMETERS_H
#define PROTOCOL_TENSORPARAMETERS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "protocol/tensor.h"

struct error;

#define TENSOR_WALK_MAXIMUM 1000000 /* maximum of parameters on all pages */

/* A parameter or buffer, named like "layers.0.weight". */
struct tensor_parameter {
	char *name;
	bool is_buffer;
	struct tensor tensor; /* dtype NULL: no tensor, see error and value */
	/*
	 * repr() of a plain value; for a list the repr() of its plain items, and "_" for the
	 * others. Long text is cut and has its CRC-32, so equal texts are equal values. NULL: a
	 * tensor, or error.
	 */
	char *value;
	char *error;
};

struct tensor_parameters {
	struct tensor_parameter *items;
	size_t count;
	size_t capacity;
	int64_t total;	 /* items on all pages; -1: unknown */
	bool has_values; /* true: plain values are included */
};

void tensor_parameters_clear(struct tensor_parameters *parameters);
struct tensor_parameter *tensor_parameters_add(struct tensor_parameters *parameters);
json_t *tensor_parameters_to_json(const struct tensor_parameters *parameters);
/* Adds the items of another page. -1: *error is set. */
int tensor_parameters_from_json(struct tensor_parameters *parameters, const json_t *json,
				struct error *error);

#endif
