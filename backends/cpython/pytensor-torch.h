/* pytensor-torch: what the readers of torch's tensors share. */
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
#define TORCH_OTHER 16u /* a class of its own: it may be anything */

/* The class of the object, and its traits; type[0] is '\0': not known. */
unsigned torch_traits(struct pyreader *reader, uint64_t object, char *type, size_t size);
/* isinstance(object, torch.nn.Parameter) */
bool torch_is_parameter(struct pyreader *reader, uint64_t object, unsigned traits);
/* requires_grad, grad_fn, as far as they are known. */
void torch_read_autograd(struct pyreader *reader, const struct torch_object *object,
			 struct pytensor *tensor);
/* The TensorImpl of an opened one's gradient, unless it has none. */
int torch_find_gradient(struct pyreader *reader, const struct torch_object *tensor,
			bool *has_gradient, uint64_t *impl);
/* What a DTensor says of how it is divided: "Shard(0) of [1024, 64]". */
void torch_read_placement(struct pyreader *reader, uint64_t object, struct pytensor *tensor);

/* 0: there is no such type. */
int torch_dtype_size(int number);
/* Whether tensors lie on more than the first of a kind. */
bool torch_device_is_counted(int number);

#endif
