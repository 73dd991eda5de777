/*
 * tensortext: texts about tensors: numbers, shapes, and a line of statistics. All
 * functions append, and none can fail.
 */
#ifndef MODEL_TENSORTEXT_H
#define MODEL_TENSORTEXT_H

#include <stdint.h>

struct buffer;
struct tensor;
struct tensor_number;
struct tensor_statistics;

/* Appends both numbers, with as many digits as needed to show a difference. */
void tensortext_append_pair(struct buffer *one, struct buffer *other,
			    const struct tensor_number *numbers);
/* Appends "-0.2925", "12", "nan", "1+2j", "True"; "?": unknown. */
void tensortext_append_number(struct buffer *out, const struct tensor_number *number);
/* Appends "0.2925"; "?" for NaN, which stands for an unknown mean. */
void tensortext_append_real(struct buffer *out, double real);
/* Appends "[8, 32]". */
void tensortext_append_sizes(struct buffer *out, const int64_t *sizes, int count);
/* Appends "2 of 12 masked". */
void tensortext_append_masked(struct buffer *out, const struct tensor_statistics *of);
/* Appends "float32 [8, 32]". */
void tensortext_append_head(struct buffer *out, const struct tensor *tensor);
/* Appends "min -0.41 max 0.38 mean 0.001 std 0.18 norm nan NaN 12 Inf 0 zeros 0 2 of 12 masked";
 * nothing without statistics. */
void tensortext_append_statistics(struct buffer *out, const struct tensor *tensor);

#endif
