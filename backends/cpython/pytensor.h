/*
 * pytensor: what a torch tensor, a numpy array, bytes, a bytearray, a
 * memoryview or an array.array is, read from outside: type of its elements,
 * shape, strides, device, where its data lies. Never the data.
 *
 * torch's objects are C++ and their layout changes with its version. So
 * nothing is believed that does not hold together: the implementation must
 * point back to the Python object, the sizes must multiply to the number of
 * elements, element type and device must exist, the storage must be one by
 * the name of its C++ class and as large as what lies in it. Layouts are known
 * by version (pytensor-torch.inc, made by pytensor-gen.py from the headers of
 * the wheels); an unknown one is found from what must hold. What does not is
 * no tensor: -1. What of one is not known is said to be unknown.
 */
#ifndef BACKENDS_CPYTHON_PYTENSOR_H
#define BACKENDS_CPYTHON_PYTENSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct error;
struct pyreader;
struct pytype;
struct pywriter;
struct tensor;
struct tensor_layout;

#define PYTENSOR_DIMENSIONS 64
#define PYTENSOR_TEXT 256
/* Why they are not read. */
#define PYTENSOR_OBJECTS "its elements are objects of Python, each of which lies elsewhere"

enum pytensor_family {
	PYTENSOR_TORCH,
	PYTENSOR_NUMPY,
	PYTENSOR_BUFFER, /* bytes, bytearray, memoryview, array.array */
};

struct pytensor {
	enum pytensor_family family;
	char type[PYTENSOR_TEXT]; /* "torch.Tensor"; "" not known */
	const char *dtype;	  /* "float32", static; NULL: in dtype_text */
	char dtype_text[32];	  /* of numpy: "float64", ">int16" */
	const char *device;	  /* "cuda", static; NULL: no device (numpy) */
	int device_index;	  /* -1: none */
	int dimension_count;
	int64_t shape[PYTENSOR_DIMENSIONS];
	int64_t strides[PYTENSOR_DIMENSIONS]; /* torch: elements, else bytes */
	int64_t offset;	       /* of the first element, in elements; 0 not of torch */
	int64_t element_count; /* -1: the count is unknown and there is no shape (nested tensor) */
	int64_t item_size;     /* bytes of an element */
	int requires_grad;     /* 1, 0; -1: not known; 0 of others than torch */
	bool is_parameter;
	uint64_t data;	       /* what offset counts from; 0 unknown or none */
	uint64_t dtype_object; /* numpy's descriptor; 0 of torch */
	bool has_mask;	       /* elements where it is not 0 do not count: numpy.ma */
	uint64_t mask_object;
	uint64_t mask;				   /* its byte of the first element */
	int64_t mask_strides[PYTENSOR_DIMENSIONS]; /* bytes */
	char grad_fn[PYTENSOR_TEXT];		   /* "MulBackward0"; "" none */
	uint64_t object;			   /* the Python object */
	uint64_t local;				   /* whose elements: of a DTensor its shard */
	uint64_t impl;				   /* torch's TensorImpl */
	uint64_t storage;			   /* and StorageImpl; 0: none */
	int64_t storage_bytes;			   /* -1: not known, and so are these */
	int64_t storage_users;
	char placement[PYTENSOR_TEXT]; /* "Shard(0) of [1024, 64]"; "" none */
	char shard[64];		       /* "1, 0", as of tensor.h; "" none, or not known */
	const char *unread;	       /* why elements cannot be read; NULL: they can */
};

/* Whether objects of its class are such at all. */
bool pytensor_is(struct pyreader *reader, uint64_t object);
/* What it is; -1 and a sentence: it is none, or it cannot be told. */
int pytensor_read(struct pyreader *reader, uint64_t object, struct pytensor *tensor,
		  struct error *error);
/* The same object with the same sizes over the same memory. */
bool pytensor_is_same(const struct pytensor *one, const struct pytensor *other);
/* Fills in what it is into one after tensor_init(): no statistics, hashes. */
void pytensor_tell(const struct pytensor *tensor, struct tensor *told);
/* Where its elements lie; -1 and a sentence: they cannot be read. */
int pytensor_layout(const struct pytensor *tensor, pid_t pid, struct tensor_layout *layout,
		    struct error *error);

/* Of these alone; -1: it is none. */
int pytensor_read_torch(struct pyreader *reader, uint64_t object, struct pytensor *tensor);
int pytensor_read_numpy(struct pyreader *reader, uint64_t object, struct pytensor *tensor);
/* False: the object was freed, as far as its references tell. */
bool pytensor_is_alive(struct pyreader *reader, uint64_t object);
/* Whether objects of the class are arrays of jax, or stand for one. */
bool pytensor_is_jax(struct pyreader *reader, const struct pytype *type);
int pytensor_read_jax(struct pyreader *reader, uint64_t object, struct pytensor *tensor);
/* Finds the first member of a C object for which is() returns true; returns 0 if found. */
int pytensor_find_member(struct pyreader *reader, uint64_t object,
			 bool (*is)(struct pyreader *reader, uint64_t object), uint64_t *member);
/* The type of its elements, from numpy's descriptor; -1: it is none. */
int pytensor_set_dtype(struct pyreader *reader, uint64_t descriptor, struct pytensor *tensor);
/* The array there hides elements of it; NULL, or why that cannot be. */
const char *pytensor_set_mask(struct pyreader *reader, uint64_t object, struct pytensor *tensor);
int pytensor_read_bytes(struct pyreader *reader, uint64_t object, struct pytensor *tensor);
int pytensor_read_bytearray(struct pyreader *reader, uint64_t object, struct pytensor *tensor);
int pytensor_read_array(struct pyreader *reader, uint64_t object, struct pytensor *tensor);
int pytensor_read_memoryview(struct pyreader *reader, uint64_t object, struct pytensor *tensor);
/* "float32" */
const char *pytensor_dtype(const struct pytensor *tensor);
/* By their numbers in torch; NULL: there is none. */
const char *pytensor_dtype_name(int number);
const char *pytensor_device_name(int number);
/*
 * The gradient of a torch tensor: *has_gradient, and the Python object of it,
 * 0: it has none yet. -1: it cannot be told.
 */
int pytensor_gradient(struct pyreader *reader, uint64_t object, bool *has_gradient,
		      uint64_t *gradient);

/*
 * The gradient of this tensor where no Python object is of it yet; -1: it
 * cannot be told. tensor's object is 0.
 */
int pytensor_read_unseen(struct pyreader *reader, uint64_t object, struct pytensor *tensor);
/* The tensor there, or its gradient; -1 and a sentence. */
int pytensor_read_this(struct pyreader *reader, uint64_t object, bool is_gradient,
		       struct pytensor *tensor, struct error *error);

/* "tensor float32 [64, 32] cpu requires_grad", "ndarray float64 [8, 3]" */
void pytensor_write_torch(struct pywriter *writer, uint64_t object);
void pytensor_write_numpy(struct pywriter *writer, uint64_t object);
/* "array float64 [8]" */
void pytensor_write_array(struct pywriter *writer, uint64_t object);
/* torch.dtype, torch.device and torch.Size. */
void pytensor_write_dtype(struct pywriter *writer, uint64_t object);
void pytensor_write_device(struct pywriter *writer, uint64_t object);
void pytensor_write_size(struct pywriter *writer, uint64_t object);

#endif
