/*
 * pyview: computes views of tensors and arrays as their library does: other sizes, strides and
 * first element over the same memory. No object is created in the process.
 */
#ifndef BACKENDS_EXPRESSION_PYVIEW_H
#define BACKENDS_EXPRESSION_PYVIEW_H

struct buffer;
struct pyevaluation;
struct pysyntax;
struct pytensor;
struct pyvalue;

/*
 * Evaluates tensor[index], where index has integers, slices, "..." and None. With an integer for
 * each dimension, the value is an element. Returns 0, or -1 with evaluation->error set.
 */
int pyview_index(struct pyevaluation *evaluation, const struct pyvalue *tensor,
		 const struct pysyntax *index, struct pyvalue *value);
/*
 * Evaluates the attributes T, mT, data, requires_grad, size, nbytes and itemsize. Returns 1 if
 * value is set, 0 if it is another name, -1 with evaluation->error set.
 */
int pyview_attribute(struct pyevaluation *evaluation, const struct pyvalue *tensor,
		     const char *name, struct pyvalue *value);
/* Appends "tensor float32 [3, 4] cpu". */
void pyview_write(const struct pytensor *view, struct buffer *text);

#endif
