/*
 * parameter-walk: the tensors in a module, an optimizer, or lists, tuples and dicts of
 * such, found from outside, in the order and with the names that PyTorch gives
 * them: of a module its parameters, then its buffers, then its children's;
 * what is there twice counts once. Nothing is held meanwhile, so what changes
 * gives -1.
 *
 *	fc.weight			of a module, running_mean: a buffer
 *	[0].weight, ['head'].bias	of modules in a list or dict
 *	[0], ['loss']			of tensors in a list or dict
 *	['loss']			of a DataFrame's columns
 *	param_groups[0].params[1]	of an optimizer
 *	state[1].exp_avg		of the same, a buffer: by the number of the
 *					parameter, as in its state_dict()
 *
 * With values the plain values in lists, tuples, dicts and optimizers, too,
 * each in the text of tensorparameters.h, and what there is neither with an
 * error; what is there twice then counts twice.
 *
 *	['epoch'], param_groups[0].lr	of a dict
 *	['sizes']			the plain items of a list, together
 */
#ifndef BACKENDS_TENSOR_PARAMETER_WALK_H
#define BACKENDS_TENSOR_PARAMETER_WALK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "protocol/tensorparameters.h"

struct error;
struct ptrace_connection;

struct tensor_walk_item {
	char *name;
	bool is_buffer;
	uint64_t object; /* 0: it is no tensor */
	int64_t column;	 /* of the DataFrame that object is; -1: of none */
	char *value;	 /* NULL: it is no plain value */
	char *error;	 /* why it is neither; NULL: it is */
};

struct tensor_walk {
	struct tensor_walk_item *items;
	size_t count;
	size_t capacity;
};

/* object has the text as its name; -1 and a sentence. Clear it in any case. */
int tensor_walk(struct ptrace_connection *connection, uint64_t object, const char *text,
		bool wants_values, struct tensor_walk *walk, struct error *error);
void tensor_walk_clear(struct tensor_walk *walk);

#endif
