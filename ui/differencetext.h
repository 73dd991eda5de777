/*
 * differencetext: the difference between a class's tensor and the reference, as a sentence: shape
 * and dtype, or the elements that were read.
 */
#ifndef UI_DIFFERENCETEXT_H
#define UI_DIFFERENCETEXT_H

struct answer_class;
struct answer_classes;
struct answers;
struct buffer;
struct difference;

/*
 * Appends "rank 5 against the majority: 12 of 256 elements differ, first at [3, 8]"; without a
 * majority, names the ranks of the reference. Appends nothing for the class that is the reference,
 * and nothing for values that are no tensors.
 */
void differencetext_append(struct buffer *out, const struct answers *answers,
			   const struct answer_classes *classes, const struct answer_class *class);
/* Appends the progress ("both are read, 12 MB of 400 MB"), the result, or the error. */
void differencetext_append_found(struct buffer *out, const struct difference *difference);

#endif
