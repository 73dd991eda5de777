/*
 * tensor-layout: where the elements of a tensor lie in a process: plain values,
 * nothing is owned. Strides may be 0 (expanded) and negative.
 *
 * A mask (numpy.ma) is one byte for each element, of the same shape: where it
 * is not 0 the element does not count.
 */
#ifndef BACKENDS_CPYTHON_TENSOR_LAYOUT_H
#define BACKENDS_CPYTHON_TENSOR_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "protocol/tensor.h"

struct dtype;
struct error;

struct tensor_layout {
	pid_t pid;
	uint64_t address; /* of the element whose indices are all 0 */
	const struct dtype *dtype;
	bool is_swapped;   /* big-endian */
	int64_t item_size; /* bytes of one: that of dtype, if it has one */
	int dimension_count;
	int64_t shape[TENSOR_DIMENSIONS];
	int64_t strides[TENSOR_DIMENSIONS]; /* bytes */
	bool has_mask;
	uint64_t mask_address;
	int64_t mask_strides[TENSOR_DIMENSIONS]; /* bytes */
};

/* Bytes of an element that has a mask, at most. */
#define TENSOR_LAYOUT_MASKED_ITEM 4096

/*
 * 0: sizes and strides make sense, no sum or product of them overflows, and
 * all elements lie within addresses that a process can have. -1 and a sentence
 * otherwise. All others here want a layout that was checked.
 */
int tensor_layout_check(const struct tensor_layout *layout, struct error *error);
int64_t tensor_layout_element_count(const struct tensor_layout *layout);
/* Bytes of all values: elements times their size. */
int64_t tensor_layout_byte_count(const struct tensor_layout *layout);
/* Where its mask lies, as elements of bool. */
struct tensor_layout tensor_layout_mask(const struct tensor_layout *layout);
/* The address of the element of that flat index (in C order). */
uint64_t tensor_layout_address(const struct tensor_layout *layout, int64_t index);

#endif
