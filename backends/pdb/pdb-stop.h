/*
 * pdb-stop: a stop, parsed from the debugger's answer: the stack of the stopped thread and the
 * details of the stop. A pdb_stop is immutable; it owns its strings, so it may outlive the tables
 * of stacks.
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

/* Makes the stop of process pid from the answer. Returns NULL and sets error if the answer is not
 * valid. */
struct pdb_stop *pdb_stop_new(const json_t *answer, pid_t pid, struct error *error);
void pdb_stop_free(struct pdb_stop *stop);
/* Returns true if both are the same location of the same thread, as far as the answers show. */
bool pdb_stop_is_same(const struct pdb_stop *stop, const struct pdb_stop *other);
/* Returns the depth of the debugger's selected frame; 0: the innermost frame. */
int pdb_stop_index(const struct pdb_stop *stop);
int pdb_stop_frame_count(const struct pdb_stop *stop);
/* Returns the current line of the frame at depth, which must exist. */
int pdb_stop_line(const struct pdb_stop *stop, int depth);
/* Returns the number of debuggers that run within this debugger (pdb's command `debug`). */
int pdb_stop_nesting(const struct pdb_stop *stop);
/* Returns the version of Python (borrowed); "": unknown. */
const char *pdb_stop_python(const struct pdb_stop *stop);
const char *pdb_stop_prompt(const struct pdb_stop *stop);
/* Sets the members of *debugger, except reason, stops, held and bindings. */
void pdb_stop_describe(const struct pdb_stop *stop, struct debugger *debugger);
/* Replaces the stack of the stopped thread in sample; if sample does not have the thread, adds
 * it. */
void pdb_stop_amend(const struct pdb_stop *stop, struct stack_table *stacks,
		    struct process_sample *sample);

#endif
