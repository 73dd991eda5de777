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
struct pdb_stop;

/* Of the process pid; NULL and a sentence where the answer is none. */
struct pdb_stop *pdb_stop_new(const json_t *answer, pid_t pid, struct error *error);
void pdb_stop_free(struct pdb_stop *stop);
/* The same place of the same thread, for all that can be seen. */
bool pdb_stop_is_same(const struct pdb_stop *stop, const struct pdb_stop *other);
/* The frame that the debugger looks at, 0 innermost. */
int pdb_stop_index(const struct pdb_stop *stop);
int pdb_stop_frame_count(const struct pdb_stop *stop);
/* The current line of a frame that the stack has. */
int pdb_stop_line(const struct pdb_stop *stop, int depth);
/* Debuggers that were begun within this one (`debug`). */
int pdb_stop_nesting(const struct pdb_stop *stop);
/* Lends; "" unknown. */
const char *pdb_stop_python(const struct pdb_stop *stop);
const char *pdb_stop_prompt(const struct pdb_stop *stop);
/* Fills in all that it knows but reason, stops, held and bindings. */
void pdb_stop_describe(const struct pdb_stop *stop, struct debugger *debugger);
/* Replaces the thread's stack, or adds the thread. */
void pdb_stop_amend(const struct pdb_stop *stop, struct stack_table *stacks,
		    struct process_sample *sample);

#endif
