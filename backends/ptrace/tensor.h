/*
 * tensor: what a torch tensor or a numpy array is, read from outside: type of
 * its elements, shape, strides, device, where its data lies. Never the data.
 *
 * torch's objects are C++ and their layout changes with its version. So
 * nothing is believed that does not hold together: the implementation must
 * point back to the Python object, the sizes must multiply to the number of
 * elements, element type and device must exist (c10/core/TensorImpl.h; 1.13
 * and 2.13 to 2.14 are known from headers, what lies between is found by the
 * pointer back). What does not is no tensor: -1.
 */
#ifndef BACKENDS_PTRACE_TENSOR_H
#define BACKENDS_PTRACE_TENSOR_H

#include <stdint.h>

struct pywriter;

/* "tensor float32 [64, 32] cpu requires_grad", "ndarray float64 [8, 3]" */
void tensor_write_torch(struct pywriter *writer, uint64_t object);
void tensor_write_numpy(struct pywriter *writer, uint64_t object);
/* torch.dtype, torch.device and torch.Size. */
void tensor_write_dtype(struct pywriter *writer, uint64_t object);
void tensor_write_device(struct pywriter *writer, uint64_t object);
void tensor_write_size(struct pywriter *writer, uint64_t object);

#endif
