/*
 * pytensor: reads the description of a torch tensor, a numpy array, bytes, a bytearray, a
 * memoryview or an array.array in another process: element type, shape, strides, device, address of
 * the data. Does not read the data.
 *
 * torch's objects are C++ objects, whose layout changes with torch's version. So everything read is
 * validated: the TensorImpl must point back to the Python object, the sizes must multiply to the
 * number of elements, element type and device must exist, the storage's C++ class must be
 * StorageImpl. An object that breaks a rule is not taken for a tensor: the functions return -1. If
 * the storage is too small, only the elements are unreadable (pytensor.unread). Layouts are known
 * by version (pytensor-torch.inc, made by pytensor-gen.py from the headers of the wheels); for an
 * unknown version the layout is searched for by these rules. A property that cannot be read is
 * reported as unknown.
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
/* The reason in pytensor.unread for arrays of Python objects. */
#define PYTENSOR_OBJECTS "the elements are references to Python objects, which are not supported"

enum pytensor_family {
	PYTENSOR_TORCH,
	PYTENSOR_NUMPY,
	PYTENSOR_BUFFER, /* bytes, bytearray, memoryview, array.array */
};

struct pytensor {
	enum pytensor_family family;
	char type[PYTENSOR_TEXT]; /* "torch.Tensor"; "": unknown */
	const char *dtype;	  /* "float32", static; NULL: see dtype_text */
	char dtype_text[32];	  /* numpy: "float64", ">int16" */
	const char *device;	  /* "cuda", static; NULL: no device (numpy) */
	int device_index;	  /* -1: no index */
	int dimension_count;
	int64_t shape[PYTENSOR_DIMENSIONS];
	int64_t strides[PYTENSOR_DIMENSIONS]; /* torch: elements, else bytes */
	int64_t offset;	       /* elements from data to the first element; 0 if not torch */
	int64_t element_count; /* -1: the count is unknown and there is no shape (nested tensor) */
	int64_t item_size;     /* bytes of one element */
	int requires_grad;     /* 1, 0; -1: unknown; 0 if not torch */
	bool is_parameter;
	uint64_t data;	       /* address that offset counts from; 0: unknown or none */
	uint64_t dtype_object; /* address of numpy's dtype; 0 if torch */
	bool has_mask;	       /* numpy.ma: an element whose mask byte is not 0 is hidden */
	uint64_t mask_object;
	uint64_t mask;				   /* address of the first element's mask byte */
	int64_t mask_strides[PYTENSOR_DIMENSIONS]; /* bytes */
	char grad_fn[PYTENSOR_TEXT];		   /* "MulBackward0"; "": none */
	uint64_t object;			   /* address of the Python object */
	/* the object that has the elements: a DTensor's local shard, a Series's array, else
	 * `object` */
	uint64_t local;
	uint64_t impl;	       /* address of torch's TensorImpl */
	uint64_t storage;      /* address of torch's StorageImpl; 0: none */
	int64_t storage_bytes; /* bytes of the storage; -1: unknown, and then storage_users is
				* unknown, too */
	int64_t storage_users;
	char placement[PYTENSOR_TEXT]; /* "Shard(0) of [1024, 64]"; "": not a DTensor */
	char shard[64];		       /* "1, 0", as in struct tensor; "": no shard, or unknown */
	const char *unread;	       /* why the elements cannot be read; NULL: they can be read */
};

/* Returns true if the object's class is one of these tensors or arrays. */
bool pytensor_is(struct pyreader *reader, uint64_t object);
/* Reads the description of object. Returns -1 and sets error if object is not a tensor or is
 * unreadable. */
int pytensor_read(struct pyreader *reader, uint64_t object, struct pytensor *tensor,
		  struct error *error);
/* Returns true if both are the same object with the same sizes over the same memory. */
bool pytensor_is_same(const struct pytensor *one, const struct pytensor *other);
/* Copies the description to *told, which tensor_init() has prepared; sets no statistics and no
 * hashes. */
void pytensor_tell(const struct pytensor *tensor, struct tensor *told);
/* Fills *layout, with the address of the elements. Returns -1 and sets error if the elements cannot
 * be read. */
int pytensor_layout(const struct pytensor *tensor, pid_t pid, struct tensor_layout *layout,
		    struct error *error);

/* Readers of one family each. Return -1 if the object is of another family or unreadable. */
int pytensor_read_torch(struct pyreader *reader, uint64_t object, struct pytensor *tensor);
int pytensor_read_numpy(struct pyreader *reader, uint64_t object, struct pytensor *tensor);
/* Returns false if the reference count shows that the object was freed. */
bool pytensor_is_alive(struct pyreader *reader, uint64_t object);
/* Returns true if the type is a class of jax arrays or of jax tracers. */
bool pytensor_is_jax(struct pyreader *reader, const struct pytype *type);
/* Reads the description of a jax array, whose elements can never be read. */
int pytensor_read_jax(struct pyreader *reader, uint64_t object, struct pytensor *tensor);
/* Finds the first member of a C object for which is() returns true. Returns 0, or -1 if there is
 * none. */
int pytensor_find_member(struct pyreader *reader, uint64_t object,
			 bool (*is)(struct pyreader *reader, uint64_t object), uint64_t *member);
/* Sets the element type from numpy's dtype object. Returns -1 if it is not a dtype object or is
 * unreadable. */
int pytensor_set_dtype(struct pyreader *reader, uint64_t descriptor, struct pytensor *tensor);
/*
 * Sets the array `object` as the mask of tensor. Returns NULL, or the reason why that is
 * impossible.
 */
const char *pytensor_set_mask(struct pyreader *reader, uint64_t object, struct pytensor *tensor);
int pytensor_read_bytes(struct pyreader *reader, uint64_t object, struct pytensor *tensor);
int pytensor_read_bytearray(struct pyreader *reader, uint64_t object, struct pytensor *tensor);
int pytensor_read_array(struct pyreader *reader, uint64_t object, struct pytensor *tensor);
int pytensor_read_memoryview(struct pyreader *reader, uint64_t object, struct pytensor *tensor);
/* Returns the name of the element type: "float32". */
const char *pytensor_dtype(const struct pytensor *tensor);
/* Return the name of the element type or the device, respectively, with this number in torch; NULL:
 * no such number. */
const char *pytensor_dtype_name(int number);
const char *pytensor_device_name(int number);
/*
 * Gets the gradient of a torch tensor: *has_gradient tells whether it has one, *gradient is the
 * address of the gradient's Python object; 0: no Python object yet. Returns -1 if it is unreadable.
 */
int pytensor_gradient(struct pyreader *reader, uint64_t object, bool *has_gradient,
		      uint64_t *gradient);

/*
 * Reads the gradient of the tensor `object` if the gradient has no Python object yet; sets
 * tensor->object to 0. Returns -1 if it is unreadable.
 */
int pytensor_read_unseen(struct pyreader *reader, uint64_t object, struct pytensor *tensor);
/* Reads the tensor `object`, or (is_gradient) its gradient. Returns -1 and sets error on
 * failure. */
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
