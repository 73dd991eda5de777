/*
 * parameter-walk: finds, without running code in the process, the tensors in a module, an
 * optimizer, or lists, tuples and dicts of these. Order and names are those of PyTorch: a module's
 * parameters, then its buffers, then those of its children; an object found twice is listed once.
 * The process is not stopped; if the walk notices a change, it fails.
 *
 *	fc.weight	a module's parameter; running_mean: a buffer
 *	[0].weight, ['head'].bias	parameters of modules in a list or dict
 *	[0], ['loss']	tensors in a list or dict
 *	['loss']	a column of a DataFrame
 *	param_groups[0].params[1]	an optimizer's parameter
 *	state[1].exp_avg	an optimizer's buffer; 1: the parameter's number in state_dict()
 *
 * With wants_values, the plain values in lists, tuples, dicts and optimizers are listed, too, as
 * the text that tensoranswer.h defines; an object that is neither a tensor nor a plain value is
 * listed with an error. An object found twice is then listed twice.
 *
 *	['epoch'], param_groups[0].lr	a value of a dict
 *	['sizes']	the plain items of a list, as one text
 */
#ifndef BACKENDS_TENSOR_PARAMETER_WALK_H
#define BACKENDS_TENSOR_PARAMETER_WALK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "protocol/tensoranswer.h"

struct error;
struct ptrace_connection;

struct tensor_walk_item {
	char *name;
	bool is_buffer;
	uint64_t object; /* address of the tensor, or of the DataFrame; 0: not a tensor */
	int64_t column;	 /* index of the column if object is a DataFrame; -1: not a column */
	char *value;	 /* text of the plain value; NULL: not a plain value */
	char *error;	 /* why the item has neither elements nor a plain value; NULL: no error */
};

struct tensor_walk {
	struct tensor_walk_item *items;
	size_t count;
	size_t capacity;
};

/*
 * Lists the tensors in object. text: the name of object, under which a tensor that is object itself
 * is listed. Returns 0, or -1 and sets error. tensor_walk_clear() must be called in both cases.
 */
int tensor_walk(struct ptrace_connection *connection, uint64_t object, const char *text,
		bool wants_values, struct tensor_walk *walk, struct error *error);
void tensor_walk_clear(struct tensor_walk *walk);

#endif
