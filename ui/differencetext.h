/*
 * differencetext: how the tensors of some ranks differ from what most have,
 * in a sentence: of shape and dtype, or of elements as far as they were read.
 */
#ifndef UI_DIFFERENCETEXT_H
#define UI_DIFFERENCETEXT_H

struct answer_class;
struct answer_classes;
struct answers;
struct buffer;
struct difference;

/*
 * Appends "rank 5 against the majority: 12 of 256 elements differ, first at [3, 8]"; where there
 * is no majority, against others. Appends nothing for the class that is the reference, and nothing
 * for values that are no tensors.
 */
void differencetext_append(struct buffer *out, const struct answers *answers,
			   const struct answer_classes *classes, const struct answer_class *class);
/* Appends how far it is ("read 12 MB of 400 MB"), what was found, or why that
 * cannot be told. */
void differencetext_append_found(struct buffer *out, const struct difference *difference);

#endif
