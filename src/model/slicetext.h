/*
 * slicetext: parses a slice in Python's notation, "[0:8, 3, -1]", of a tensor with a
 * known shape. At most two dimensions may be ranges; dimensions that are left out are
 * full ranges.
 */
#ifndef MODEL_SLICETEXT_H
#define MODEL_SLICETEXT_H

struct error;
struct tensor;
struct tensor_slice;

/* Parses into *slice (uninitialised); its ranges may have any size. -1 and *error. */
int slicetext_parse(struct tensor_slice *slice, const char *text, const struct tensor *tensor,
		    struct error *error);

#endif
