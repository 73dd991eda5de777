/*
 * npy: numpy's file of one array (format 1.0, or 2.0 where the header is
 * long): what stands before the elements, and the elements. Those that numpy
 * has no type for (bfloat16, floats of 8 bits) become float32, which holds all
 * their values.
 */
#ifndef MODEL_NPY_H
#define MODEL_NPY_H

#include <stddef.h>
#include <stdint.h>

struct buffer;
struct error;
struct tensor;

/* -1 and a sentence: its elements have no place in such a file. */
int npy_append_header(struct buffer *out, const struct tensor *tensor, struct error *error);
/* The values' bytes of so many elements, as they came. */
void npy_append_elements(struct buffer *out, const struct tensor *tensor, const uint8_t *bytes,
			 size_t count);
/* "float32" where that is not what they are in the tensor; else NULL. */
const char *npy_converted(const struct tensor *tensor);

#endif
