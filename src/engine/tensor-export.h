/*
 * tensor-export: the elements of a tensor, part by part into a new file of
 * numpy: a screen goes on meanwhile, a shell waits. What was begun is not left
 * behind when it fails or is ended.
 */
#ifndef ENGINE_TENSOR_EXPORT_H
#define ENGINE_TENSOR_EXPORT_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "protocol/tensor.h"

struct error;
struct tensor_export;

/* Makes the file, and writes what stands before the elements. NULL and a
 * sentence. */
struct tensor_export *tensor_export_new(const char *path, const struct tensor *tensor,
					struct error *error);
/* One that is not whole is removed. NULL is fine. */
void tensor_export_free(struct tensor_export *export);
/* The elements to ask for next; count 0: it is whole. */
int64_t tensor_export_next(const struct tensor_export *export, int64_t *start);
/* Writes the elements of one answer. -1 and a sentence: the export has failed. */
int tensor_export_add(struct tensor_export *export, const json_t *body, struct error *error);
/* It was written meanwhile: it has elements of several times. */
bool tensor_export_is_torn(const struct tensor_export *export);
/* Its rank ran meanwhile, so it may have been. */
bool tensor_export_is_live(const struct tensor_export *export);
const char *tensor_export_path(const struct tensor_export *export);
/* Of the elements, in bytes. */
int64_t tensor_export_done(const struct tensor_export *export);

#endif
