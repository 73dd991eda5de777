/*
 * tensor-export: the elements of the tensor that a screen looks at, part by
 * part into a new file of numpy, while the screen goes on. What was begun is
 * not left behind when it fails or is ended.
 */
#ifndef ENGINE_TENSOR_EXPORT_H
#define ENGINE_TENSOR_EXPORT_H

#include <jansson.h>
#include <stdint.h>

#include "protocol/tensor.h"

struct error;
struct tensor_export;

/* Makes the file, and writes what stands before the elements. NULL and a
 * sentence. */
struct tensor_export *tensor_export_new(const char *path,
					const struct tensor *tensor,
					struct error *error);
/* One that is not whole is removed. NULL is fine. */
void tensor_export_free(struct tensor_export *export);
/* The elements to ask for next; count 0: it is whole. */
int64_t tensor_export_next(const struct tensor_export *export, int64_t *start);
/* Writes what came of them. -1 and a sentence: it is no use any more. */
int tensor_export_add(struct tensor_export *export, json_t *owned_body,
		      struct error *error);
const char *tensor_export_path(const struct tensor_export *export);
/* Of the elements, in bytes. */
int64_t tensor_export_done(const struct tensor_export *export);

#endif
