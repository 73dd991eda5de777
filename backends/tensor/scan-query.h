/*
 * scan-query: what is wanted of a tensor's elements.
 *
 * A sample is the same on all backends: SAMPLE_BLOCKS parts of SAMPLE_ELEMENTS
 * elements, of which part i begins at element
 * i * (numel - SAMPLE_ELEMENTS) / (SAMPLE_BLOCKS - 1), rounded down. A tensor
 * with no more elements than that is read whole.
 */
#ifndef BACKENDS_TENSOR_SCAN_QUERY_H
#define BACKENDS_TENSOR_SCAN_QUERY_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "protocol/tensoranswer.h"
#include "protocol/tensorslice.h"

struct error;
struct tensor_layout;

#define SCAN_QUERY_SAMPLE_BLOCKS 256
#define SCAN_QUERY_SAMPLE_ELEMENTS 4096
/* "auto" reads the whole up to so many bytes. */
#define SCAN_QUERY_WHOLE_BYTES (INT64_C(32) << 20)
#define SCAN_QUERY_TIMEOUT 30.0 /* seconds, where none is said */
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
	SCAN_QUERY_FIND_NAN, /* or an infinity */
};

struct tensor_query {
	enum scan_query_statistics statistics;
	int bins; /* 0: no histogram */
	bool has_hash;
	int block_count; /* at most so many; 0: none are hashed alone */
	bool has_slice;
	struct tensor_slice slice; /* without numbers: nothing is owned */
	enum scan_query_find find;
	int64_t after; /* the flat index behind which it is sought; -1: all */
	bool has_data;
	int64_t data_start;
	int64_t data_count;
	double timeout; /* seconds */
};

/*
 * Elements of each block but the last, where at most so many blocks (not 0)
 * are wanted: the least number that is enough.
 */
int64_t scan_query_block_elements(int64_t element_count, int block_count);
/* Nothing is wanted. */
void tensor_query_init(struct tensor_query *query);
/*
 * From arguments that request_check() took: statistics, bins, hash, blocks,
 * slice, find, after, data, timeout. What is not there is not wanted. A
 * histogram alone means statistics as well ("auto"). Hash and blocks alone read
 * the whole; beside statistics of a sample there are none.
 */
int tensor_query_parse(struct tensor_query *query, const json_t *body, struct error *error);
/* The same for each of several tensors: statistics, hash and timeout alone. */
int tensor_query_parse_each(struct tensor_query *query, const json_t *body, struct error *error);
/* Whether any element is to be read. */
bool tensor_query_is_any(const struct tensor_query *query);
/* Whether all elements are read for it, of that layout. */
bool tensor_query_is_whole(const struct tensor_query *query, const struct tensor_layout *layout);
/*
 * Whether it can be answered of that layout: the slice lies within its shape,
 * the data within its elements and TENSOR_DATA_MAXIMUM.
 */
int tensor_query_check(const struct tensor_query *query, const struct tensor_layout *layout,
		       struct error *error);

#endif
