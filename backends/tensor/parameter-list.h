/*
 * parameter-list: the request `parameters`, answered without running code in the process: one page
 * of the tensors that parameter-walk.h finds, hashed if requested.
 */
#ifndef BACKENDS_TENSOR_PARAMETER_LIST_H
#define BACKENDS_TENSOR_PARAMETER_LIST_H

#include "backends/tensor/tensor-requests.h"

/* Most parameters in one answer. */
#define PARAMETER_LIST_PAGE 1000

/* Like value_request_begin(); a parameter that cannot be read contains the reason. */
enum value_request parameter_list_begin(struct node *node, const struct process *process,
					const struct message *request, bool is_last,
					struct error *error);

#endif
