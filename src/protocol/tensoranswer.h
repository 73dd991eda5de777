/*
 * tensoranswer: the answer to the request `tensor`: the value of an expression, its description as
 * a tensor, and the requested data of its elements.
 */
#ifndef PROTOCOL_TENSORANSWER_H
#define PROTOCOL_TENSORANSWER_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/buffer.h"
#include "protocol/tensor.h"
#include "protocol/tensorslice.h"
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

#endif
