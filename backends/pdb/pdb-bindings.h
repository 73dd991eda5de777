/*
 * pdb-bindings: the breakpoints of a debugger: those set by probetui (id above 0) and those typed
 * at its prompt (id 0). The functions work on debugger.bindings.
 */
#ifndef BACKENDS_PDB_PDB_BINDINGS_H
#define BACKENDS_PDB_PDB_BINDINGS_H

#include <jansson.h>
#include <stddef.h>

struct debugger;

/*
 * Takes the answer to the question "breakpoints": all breakpoints of probetui; breakpoints with id
 * 0 are kept.
 */
void pdb_bindings_set(struct debugger *debugger, const json_t *answer);
/*
 * Takes the answer to the question "state": all breakpoints of the debugger, and the ones that
 * caused the stop.
 */
void pdb_bindings_refresh(struct debugger *debugger, const json_t *answer);
/* Counts a new stop: one more hit for each breakpoint of probetui that caused it. */
void pdb_bindings_count_stop(struct debugger *debugger);
/* Number of breakpoints of probetui that are set. */
size_t pdb_bindings_count(const struct debugger *debugger);
/* Returns {"breakpoints": […]} of probetui, the answer to `setBreakpoints`. */
json_t *pdb_bindings_to_json(const struct debugger *debugger);
/* Returns the same for breakpoints that are not set yet; message is the reason. */
json_t *pdb_bindings_wanted(const json_t *breakpoints, const char *message);

#endif
