/*
 * npy: numpy's file format for one array (format 1.0, or 2.0 if the header is long): the
 * header and the elements. Element types that numpy lacks (bfloat16, floats of 8 bits)
 * become float32, which holds all their values.
 */
#ifndef MODEL_NPY_H
#define MODEL_NPY_H

#include <stddef.h>
#include <stdint.h>

struct buffer;
struct error;
struct tensor;

/* Appends the header. Returns 0; -1 and *error: the format lacks the tensor's element type. */
int npy_append_header(struct buffer *out, const struct tensor *tensor, struct error *error);
/* Appends the bytes of count elements, converted if npy_converted() says so. */
void npy_append_elements(struct buffer *out, const struct tensor *tensor, const uint8_t *bytes,
			 size_t count);
/* Returns "float32" if the elements are converted to float32; NULL: they are not converted. */
const char *npy_converted(const struct tensor *tensor);

#endif
