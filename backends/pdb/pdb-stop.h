/*
 * pdb-stop: where a debugger has stopped its program, as it answered: the stack of
 * the thread at the prompt and what is known besides. Immutable; it owns its
 * strings, so it outlives the tables of stacks.
 */
#ifndef BACKENDS_PDB_PDB_STOP_H
#define BACKENDS_PDB_PDB_STOP_H

#include <jansson.h>
#include <stdbool.h>
#include <sys/types.h>

struct debugger;
struct error;
struct process_sample;
struct stack_table;
struct stop;

/* Of the process pid; NULL and a sentence where the answer is none. */
struct stop *stop_new(const json_t *answer, pid_t pid, struct error *error);
void stop_free(struct stop *stop);
/* The same place of the same thread, for all that can be seen. */
bool stop_is_same(const struct stop *stop, const struct stop *other);
/* The frame that the debugger looks at, 0 innermost. */
int stop_index(const struct stop *stop);
int stop_frame_count(const struct stop *stop);
/* The current line of a frame that the stack has. */
int stop_line(const struct stop *stop, int depth);
/* Debuggers that were begun within this one (`debug`). */
int stop_nesting(const struct stop *stop);
/* Lends; "" unknown. */
const char *stop_python(const struct stop *stop);
const char *stop_prompt(const struct stop *stop);
/* Fills in all that it knows but reason, stops, held and bindings. */
void stop_describe(const struct stop *stop, struct debugger *debugger);
/* Replaces the thread's stack, or adds the thread. */
void stop_amend(const struct stop *stop, struct stack_table *stacks, struct process_sample *sample);

#endif
