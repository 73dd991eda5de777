/*
 * frame-locals: the variables of one frame, or of all frames of all threads of several ranks,
 * requested together and kept until they are printed.
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
 * Reads all pages of a frame's variables into *list, in a replay from the recording. Returns 0; -1
 * and *error.
 */
int frame_locals_read(struct engine *engine, const struct rank *rank, pid_t tid, int depth,
		      struct variable_list *list, struct error *error);

/*
 * Requests the first page of variables of each Python frame of ranks (empty: all) and their
 * children, and waits for the answers; values that look like secrets are masked unless has_secrets.
 */
struct frame_locals *frame_locals_new(struct engine *engine, const struct rankset *ranks,
				      bool has_secrets);
/* In this function and in those below, locals may be NULL: no locals. */
void frame_locals_free(struct frame_locals *locals);
/* Appends one line for each variable of one frame. */
void frame_locals_append(struct buffer *out, const struct frame_locals *locals,
			 const struct rank *rank, pid_t tid, int depth);
/*
 * Adds "variables" to each frame in rank, which is a rank's JSON from format_json_rank(); node is
 * that rank's node.
 */
void frame_locals_join(json_t *rank, const struct frame_locals *locals, size_t node);

#endif
