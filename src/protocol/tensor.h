/*
 * tensor: a torch tensor or a numpy array (also bytes, memoryview and array.array): its type and
 * layout, and statistics, a histogram and hashes of its elements. Only the screen formats tensors
 * as text for people.
 *
 * Hashes are those of the elements in the order of their indices (the last index fastest) as
 * little-endian bytes, whatever the strides and the byte order: all backends compute the same hash,
 * and a contiguous copy of a transposed view has the same hash as the view.
 */
#ifndef PROTOCOL_TENSOR_H
#define PROTOCOL_TENSOR_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct error;

/*
 * tensor_number: an element of a tensor, or a number computed from several elements: a number of
 * any type, or the text of an element that is not a number.
 */

enum tensor_number_kind {
	TENSOR_NUMBER_UNKNOWN, /* could not be read, shown as "?" */
	TENSOR_NUMBER_REAL,
	TENSOR_NUMBER_INTEGER,
	TENSOR_NUMBER_UNSIGNED, /* an integer above INT64_MAX */
	TENSOR_NUMBER_BOOLEAN,
	TENSOR_NUMBER_COMPLEX,
	TENSOR_NUMBER_TEXT, /* text of a str, bytes or object */
};

/*
 * In JSON, in the order of the kinds: null; a number, "nan", "inf" or "-inf"; an integer;
 * "u:DIGITS"; true or false; [REAL, REAL]; {"text": …}.
 */
struct tensor_number {
	enum tensor_number_kind kind;
	double real;
	double imaginary;
	int64_t integer; /* also 0 or 1 of a boolean, and the bits of an unsigned number */
	char *text;
};

void tensor_number_clear(struct tensor_number *number);
json_t *tensor_number_to_json(const struct tensor_number *number);
int tensor_number_from_json(struct tensor_number *number, const json_t *json, struct error *error);
/* Converts a number to JSON, and back; NaN and infinities become "nan", "inf" and "-inf". */
json_t *tensor_real_to_json(double real);
int tensor_real_from_json(double *real, const json_t *json);

#define TENSOR_DIMENSIONS 64
#define TENSOR_BINS_MAXIMUM 256
#define TENSOR_BLOCKS_MAXIMUM 4096
/* Maximum number of elements along one dimension; a greater size is an error. */
#define TENSOR_SIZE_MAXIMUM (INT64_C(1) << 48)

/*
 * minimum, maximum, mean and deviation are those of the finite elements; they are unknown if there
 * are no finite elements, or for complex elements. deviation divides by the number of finite
 * elements (numpy's default).
 */
struct tensor_statistics {
	struct tensor_number minimum;
	struct tensor_number maximum;
	double mean;	  /* NaN: unknown */
	double deviation; /* NaN: unknown */
	double norm;	  /* root of the sum of squares of all elements */
	bool has_norm;
	int64_t count;	      /* elements that were read, without masked ones */
	int64_t masked_count; /* masked elements that were read */
	int64_t nan_count;
	int64_t infinity_count;
	int64_t zero_count;
};

/* A histogram of the finite elements, with `count` equal bins from low to high. */
struct tensor_histogram {
	double low;
	double high;
	int64_t *bins; /* number of elements in each bin; NULL: no histogram */
	size_t count;
};

struct tensor {
	char *type;  /* "torch.Tensor", "numpy.ndarray", "train.Masked" */
	char *dtype; /* "float32", ">int16" */
	int dimension_count;
	int64_t shape[TENSOR_DIMENSIONS];
	/* Strides as Python shows them: in elements for torch, in bytes for all others. */
	int64_t strides[TENSOR_DIMENSIONS];
	int64_t offset;	       /* torch: storage offset in elements; -1: unknown, or numpy */
	int64_t element_count; /* number of elements */
	int64_t item_size;     /* bytes of an element; 0: less than one byte */
	int64_t byte_count;    /* bytes of all elements */
	char *device;	       /* "cpu", "cuda:1"; NULL: none (numpy) */
	int requires_grad;     /* 1, 0; -1: unknown */
	char *grad_fn;	       /* "MulBackward0"; NULL: none */
	int64_t storage_bytes; /* bytes of the storage; -1: unknown */
	int64_t storage_users; /* number of tensors on the storage; -1: unknown */
	bool is_parameter;
	char *placement; /* of a shard: "Shard(0) of [1024, 64]"; NULL: not a shard */
	/*
	 * Position of the shard in the sharded dimensions of the device mesh, "1, 0"; ranks with
	 * the same position have replicas of one shard. NULL: not a shard, or unknown.
	 */
	char *shard;
	bool is_live; /* true: the process ran while the tensor was read, so that kernels may have
		       * written to it */
	bool is_torn; /* true: the tensor changed while it was read */
	char *unread; /* why the elements cannot be read; NULL: they can */
	/*
	 * numpy.ma: statistics leave out masked elements; in hashes masked elements are 0, and the
	 * mask follows the elements if any element is masked
	 */
	bool has_mask;
	bool has_statistics;
	struct tensor_statistics statistics;
	double share; /* share of the elements that statistics and histogram are of, 0 … 1 */
	struct tensor_histogram histogram;
	bool has_hash;
	uint32_t hash;	  /* crc32 of all elements */
	uint32_t *blocks; /* crc32 of each block of elements; NULL: not requested */
	size_t block_count;
	int64_t block_elements; /* elements of each block except the last */
};

/* Sets all members to unknown. */
void tensor_init(struct tensor *tensor);
void tensor_clear(struct tensor *tensor);
void tensor_copy(struct tensor *to, const struct tensor *from);
bool tensor_has_same_shape(const struct tensor *a, const struct tensor *b);
/*
 * True if the tensor is a part of a tensor that is spread over ranks: different values on different
 * ranks are then normal.
 */
bool tensor_is_shard(const struct tensor *tensor);
/* Number of elements that are known to be NaN, and infinite, respectively. */
int64_t tensor_nan_count(const struct tensor *tensor);
int64_t tensor_infinity_count(const struct tensor *tensor);
/* Returns the JSON, a new reference, documented in CLI.md and docs/protocol.md. */
json_t *tensor_to_json(const struct tensor *tensor);
/* Reads json into a tensor after tensor_init(). Returns 0; -1 and *error. */
int tensor_from_json(struct tensor *tensor, const json_t *json, struct error *error);

/*
 * tensor_slice: a rectangle of a tensor's elements, requested or received. Rows and columns run
 * along two dimensions; all other dimensions have a fixed index. A 1-D tensor has only columns
 * (row_dimension -1), a 0-D tensor has neither rows nor columns.
 */

/* Maximum number of elements in one slice. */
#define TENSOR_CELLS_MAXIMUM 65536

struct tensor_slice {
	int row_dimension; /* dimension of the rows; -1: none */
	int column_dimension;
	int64_t index[TENSOR_DIMENSIONS]; /* fixed index of each other dimension */
	int dimension_count;
	int64_t row; /* first row */
	int64_t row_count;
	int64_t column; /* first column */
	int64_t column_count;
	struct tensor_number *numbers; /* elements row by row; NULL: not received yet */
	size_t count;
};

void tensor_slice_clear(struct tensor_slice *slice);
json_t *tensor_slice_to_json(const struct tensor_slice *slice);
/*
 * Reads json and checks that the slice is consistent; the caller must check that it fits the
 * tensor. Returns 0; -1 and *error.
 */
int tensor_slice_from_json(struct tensor_slice *slice, const json_t *json, struct error *error);

#endif
