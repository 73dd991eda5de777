/*
 * pdb-finder: the debuggers that processes offer on sockets, known from /proc and
 * the names of files alone. It never connects: a pdb that waits often takes
 * one client, and its program ends, or hangs, when that goes.
 *
 * What listens is joined to a process by its descriptors. A file that nobody
 * listens on, or that somebody else put there, is joined to a rank by the
 * number in its name, where the rank itself does not listen. A process whose
 * debugger is connected is left alone.
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
 * Looks for the debuggers of all that is in the process table, and tells of those
 * that changed (is_asked: of all there are) by `debugger` events.
 */
void pdb_finder_look(struct pdb_finder *finder, bool is_asked);
/*
 * A stack of the process was seen: where a server that listens on a port shows
 * in it for the first time, its debugger is looked for and told of.
 */
void pdb_finder_note(struct pdb_finder *finder, pid_t pid);
/*
 * What is known of the debugger of one process, into an initialised one.
 * Tells nobody.
 */
void pdb_finder_describe(struct node *node, const struct process *process,
			 struct debugger *debugger);

/* Whether the sockets of a process can be seen; false and errno: they cannot.
 */
bool pdb_finder_can_see(struct node *node, pid_t pid);

/*
 * Whose debugger it is: the process that listens there, also one that is no
 * rank; 0: it is not on this machine. -1 and a sentence: there is no such
 * socket, nobody listens there, or somebody else put it there.
 */
int pdb_finder_owner(struct node *node, const struct target *target, pid_t *owner,
		     struct error *error);
/*
 * To be asked right after connecting, before the first byte is sent: whether
 * the other end is that process (0: any), run by that user. -1 and a sentence.
 */
int pdb_finder_check_peer(int fd, uid_t expected_uid, pid_t expected_pid, struct error *error);

#endif
