/*
 * tensoranswer: what comes to the request `tensor`: the value of an
 * expression, what it is as a tensor, and of its elements what was asked for.
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

/* Bytes of elements in one answer. */
#define TENSOR_DATA_MAXIMUM (1u << 20)

struct tensor_answer {
	struct variable value; /* of anything */
	bool has_tensor;
	struct tensor tensor;
	bool has_slice;
	struct tensor_slice slice;
	int64_t found; /* -1: nothing */
	struct buffer data;
	char *func; /* of the frame where it was found; NULL: in none */
	char *file;
	int line;
	int depth;
};

/*
 * Into one that holds nothing. -1 and a sentence where it makes no sense; it
 * is to be cleared in either case.
 */
int tensor_answer_from_json(struct tensor_answer *answer, const json_t *body, struct error *error);
/* One that is all zero holds nothing, too. */
void tensor_answer_clear(struct tensor_answer *answer);

#endif
