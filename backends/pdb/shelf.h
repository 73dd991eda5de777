/*
 * shelf: the folders in which processes leave debuggers' sockets, each read
 * once a look however many processes share it, and only where it has changed.
 */
#ifndef BACKENDS_PDB_SHELF_H
#define BACKENDS_PDB_SHELF_H

#include <stddef.h>

struct pdb_scan_state;
struct shelves;

struct shelves *shelves_new(void);
void shelves_free(struct shelves *shelves);
/* A new look begins: folders are read again when they are asked for. */
void shelves_turn(struct shelves *shelves);
/*
 * Calls each(path as we reach it, as the process sees it) for the files that
 * name the rank or the process of the state: in /tmp, in its TMPDIR and ours,
 * and in their folders pdb-UID.
 */
void shelves_each(struct shelves *shelves, const struct pdb_scan_state *state,
		  void (*each)(const char *path, const char *seen, void *data), void *data);

#endif
