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
	const struct listener *listener; /* held by this process alone */
	bool has_twin;			 /* another process was bound to the same path */
	pid_t twin_pid;			 /* 0: not known which */
	size_t more;			 /* other sockets of this process */
};

/* More than 0: a is the better one to report. */
int pdb_listener_compare(const struct pdb_scan_state *state, const struct listener *a,
			 const struct listener *b);
/* Fills an initialised debugger; DEBUGGER_NONE where no server waits. */
void pdb_listener_describe(const struct pdb_listener *found, struct pdb_scan_state *state,
			   struct procfs *procfs, struct debugger *debugger);
/*
 * The same for the file of a socket on which no rank listens; is_served: another
 * process does. False: nothing to report.
 */
bool pdb_listener_describe_file(const char *path, bool is_served, struct pdb_scan_state *state,
				struct procfs *procfs, struct debugger *debugger);

#endif
