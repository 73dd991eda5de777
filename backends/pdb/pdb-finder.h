/*
 * pdb-finder: the debuggers that processes offer on sockets, found only through /proc and names of
 * files. The finder never connects: a waiting pdb often takes one client, and its program ends or
 * hangs when that client disconnects.
 *
 * A listening socket belongs to the process that has it open. A socket file without a listener, or
 * of another user, is assigned to a rank by the number in its name, if the rank itself does not
 * listen. A process with a connected debugger is skipped.
 */
#ifndef BACKENDS_PDB_PDB_FINDER_H
#define BACKENDS_PDB_PDB_FINDER_H

#include <stdbool.h>
#include <sys/types.h>

struct debugger;
struct error;
struct pdb_finder;
struct node;
struct process;
struct target;

struct pdb_finder *pdb_finder_new(struct node *node);
void pdb_finder_free(struct pdb_finder *finder);
/*
 * Scans all processes of the process table, and sends `debugger` events for the debuggers that
 * changed (is_asked: for all).
 */
void pdb_finder_look(struct pdb_finder *finder, bool is_asked);
/*
 * A stack of the process was sampled: if a debug server with a port appears in it for the first
 * time, its debugger is searched and reported.
 */
void pdb_finder_note(struct pdb_finder *finder, pid_t pid);
/* Fills an initialised debugger with the state of one process's debugger; sends no event. */
void pdb_finder_describe(struct node *node, const struct process *process,
			 struct debugger *debugger);

/* True if the sockets of a process can be read; false and errno: they cannot. */
bool pdb_finder_can_see(struct node *node, pid_t pid);

/*
 * Finds the process that listens at target, rank or not; *owner 0: not on this machine. -1, *error:
 * no such socket, no listener, or another user's.
 */
int pdb_finder_owner(struct node *node, const struct target *target, pid_t *owner,
		     struct error *error);
/*
 * Checks, after connect() and before the first byte is sent, that the peer is expected_pid (0: any)
 * of expected_uid. -1, *error: another peer.
 */
int pdb_finder_check_peer(int fd, uid_t expected_uid, pid_t expected_pid, struct error *error);

#endif
