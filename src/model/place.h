/*
 * place: which frames are the user's own code, and short names of files.
 *
 * User code is Python code that is neither frozen, nor installed (in site-packages, dist-packages
 * or lib/pythonX), nor of a known framework's source tree; of the installed code that of the
 * package that the process runs is the user's, too.
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
/*
 * True for installed, built-in and compiled files, judged by the path alone: also for those of the
 * package that a process runs.
 */
bool place_is_library(const char *file);
/* True for a file of the package of probetui's agent, in any folder. */
bool place_is_agent(const char *file);
/*
 * True if frame `at` is an agent's frame that was called by another agent's frame: only the
 * outermost agent frame is shown.
 */
bool place_is_within_agent(const struct stack *stack, size_t at);
/*
 * True if a module made the code of this frame (a proxy of multiprocessing.managers, __init__ of a
 * dataclass): code without a file, called by a file of the user's.
 */
bool place_is_generated(const struct stack *stack, size_t at);
/* True for the frame of a library's decorator, which says nothing about where the program is. */
bool place_is_wrapper(const struct frame *frame);
/*
 * Index of the innermost frame of user code that has a file; if that is a console script's, of the
 * package that the script has called; else of the outermost frame of code without a file
 * (<string>); else of the innermost frame outside probetui's agent; else 0.
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
