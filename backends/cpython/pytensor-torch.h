/* pytensor-torch: shared by the readers of torch's tensors. */
#ifndef BACKENDS_CPYTHON_PYTENSOR_TORCH_H
#define BACKENDS_CPYTHON_PYTENSOR_TORCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pyreader;
struct pytensor;
struct torch_object;

/* Traits of tensor classes written in Python. */
#define TORCH_PARAMETER 1u
#define TORCH_DISTRIBUTED 2u /* DTensor */
#define TORCH_FAKE 4u
#define TORCH_JAGGED 8u /* NestedTensor */
#define TORCH_OTHER 16u /* a class other than torch.Tensor, with any behaviour */

/* Returns the traits of the object's class, and writes its name; type[0] '\0': unknown. */
unsigned torch_traits(struct pyreader *reader, uint64_t object, char *type, size_t size);
/* isinstance(object, torch.nn.Parameter) */
bool torch_is_parameter(struct pyreader *reader, uint64_t object, unsigned traits);
/* Sets requires_grad and grad_fn, as far as they are known. */
void torch_read_autograd(struct pyreader *reader, const struct torch_object *object,
			 struct pytensor *tensor);
/*
 * Finds the TensorImpl of an opened tensor's gradient; *has_gradient false: none. -1: unreadable.
 */
int torch_find_gradient(struct pyreader *reader, const struct torch_object *tensor,
			bool *has_gradient, uint64_t *impl);
/* Sets a DTensor's placement: "Shard(0) of [1024, 64]", and shard. */
void torch_read_placement(struct pyreader *reader, uint64_t object, struct pytensor *tensor);

/* Bytes of an element of the type with torch's number; 0: no such type. */
int torch_dtype_size(int number);
/* True if a machine may have several devices of the type. */
bool torch_device_is_counted(int number);

#endif
