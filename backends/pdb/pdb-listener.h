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
struct pdb_scan_state;
struct procfs;
struct stack_files;

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

/*
 * The programs that serve a pdb on a socket, recognised by the file of their frames,
 * and the effect on the process when a client disconnects. The facts come from the programs'
 * source; the programs are not asked.
 */

struct pdb_programs {
	const char *file;    /* part of the path of the program's file */
	const char *dialect; /* as in protocol/debugger.h */
	bool takes_one;	     /* true: no client is accepted after the first one */
	bool has_port;	     /* true: it may listen on TCP */
	bool is_relay;	     /* true: its sockets are named "pdb.sock.PID-HEX.RANK" */
	const char *leaving; /* sentence on the effect of disconnecting; NULL: none */
	const char *after;   /* sentence on an effect even if the program continues; NULL: none */
};

/* Returns the program whose file is in the stacks of a process; NULL: none is known. */
const struct pdb_programs *pdb_programs_of_files(const struct stack_files *files);
/*
 * Returns the program by the stacks, else by the name of its socket. files NULL: no stack was
 * sampled; path NULL: no path (a target that ends in the path is fine).
 */
const struct pdb_programs *pdb_programs_find(const struct stack_files *files, const char *path);
/* Returns the program of a dialect; NULL: none. */
const struct pdb_programs *pdb_programs_named(const char *dialect);
/* Returns the sentence on disconnecting from server (NULL: unknown program); NULL: no effect. */
const char *pdb_programs_leaving(const struct pdb_programs *server);

#endif
