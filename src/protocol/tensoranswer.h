/*
 * tensoranswer: the answer to the request `tensor`: the value of an expression, its description as
 * a tensor, and the requested data of its elements.
 */
#ifndef PROTOCOL_TENSORANSWER_H
#define PROTOCOL_TENSORANSWER_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "protocol/tensor.h"
#include "protocol/variable.h"

struct error;

/* Maximum of element bytes in one answer. */
#define TENSOR_DATA_MAXIMUM (1u << 20)

struct tensor_answer {
	struct variable value; /* value of any type */
	bool has_tensor;
	struct tensor tensor;
	bool has_slice;
	struct tensor_slice slice;
	int64_t found; /* index of the element that "find" found; -1: none */
	struct buffer data;
	char *func; /* function of the frame that has the variable; NULL: no frame */
	char *file;
	int line;
	int depth;
};

/* Reads body into an empty answer. -1: *error is set. Clear the answer in either case. */
int tensor_answer_from_json(struct tensor_answer *answer, const json_t *body, struct error *error);
/* Frees the members; an all-zero answer is fine. */
void tensor_answer_clear(struct tensor_answer *answer);

/*
 * Parameters and buffers of a module, page by page; for any other object its
 * tensors and, if requested, its plain values.
 */

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
