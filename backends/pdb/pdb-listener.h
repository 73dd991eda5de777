/*
 * pdb-listener: chooses the socket on which a process waits for a debugger's client, if it has
 * several, and fills struct debugger for that socket.
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
	const struct listener *listener; /* the chosen socket, whose holder is this process */
	bool has_twin;			 /* another process has bound the same path */
	pid_t twin_pid;			 /* pid of that other process; 0: unknown */
	size_t more;			 /* number of other sockets of this process */
};

/* Compares two sockets of a process. Returns more than 0 if a is better to report than b, less than
 * 0 if b is better. */
int pdb_listener_compare(const struct pdb_scan_state *state, const struct listener *a,
			 const struct listener *b);
/* Fills an initialised *debugger; its state is DEBUGGER_NONE if no server waits for a client. */
void pdb_listener_describe(const struct pdb_listener *found, struct pdb_scan_state *state,
			   struct procfs *procfs, struct debugger *debugger);
/*
 * Fills *debugger for a socket file on which no rank listens; is_served: another process listens on
 * it. Returns false if there is nothing to report.
 */
bool pdb_listener_describe_file(const char *path, bool is_served, struct pdb_scan_state *state,
				struct procfs *procfs, struct debugger *debugger);

/*
 * pdb_programs: the programs that serve a pdb on a socket, recognised by the source files of their
 * frames, and the effect on the process when a client disconnects. These facts come from the
 * programs' source code.
 */

struct pdb_programs {
	const char *file;    /* part of the path of the program's source file */
	const char *dialect; /* `dialect` of struct debugger (protocol/debugger.h) */
	bool takes_one;	     /* no client is accepted after the first one */
	bool has_port;	     /* the program may listen on TCP */
	bool is_relay;	     /* the program's sockets are named "pdb.sock.PID-HEX.RANK" */
	const char *leaving; /* sentence on the effect of disconnecting; NULL: none */
	const char *after;   /* sentence on an effect even if the program continues; NULL: none */
};

/* Returns the program whose file is in the stacks of a process; NULL: none is known. */
const struct pdb_programs *pdb_programs_of_files(const struct stack_files *files);
/*
 * Returns the program, recognised by the stacks, else by the name of its socket. files NULL: no
 * stack was sampled. path: the path of the socket, or a target that ends in the path; NULL:
 * unknown.
 */
const struct pdb_programs *pdb_programs_find(const struct stack_files *files, const char *path);
/* Returns the program of a dialect; NULL: none. */
const struct pdb_programs *pdb_programs_named(const char *dialect);
/* Returns a sentence on the effect of disconnecting from server (NULL: an unknown program); NULL:
 * no effect. */
const char *pdb_programs_leaving(const struct pdb_programs *server);

#endif
