/* pytensor-torch: the declarations that the readers of torch's tensors share. */
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
/* Sets tensor->requires_grad and tensor->grad_fn, as far as they are known. */
void torch_read_autograd(struct pyreader *reader, const struct torch_object *object,
			 struct pytensor *tensor);
/*
 * Finds the TensorImpl of the gradient of an opened tensor; sets *has_gradient to false if there is
 * no gradient. Returns -1 if it is unreadable.
 */
int torch_find_gradient(struct pyreader *reader, const struct torch_object *tensor,
			bool *has_gradient, uint64_t *impl);
/* Sets placement ("Shard(0) of [1024, 64]") and shard of a DTensor. */
void torch_read_placement(struct pyreader *reader, uint64_t object, struct pytensor *tensor);

/* Returns the bytes of an element of the type with this number in torch; 0: no such type. */
int torch_dtype_size(int number);
/* Returns true if a machine may have several devices of the type with this number in torch. */
bool torch_device_is_counted(int number);

#endif
