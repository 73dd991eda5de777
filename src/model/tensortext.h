/*
 * tensortext: what is told of tensors as people read it: numbers, shapes, and
 * a line of statistics. Appends only; nothing of it can fail.
 */
#ifndef MODEL_TENSORTEXT_H
#define MODEL_TENSORTEXT_H

#include <stdint.h>

struct buffer;
struct tensor;
struct tensor_number;
struct tensor_statistics;

/* "-0.2925", "12", "nan", "1+2j", "True"; "?" where it is not known. */
/* Both, with as many digits as it takes to tell them apart. */
void tensortext_append_pair(struct buffer *one, struct buffer *other,
			    const struct tensor_number *numbers);
void tensortext_append_number(struct buffer *out, const struct tensor_number *number);
/* "0.2925"; NaN is "?", since a mean that is not known is one. */
void tensortext_append_real(struct buffer *out, double real);
/* "[8, 32]" */
void tensortext_append_sizes(struct buffer *out, const int64_t *sizes, int count);
/* "2 of 12 masked" */
void tensortext_append_masked(struct buffer *out, const struct tensor_statistics *of);
/* "float32 [8, 32]" */
void tensortext_append_head(struct buffer *out, const struct tensor *tensor);
/* "min -0.41  max 0.38  mean 0.001  std 0.18  norm nan  NaN 12  Inf 0
 * zeros 0  2 of 12 masked"; nothing where there are none. */
void tensortext_append_statistics(struct buffer *out, const struct tensor *tensor);

#endif
