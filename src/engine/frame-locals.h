/*
 * frame-locals: the variables of one frame, or of all frames of all threads
 * of some ranks, asked for together and kept until they are printed.
 */
#ifndef ENGINE_FRAME_LOCALS_H
#define ENGINE_FRAME_LOCALS_H

#include <jansson.h>
#include <stdbool.h>
#include <sys/types.h>

struct buffer;
struct engine;
struct error;
struct frame_locals;
struct rank;
struct rankset;
struct variable_list;

/*
 * The variables of a frame, all pages of it, into *list. A replay gives what
 * it recorded. -1 and a sentence when they cannot be had.
 */
int frame_locals_read(struct engine *engine, const struct rank *rank, pid_t tid, int depth,
		      struct variable_list *list, struct error *error);

/*
 * The first page of each Python frame of ranks (empty: all) and children;
 * values of secrets are masked unless has_secrets.
 */
struct frame_locals *frame_locals_new(struct engine *engine, const struct rankset *ranks,
				      bool has_secrets);
/* NULL is fine here and below: no locals. */
void frame_locals_free(struct frame_locals *locals);
/* Appends the lines of one frame. */
void frame_locals_append(struct buffer *out, const struct frame_locals *locals,
			 const struct rank *rank, pid_t tid, int depth);
/*
 * Adds "variables" to the frames of the JSON of a rank of a node, as format.h
 * made it.
 */
void frame_locals_join(json_t *rank, const struct frame_locals *locals, size_t node);

#endif
