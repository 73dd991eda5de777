/*
 * parameter-list: the request `parameters` of a process that is read from outside:
 * what parameter-walk.h finds, a page of it, each hashed if that is wanted.
 */
#ifndef BACKENDS_TENSOR_PARAMETER_LIST_H
#define BACKENDS_TENSOR_PARAMETER_LIST_H

#include "backends/tensor/value-request.h"

/* Most in one answer. */
#define PARAMETER_LIST_PAGE 1000

/* As value_request_begin(); one that cannot be hashed from outside says so. */
enum value_request parameter_list_begin(struct node *node, const struct process *process,
					const struct message *request, bool is_last,
					struct error *error);

#endif
