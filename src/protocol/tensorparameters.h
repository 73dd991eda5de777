/*
 * tensorparameters: the parameters and buffers of a module, page by page; of
 * anything else its tensors and, if wanted, its plain values.
 */
#ifndef PROTOCOL_TENSORPARAMETERS_H
#define PROTOCOL_TENSORPARAMETERS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "protocol/tensor.h"

struct error;

#define TENSOR_WALK_MAXIMUM 1000000 /* parameters of all pages */

/* A parameter or buffer of a module: "layers.0.weight". */
struct tensor_parameter {
	char *name;
	bool is_buffer;
	struct tensor tensor; /* dtype NULL: error says why, or value is it */
	/*
	 * Of a plain value its repr(), of a list those of its plain items, "_"
	 * for others. What is long is cut, with its CRC-32: equal texts are
	 * equal values. NULL: a tensor, or error says why.
	 */
	char *value;
	char *error;
};

struct tensor_parameters {
	struct tensor_parameter *items;
	size_t count;
	size_t capacity;
	int64_t total;	 /* of all pages; -1: not known */
	bool has_values; /* plain values were told, too */
};

void tensor_parameters_clear(struct tensor_parameters *parameters);
struct tensor_parameter *tensor_parameters_add(struct tensor_parameters *parameters);
json_t *tensor_parameters_to_json(const struct tensor_parameters *parameters);
/* Adds those of another page. */
int tensor_parameters_from_json(struct tensor_parameters *parameters, const json_t *json,
				struct error *error);

#endif
