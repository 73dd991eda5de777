/*
 * offer: what is told of one socket that a process offers a debugger on, and
 * which of several is told of.
 */
#ifndef BACKENDS_PDB_OFFER_H
#define BACKENDS_PDB_OFFER_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct debugger;
struct listener;
struct procfs;
struct pdb_scan_state;

struct offer {
	const struct listener *listener; /* it holds it, and no other */
	bool has_twin;			 /* another process was bound to the same path */
	pid_t twin_pid;			 /* 0: not known which */
	size_t more;			 /* other sockets of this process */
};

/* More than 0: a is to be told of rather than b. */
int offer_compare(const struct pdb_scan_state *state, const struct listener *a,
		  const struct listener *b);
/* Into an initialised debugger; its state is none where nothing waits. */
void offer_describe(const struct offer *offer, struct pdb_scan_state *state, struct procfs *procfs,
		    struct debugger *debugger);
/*
 * Of the file of a socket that no rank listens on; is_served: another process
 * does. False: there is nothing to be told of it.
 */
bool offer_describe_file(const char *path, bool is_served, struct pdb_scan_state *state,
			 struct procfs *procfs, struct debugger *debugger);

#endif
