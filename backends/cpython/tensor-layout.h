/*
 * tensor-layout: the addresses and type of a tensor's elements in a process. The struct is a plain
 * value that owns no memory. Strides may be 0 (expanded) or negative.
 *
 * A mask (numpy.ma) has one byte for each element, in the same shape; an element whose byte is not
 * 0 is hidden.
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
	uint64_t address; /* address of the element whose indices are all 0 */
	const struct dtype *dtype;
	bool is_swapped;   /* true: big-endian */
	int64_t item_size; /* bytes of one element; dtype's size, unless that is 0 */
	int dimension_count;
	int64_t shape[TENSOR_DIMENSIONS];
	int64_t strides[TENSOR_DIMENSIONS]; /* bytes */
	bool has_mask;
	uint64_t mask_address;
	int64_t mask_strides[TENSOR_DIMENSIONS]; /* bytes */
};

/* Bytes of an element in a tensor with a mask, at most. */
#define TENSOR_LAYOUT_MASKED_ITEM 4096

/*
 * Returns 0 if sizes and strides are valid, no sum or product of them overflows, and all elements
 * lie within the addresses that a process can have; else returns -1 and sets error. The other
 * functions require a layout that has passed this check.
 */
int tensor_layout_check(const struct tensor_layout *layout, struct error *error);
/* Returns the product of the shape. */
int64_t tensor_layout_element_count(const struct tensor_layout *layout);
/* Returns the bytes of all elements, at most 2^56. */
int64_t tensor_layout_byte_count(const struct tensor_layout *layout);
/* Returns the layout of the mask, as a tensor of bool. */
struct tensor_layout tensor_layout_mask(const struct tensor_layout *layout);
/* Returns the address of the element with a flat index (in C order). */
uint64_t tensor_layout_address(const struct tensor_layout *layout, int64_t index);

#endif
