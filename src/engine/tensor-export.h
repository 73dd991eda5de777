/*
 * tensor-export: writes the elements of a tensor to a new .npy file, part by part: a screen stays
 * usable meanwhile, a shell waits. An incomplete file is removed.
 */
#ifndef ENGINE_TENSOR_EXPORT_H
#define ENGINE_TENSOR_EXPORT_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "protocol/tensor.h"

struct error;
struct tensor_export;

/* Creates the file and writes the .npy header. NULL and *error on failure. */
struct tensor_export *tensor_export_new(const char *path, const struct tensor *tensor,
					struct error *error);
/* Removes an incomplete file. export may be NULL. */
void tensor_export_free(struct tensor_export *export);
/*
 * Sets *start to the index of the first element to request next, and returns the number of
 * elements; 0: the file is complete.
 */
int64_t tensor_export_next(const struct tensor_export *export, int64_t *start);
/* Writes the elements of one answer. Returns 0; -1 and *error: the export has failed. */
int tensor_export_add(struct tensor_export *export, const json_t *body, struct error *error);
/* True if the tensor changed between two parts, so that the file mixes several states. */
bool tensor_export_is_torn(const struct tensor_export *export);
/* True if the rank ran during the export, so that the tensor may have changed. */
bool tensor_export_is_live(const struct tensor_export *export);
const char *tensor_export_path(const struct tensor_export *export);
/* Number of bytes of elements that were written. */
int64_t tensor_export_done(const struct tensor_export *export);

#endif
