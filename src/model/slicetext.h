/*
 * slicetext: a slice as Python writes it, "[0:8, 3, -1]", of a tensor whose
 * shape is known. Of its dimensions two run at most; what is not named runs
 * from end to end.
 */
#ifndef MODEL_SLICETEXT_H
#define MODEL_SLICETEXT_H

struct error;
struct tensor;
struct tensor_slice;

/* Into a new one, of any size; -1 and a sentence. */
int slicetext_parse(struct tensor_slice *slice, const char *text, const struct tensor *tensor,
		    struct error *error);

#endif
