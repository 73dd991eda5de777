/*
 * value-request: the request `tensor` of a process that is read from outside.
 *
 * The value is looked at first; elements are read in other threads, while the
 * process runs on. Then what the tensor was is read again: if it became
 * another it is looked at and read anew, some times, and is told as torn when
 * that does not help.
 */
#ifndef BACKENDS_TENSOR_VALUE_REQUEST_H
#define BACKENDS_TENSOR_VALUE_REQUEST_H

#include <stdbool.h>

struct error;
struct message;
struct node;
struct process;

enum value_request {
	VALUE_REQUEST_TAKEN,	/* it is answered, now or later */
	VALUE_REQUEST_FAILED,	/* with a sentence */
	VALUE_REQUEST_TOO_MUCH, /* the same; code in the process could tell */
};

/*
 * is_last: nobody else can be asked, so elements that cannot be read from
 * outside are left out of the answer, instead of VALUE_REQUEST_TOO_MUCH.
 */
enum value_request value_request_begin(struct node *node, const struct process *process,
				       const struct message *request, bool is_last,
				       struct error *error);

#endif
