/*
 * socket-notice: the notice of a rank with probetui's agent for the other ranks, while the rank
 * waits in pdb: "rank 1 raised RuntimeError: boom and waits in pdb at /tmp/pdb-0/1.sock", in
 * FOLDER/JOB.holding/RANK. The socket is not touched. Locks on such files also show which process
 * has the agent.
 */
#ifndef BACKENDS_PDB_SOCKET_NOTICE_H
#define BACKENDS_PDB_SOCKET_NOTICE_H

#include <stdbool.h>
#include <sys/types.h>

/* Files in FOLDER/JOB.KIND that a rank with the agent keeps locked: */
#define SOCKET_NOTICE_LIFE ".ranks"    /* while the rank lives */
#define SOCKET_NOTICE_WAITS ".holding" /* while the rank waits in pdb */

/*
 * Returns the exception of the notice (caller frees); NULL: none, or unknown. path: the socket for
 * the node; name: the socket for the process. Only files owned by uid are read.
 */
char *socket_notice_read(const char *path, const char *name, uid_t uid);
/*
 * True if the process has a lock on its file of this kind in folder (the node's path). Only
 * processes of the user can lock it, and a lock ends with its process.
 */
bool socket_notice_is_kept(const char *folder, const char *kind, int rank, pid_t pid, uid_t uid);

#endif
