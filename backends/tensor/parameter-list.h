/*
 * parameter-list: answers the request `parameters` without running code in the process: with one
 * page of the tensors that parameter-walk.h finds, with hashes if requested.
 */
#ifndef BACKENDS_TENSOR_PARAMETER_LIST_H
#define BACKENDS_TENSOR_PARAMETER_LIST_H

#include "backends/tensor/tensor-requests.h"

/* Parameters in one answer, at most. */
#define PARAMETER_LIST_PAGE 1000

/* Like value_request_begin(). A parameter that cannot be read contains the reason instead of
 * values. */
enum value_request parameter_list_begin(struct node *node, const struct process *process,
					const struct message *request, bool is_last,
					struct error *error);

#endif
