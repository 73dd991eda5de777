/*
 * place: where in the user's code something is. Says which frames are the
 * user's own and how files are called on a screen.
 *
 * User code lies below the job's working directory or its script's folder and
 * is neither in site-packages, dist-packages or lib/pythonX nor frozen.
 */
#ifndef MODEL_PLACE_H
#define MODEL_PLACE_H

#include <stdbool.h>
#include <stddef.h>

struct buffer;
struct frame;
struct process;
struct stack;

bool place_is_user(const struct process *process, const struct frame *frame);
/* Installed or built in, by its path alone. */
bool place_is_library(const char *file);
/* A file of our own agent's package, wherever that was put. */
bool place_is_agent(const char *file);
/*
 * A frame of our agent that another of its frames has called: what it does
 * there is nobody's concern, and the outermost stands for all.
 */
bool place_is_within_agent(const struct stack *stack, size_t at);
/* A decorator's frame of a library, which says nothing about where one is. */
bool place_is_wrapper(const struct frame *frame);
/*
 * Index of the innermost user frame; if none is, of the innermost frame that
 * is in no library; if none is either, that is not in our agent; else 0.
 */
size_t place_user_frame(const struct process *process, const struct stack *stack);
/* Lends that frame; NULL: there is none but our agent's, or no stack. */
const struct frame *place_find(const struct process *process, const struct stack *stack);
/* Of a module's own code, not of a function. */
bool place_is_module(const struct frame *frame);
/* The last part of a path (lent from inside it). */
const char *place_file_name(const char *path);
/* Appends "train.py:17", escaped. */
void place_append(struct buffer *out, const struct frame *frame);

#endif
