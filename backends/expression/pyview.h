/*
 * pyview: parts of tensors and arrays, made here as their library makes them:
 * other sizes, strides and a first element over the same memory. Nothing of
 * it is in the process.
 */
#ifndef BACKENDS_EXPRESSION_PYVIEW_H
#define BACKENDS_EXPRESSION_PYVIEW_H

struct buffer;
struct pyevaluation;
struct pysyntax;
struct pytensor;
struct pyvalue;

/*
 * tensor[index], of whole numbers, slices, "..." and None; -1 and a sentence.
 * One that has all indices is an element.
 */
int pyview_index(struct pyevaluation *evaluation, const struct pyvalue *tensor,
		 const struct pysyntax *index, struct pyvalue *value);
/*
 * T, mT, data and what is told of a tensor in numbers; 1: value is set, 0: not
 * one of these, -1 and a sentence.
 */
int pyview_attribute(struct pyevaluation *evaluation, const struct pyvalue *tensor,
		     const char *name, struct pyvalue *value);
/* Appends "tensor float32 [3, 4] cpu". */
void pyview_write(const struct pytensor *view, struct buffer *text);

#endif
