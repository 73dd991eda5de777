/*
 * scan-query: parses and checks a query about a tensor's elements.
 *
 * A sample is the same on all backends: SAMPLE_BLOCKS parts of SAMPLE_ELEMENTS elements each; part
 * i begins at element i * (numel - SAMPLE_ELEMENTS) / (SAMPLE_BLOCKS - 1), rounded down. A tensor
 * with no more elements than the sample would have is read whole.
 */
#ifndef BACKENDS_TENSOR_SCAN_QUERY_H
#define BACKENDS_TENSOR_SCAN_QUERY_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "protocol/tensor.h"
#include "protocol/tensoranswer.h"

struct error;
struct tensor_layout;

#define SCAN_QUERY_SAMPLE_BLOCKS 256
#define SCAN_QUERY_SAMPLE_ELEMENTS 4096
/* "auto" reads a tensor of up to this number of bytes whole, and a sample of a larger one. */
#define SCAN_QUERY_WHOLE_BYTES (INT64_C(32) << 20)
#define SCAN_QUERY_TIMEOUT 30.0 /* default of `timeout`, in seconds */
#define SCAN_QUERY_TIMEOUT_MAXIMUM 3600.0

enum scan_query_statistics {
	SCAN_QUERY_NO_STATISTICS,
	SCAN_QUERY_SAMPLE,
	SCAN_QUERY_WHOLE,
	SCAN_QUERY_AUTO,
};

enum scan_query_find {
	SCAN_QUERY_FIND_NOTHING,
	SCAN_QUERY_FIND_MINIMUM,
	SCAN_QUERY_FIND_MAXIMUM,
	SCAN_QUERY_FIND_NAN, /* NaN or an infinity */
};

struct tensor_query {
	enum scan_query_statistics statistics;
	int bins; /* 0: no histogram */
	bool has_hash;
	int block_count; /* number of blocks with their own hashes, at most; 0: none */
	bool has_slice;
	struct tensor_slice slice; /* without numbers, so nothing is owned */
	enum scan_query_find find;
	int64_t after; /* the search starts after this flat index; -1: at element 0 */
	bool has_data;
	int64_t data_start;
	int64_t data_count;
	double timeout; /* seconds */
};

/*
 * Returns the number of elements of each block but the last, when element_count elements are
 * divided into at most block_count (not 0) blocks: the smallest number that suffices.
 */
int64_t scan_query_block_elements(int64_t element_count, int block_count);
/* Initialises a query that requests nothing. */
void tensor_query_init(struct tensor_query *query);
/*
 * Parses arguments that request_check() has accepted: statistics, bins, hash, blocks, slice, find,
 * after, data, timeout. What has no argument is not computed. bins without statistics imply
 * statistics "auto". hash and blocks without statistics read the whole tensor; with statistics of a
 * sample they are left out. Returns 0, or -1 and sets error.
 */
int tensor_query_parse(struct tensor_query *query, const json_t *body, struct error *error);
/* Like tensor_query_parse(), for a query that is made on each of several tensors: parses only
 * statistics, hash and timeout. */
int tensor_query_parse_each(struct tensor_query *query, const json_t *body, struct error *error);
/* Whether the query reads any element. */
bool tensor_query_is_any(const struct tensor_query *query);
/* Whether the query, for its statistics and hashes, reads all elements of a tensor with this
 * layout. */
bool tensor_query_is_whole(const struct tensor_query *query, const struct tensor_layout *layout);
/*
 * Returns 0 if the query fits the layout (the slice lies within the shape, the data within the
 * elements and TENSOR_DATA_MAXIMUM), else -1 and sets error.
 */
int tensor_query_check(const struct tensor_query *query, const struct tensor_layout *layout,
		       struct error *error);

#endif
