/*
 * tensoranswer: the answer to the request `tensor`: the value of an expression, and, if the value
 * is a tensor, its description and the requested data about its elements.
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

/* Maximum number of bytes of elements in one answer. */
#define TENSOR_DATA_MAXIMUM (1u << 20)

struct tensor_answer {
	struct variable value; /* value of any type */
	bool has_tensor;
	struct tensor tensor;
	bool has_slice;
	struct tensor_slice slice;
	int64_t found;	    /* flat index of the element that "find" found; -1: none */
	struct buffer data; /* requested bytes of elements */
	char *func; /* func, file, line and depth of the frame that has the variable; NULL: no
		     * frame */
	char *file;
	int line;
	int depth;
};

/*
 * Reads body into an empty answer. Returns 0; -1 and *error. Call tensor_answer_clear() in both
 * cases.
 */
int tensor_answer_from_json(struct tensor_answer *answer, const json_t *body, struct error *error);
/* Frees the members; the answer may be all zero. */
void tensor_answer_clear(struct tensor_answer *answer);

/*
 * tensor_parameters: the answer to the request `parameters`: parameters and buffers of a module,
 * page by page; for any other object its tensors and, if requested, its plain values.
 */

#define TENSOR_WALK_MAXIMUM 1000000 /* maximum number of parameters on all pages */

/* A parameter or buffer, named like "layers.0.weight". */
struct tensor_parameter {
	char *name;
	bool is_buffer;
	struct tensor tensor; /* dtype NULL: not a tensor; error or value is set */
	/*
	 * repr() of a plain value; for a list the repr() of its plain items, and "_" for other
	 * items. Long text is cut and ends with the CRC-32 of the whole text, so that equal texts
	 * mean equal values. NULL: a tensor, or error is set.
	 */
	char *value;
	char *error;
};

struct tensor_parameters {
	struct tensor_parameter *items;
	size_t count;
	size_t capacity;
	int64_t total;	 /* number of items on all pages; -1: unknown */
	bool has_values; /* true: plain values are included */
};

void tensor_parameters_clear(struct tensor_parameters *parameters);
struct tensor_parameter *tensor_parameters_add(struct tensor_parameters *parameters);
json_t *tensor_parameters_to_json(const struct tensor_parameters *parameters);
/* Adds the items of another page. Returns 0; -1 and *error. */
int tensor_parameters_from_json(struct tensor_parameters *parameters, const json_t *json,
				struct error *error);

#endif
