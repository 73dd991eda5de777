/*
 * pdb-bindings: what became of breakpoints in a debugger: of ours (id above 0),
 * and of those that somebody typed there (id 0). Works on debugger.bindings.
 */
#ifndef BACKENDS_PDB_PDB_BINDINGS_H
#define BACKENDS_PDB_PDB_BINDINGS_H

#include <jansson.h>
#include <stddef.h>

struct debugger;

/* The answer to the question "breakpoints": all that are ours now. */
void pdb_bindings_set(struct debugger *debugger, const json_t *answer);
/* The answer to the question "state": what the debugger has, and what hit. */
void pdb_bindings_refresh(struct debugger *debugger, const json_t *answer);
/* It has stopped anew: one more for each of ours that hit. */
void pdb_bindings_count_stop(struct debugger *debugger);
/* So many of ours are set. */
size_t pdb_bindings_count(const struct debugger *debugger);
/* {"breakpoints": […]}: ours, for the answer to `setBreakpoints`. */
json_t *pdb_bindings_to_json(const struct debugger *debugger);
/* The same, of breakpoints that were only asked for: message says why. */
json_t *pdb_bindings_wanted(const json_t *breakpoints, const char *message);

#endif
