/*
 * tensor: what is told of a torch tensor or a numpy array (bytes, memoryview
 * and array.array as well): what it is, and of its elements statistics, a
 * histogram and hashes. The node never formats them.
 *
 * Values are what the elements are in the order of their indices, the last
 * one fastest, little-endian, whatever strides and byte order they lie with:
 * so a hash is the same on all backends and for a transposed copy.
 */
#ifndef PROTOCOL_TENSOR_H
#define PROTOCOL_TENSOR_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "protocol/tensornumber.h"

struct error;

#define TENSOR_DIMENSIONS 64
#define TENSOR_BINS_MAXIMUM 256
#define TENSOR_BLOCKS_MAXIMUM 4096
/* Elements along one dimension: more are not believed. */
#define TENSOR_SIZE_MAXIMUM (INT64_C(1) << 48)

/* min, max, mean and std are of the finite elements: unknown where there are
 * none, and of complex ones. std divides by their count (numpy's default). */
struct tensor_statistics {
	struct tensor_number minimum;
	struct tensor_number maximum;
	double mean;	  /* NaN: unknown */
	double deviation; /* NaN: unknown */
	double norm;	  /* of all: the root of the sum of squares */
	bool has_norm;
	int64_t count;	      /* elements that were looked at, without masked ones */
	int64_t masked_count; /* of those that were looked at besides */
	int64_t nan_count;
	int64_t infinity_count;
	int64_t zero_count;
};

/* How often a finite element lies in each of as many equal parts. */
struct tensor_histogram {
	double low;
	double high;
	int64_t *bins; /* NULL: there is none */
	size_t count;
};

struct tensor {
	char *type;  /* "torch.Tensor", "numpy.ndarray", "train.Masked" */
	char *dtype; /* "float32", ">int16" */
	int dimension_count;
	int64_t shape[TENSOR_DIMENSIONS];
	/* torch: elements, all others: bytes, as Python tells them. */
	int64_t strides[TENSOR_DIMENSIONS];
	int64_t offset;	       /* torch: of the first element, in elements;
				* -1: not known, of numpy */
	int64_t element_count; /* numel */
	int64_t item_size;     /* bytes of one; 0: it is less than one */
	int64_t byte_count;    /* of the elements: nbytes */
	char *device;	       /* "cpu", "cuda:1"; NULL: none (numpy) */
	int requires_grad;     /* 1, 0, -1: not known */
	char *grad_fn;	       /* "MulBackward0"; NULL: none */
	int64_t storage_bytes; /* -1: not known */
	int64_t storage_users; /* tensors over it; -1: not known */
	bool is_parameter;
	char *placement; /* of a shard: "Shard(0) of [1024, 64]"; else NULL */
	/* Which of the shards: its place along the dimensions of the mesh that
	 * are not replicated, "1, 0"; ranks with the same have replicas. NULL:
	 * no shard, or not known. */
	char *shard;
	bool is_live;  /* the process ran: kernels may have written meanwhile */
	bool is_torn;  /* it became another while it was read */
	char *unread;  /* why its elements cannot be read; NULL: they can */
	bool has_mask; /* of numpy.ma: masked elements count nowhere, and are
			* 0 in hashes, behind which the mask follows if there
			* are any */
	bool has_statistics;
	struct tensor_statistics statistics;
	double share; /* of the elements that statistics and histogram saw */
	struct tensor_histogram histogram;
	bool has_hash;
	uint32_t hash;	  /* crc32 of all values */
	uint32_t *blocks; /* crc32 of each part; NULL: none were asked for */
	size_t block_count;
	int64_t block_elements; /* of each but the last */
};

/* What is known of nothing: all unknown. */
void tensor_init(struct tensor *tensor);
void tensor_clear(struct tensor *tensor);
void tensor_copy(struct tensor *to, const struct tensor *from);
bool tensor_has_same_shape(const struct tensor *a, const struct tensor *b);
/* A part of a tensor that lies on several ranks: others differ by right. */
bool tensor_is_shard(const struct tensor *tensor);
/* How many of its elements are known to be NaN, or infinite. */
int64_t tensor_nan_count(const struct tensor *tensor);
int64_t tensor_infinity_count(const struct tensor *tensor);
/* As in CLI.md, and what stands in docs/protocol.md besides. */
json_t *tensor_to_json(const struct tensor *tensor);
/* Into one after tensor_init(). */
int tensor_from_json(struct tensor *tensor, const json_t *json, struct error *error);

#endif
