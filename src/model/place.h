/*
 * place: which frames are the user's own code, and short names of files.
 *
 * User code is below the job's working directory or its script's folder and is neither in
 * site-packages, dist-packages or lib/pythonX nor frozen.
 */
#ifndef MODEL_PLACE_H
#define MODEL_PLACE_H

#include <stdbool.h>
#include <stddef.h>

struct buffer;
struct frame;
struct process;
struct stack;

/* True if the frame is the user's own code. */
bool place_is_user(const struct process *process, const struct frame *frame);
/* True for installed and built-in files, judged by the path alone. */
bool place_is_library(const char *file);
/* True for a file of our agent's package, in any folder. */
bool place_is_agent(const char *file);
/*
 * True for an agent's frame that another agent's frame called: only the outermost agent
 * frame is shown.
 */
bool place_is_within_agent(const struct stack *stack, size_t at);
/* True for a library decorator's frame, which has no information about the place. */
bool place_is_wrapper(const struct frame *frame);
/*
 * Index of the innermost frame of user code; else of the innermost frame outside
 * libraries; else of the outermost typed code (<string>); else of the innermost frame
 * outside our agent; else 0.
 */
size_t place_user_frame(const struct process *process, const struct stack *stack);
/* Returns the frame of place_user_frame(), borrowed; NULL: only agent frames, or no stack. */
const struct frame *place_find(const struct process *process, const struct stack *stack);
/* True for a module's top-level code. */
bool place_is_module(const struct frame *frame);
/* The last component of a path (points into path). */
const char *place_file_name(const char *path);
/* Appends "train.py:17", escaped. */
void place_append(struct buffer *out, const struct frame *frame);

#endif
