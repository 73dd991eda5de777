/*
 * parameter-list: the request `parameters` of a process that is read from outside:
 * what parameter-walk.h finds, a page of it, each hashed if that is wanted.
 */
#ifndef BACKENDS_TENSOR_PARAMETER_LIST_H
#define BACKENDS_TENSOR_PARAMETER_LIST_H

#include "backends/tensor/value-request.h"

/* Most in one answer. */
#define LISTING_PAGE 1000

/* As valuing_begin(); one that cannot be hashed from outside says so. */
enum valuing listing_begin(struct node *node, const struct process *process,
			   const struct message *request, bool is_last, struct error *error);

#endif
