/*
 * scan-query: the query that a request makes on a tensor's elements.
 *
 * A sample is the same on all backends: SAMPLE_BLOCKS parts of SAMPLE_ELEMENTS elements, of which
 * part i begins at element i * (numel - SAMPLE_ELEMENTS) / (SAMPLE_BLOCKS - 1), rounded down. A
 * tensor with no more elements than that is read whole.
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
/* "auto" reads the whole tensor up to this number of bytes, else a sample. */
#define SCAN_QUERY_WHOLE_BYTES (INT64_C(32) << 20)
#define SCAN_QUERY_TIMEOUT 30.0 /* default, in seconds */
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
	int block_count; /* most blocks that have their own hashes; 0: none */
	bool has_slice;
	struct tensor_slice slice; /* without numbers, so nothing is owned */
	enum scan_query_find find;
	int64_t after; /* flat index behind which the search starts; -1: element 0 */
	bool has_data;
	int64_t data_start;
	int64_t data_count;
	double timeout; /* seconds */
};

/*
 * Elements of each block but the last, if the elements are divided into at most block_count blocks
 * (not 0): the smallest number that suffices.
 */
int64_t scan_query_block_elements(int64_t element_count, int block_count);
/* Initialises a query that asks for nothing. */
void tensor_query_init(struct tensor_query *query);
/*
 * Parses arguments that request_check() accepted: statistics, bins, hash, blocks, slice, find,
 * after, data, timeout. A missing argument is not wanted. bins without statistics imply statistics
 * "auto". hash and blocks without statistics read the whole tensor; with statistics of a sample
 * they are left out. Returns 0, or -1 with *error set.
 */
int tensor_query_parse(struct tensor_query *query, const json_t *body, struct error *error);
/* Like tensor_query_parse(), for each of several tensors: only statistics, hash and timeout. */
int tensor_query_parse_each(struct tensor_query *query, const json_t *body, struct error *error);
/* Whether the query reads any element. */
bool tensor_query_is_any(const struct tensor_query *query);
/* Whether the query reads all elements of that layout for its statistics and hashes. */
bool tensor_query_is_whole(const struct tensor_query *query, const struct tensor_layout *layout);
/*
 * Whether the query fits the layout: the slice lies within the shape, the data within the elements
 * and TENSOR_DATA_MAXIMUM. Returns 0, or -1 with *error set.
 */
int tensor_query_check(const struct tensor_query *query, const struct tensor_layout *layout,
		       struct error *error);

#endif
