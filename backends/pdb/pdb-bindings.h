/*
 * pdb-bindings: the breakpoints of a debugger: those set by probetui (id above 0) and those typed
 * at its prompt (id 0). The functions read and change debugger.bindings.
 */
#ifndef BACKENDS_PDB_PDB_BINDINGS_H
#define BACKENDS_PDB_PDB_BINDINGS_H

#include <jansson.h>
#include <stddef.h>

struct debugger;

/*
 * Replaces all breakpoints of probetui by those in the answer to the question "breakpoints"; keeps
 * the breakpoints with id 0.
 */
void pdb_bindings_set(struct debugger *debugger, const json_t *answer);
/*
 * Replaces all breakpoints by those in the answer to the question "state", which also tells which
 * breakpoints have caused the stop.
 */
void pdb_bindings_refresh(struct debugger *debugger, const json_t *answer);
/* Counts a new stop as one hit of each breakpoint of probetui that has caused the stop. */
void pdb_bindings_count_stop(struct debugger *debugger);
/* Returns the number of breakpoints of probetui that are set. */
size_t pdb_bindings_count(const struct debugger *debugger);
/* Returns {"breakpoints": […]} with the breakpoints of probetui: the body of the answer to
 * `setBreakpoints`. */
json_t *pdb_bindings_to_json(const struct debugger *debugger);
/* Returns the same body for requested breakpoints that are not set yet; message: the reason. */
json_t *pdb_bindings_wanted(const json_t *breakpoints, const char *message);

#endif
