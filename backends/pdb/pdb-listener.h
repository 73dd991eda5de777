/*
 * pdb-listener: the socket on which a process waits for a debugger's client,
 * chosen among several, and the state of struct debugger for that socket.
 */
#ifndef BACKENDS_PDB_LISTENER_H
#define BACKENDS_PDB_LISTENER_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct debugger;
struct listener;
struct procfs;
struct pdb_scan_state;

struct pdb_listener {
	const struct listener *listener; /* socket whose holder is this process */
	bool has_twin;			 /* another process has bound the same path */
	pid_t twin_pid;			 /* 0: unknown */
	size_t more;			 /* number of other sockets of this process */
};

/* Above 0: a is better to report than b; below 0: b is. */
int pdb_listener_compare(const struct pdb_scan_state *state, const struct listener *a,
			 const struct listener *b);
/* Fills an initialised debugger; DEBUGGER_NONE: no server waits. */
void pdb_listener_describe(const struct pdb_listener *found, struct pdb_scan_state *state,
			   struct procfs *procfs, struct debugger *debugger);
/*
 * Fills the debugger for a socket file on which no rank listens; is_served: another process does.
 * False: nothing to report.
 */
bool pdb_listener_describe_file(const char *path, bool is_served, struct pdb_scan_state *state,
				struct procfs *procfs, struct debugger *debugger);

#endif
