/*
 * finder: the debuggers that processes offer on sockets, known from /proc and
 * the names of files alone. It never connects: a pdb that waits often takes
 * one client, and its program ends, or hangs, when that goes.
 *
 * What listens is joined to a process by its descriptors. A file that nobody
 * listens on, or that somebody else put there, is joined to a rank by the
 * number in its name, where the rank itself does not listen.
 */
#ifndef BACKENDS_PDB_FINDER_H
#define BACKENDS_PDB_FINDER_H

#include <sys/types.h>

struct error;
struct node;
struct target;

/*
 * Whose debugger it is: the process that listens there, also one that is no
 * rank; 0: it is not on this machine. -1 and a sentence: there is no such
 * socket, nobody listens there, or somebody else put it there.
 */
int finder_owner(struct node *node, const struct target *target, pid_t *owner,
		 struct error *error);
/*
 * To be asked right after connecting, before the first byte is sent: whether
 * the other end is that process (0: any), run by that user. -1 and a sentence.
 */
int finder_check_peer(int fd, uid_t expected_uid, pid_t expected_pid,
		      struct error *error);

#endif
