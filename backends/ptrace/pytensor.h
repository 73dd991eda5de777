/*
 * pytensor: what a torch tensor or a numpy array is, read from outside: type of
 * its elements, shape, strides, device, where its data lies. Never the data
 * (pyelement.h reads single elements of those that lie in memory).
 *
 * torch's objects are C++ and their layout changes with its version. So
 * nothing is believed that does not hold together: the implementation must
 * point back to the Python object, the sizes must multiply to the number of
 * elements, element type and device must exist (c10/core/TensorImpl.h; 1.13
 * and 2.13 to 2.14 are known from headers, what lies between is found by the
 * pointer back). What does not is no tensor: -1.
 */
#ifndef BACKENDS_PTRACE_PYTENSOR_H
#define BACKENDS_PTRACE_PYTENSOR_H

#include <stdbool.h>
#include <stdint.h>

struct pyreader;
struct pywriter;

#define PYTENSOR_DIMENSIONS 64

struct pytensor {
	const char *dtype;   /* "float32", static; NULL: in dtype_text */
	char dtype_text[16]; /* of numpy: "float64", ">int16" */
	const char *device;  /* "cuda", static; NULL: no device (numpy) */
	int device_index;    /* -1: none */
	int dimension_count;
	int64_t shape[PYTENSOR_DIMENSIONS];
	int64_t strides[PYTENSOR_DIMENSIONS]; /* torch: elements, numpy: bytes */
	int64_t offset; /* of the first element, in elements */
	int64_t element_count;
	bool requires_grad; /* false also when it cannot be told */
	uint64_t data;	    /* what offset counts from; 0 unknown */
	uint64_t dtype_object; /* numpy's descriptor; 0 of torch */
};

int pytensor_read_torch(struct pyreader *reader, uint64_t object,
		      struct pytensor *tensor);
int pytensor_read_numpy(struct pyreader *reader, uint64_t object,
		      struct pytensor *tensor);
/* "float32" */
const char *pytensor_dtype(const struct pytensor *tensor);
/* By their numbers in torch; NULL: there is none. */
const char *pytensor_dtype_name(int number);
const char *pytensor_device_name(int number);
/*
 * The gradient of a torch tensor: *has_gradient, and the Python object of it,
 * 0: it has none yet. -1: it cannot be told.
 */
int pytensor_gradient(struct pyreader *reader, uint64_t object,
		    bool *has_gradient, uint64_t *gradient);

/* "tensor float32 [64, 32] cpu requires_grad", "ndarray float64 [8, 3]" */
void pytensor_write_torch(struct pywriter *writer, uint64_t object);
void pytensor_write_numpy(struct pywriter *writer, uint64_t object);
/* torch.dtype, torch.device and torch.Size. */
void pytensor_write_dtype(struct pywriter *writer, uint64_t object);
void pytensor_write_device(struct pywriter *writer, uint64_t object);
void pytensor_write_size(struct pywriter *writer, uint64_t object);

#endif
