/*
 * socket-notice: what a rank with our Python package left for the other ranks beside
 * its socket while it waits in pdb: "rank 1 raised RuntimeError: boom and
 * waits in pdb at /tmp/pdb-0/1.sock", in FOLDER/JOB.holding/RANK. Read without
 * touching the socket. By the locks on such files it is known, too, which
 * process has our package.
 */
#ifndef BACKENDS_PDB_SOCKET_NOTICE_H
#define BACKENDS_PDB_SOCKET_NOTICE_H

#include <stdbool.h>
#include <sys/types.h>

/* Files that a rank with our package keeps locked in FOLDER/JOB.KIND: */
#define SOCKET_NOTICE_LIFE ".ranks"    /* while it lives */
#define SOCKET_NOTICE_WAITS ".holding" /* while it waits in pdb */

/*
 * What was raised, free() it; NULL: nothing, or nothing is known. path is the
 * socket's as we reach it, name as the process calls it; only a file of the
 * user uid is believed.
 */
char *socket_notice_read(const char *path, const char *name, uid_t uid);
/*
 * Whether the process keeps its file of that kind in that folder, as we reach
 * it; the user's processes alone can, and their locks end with them.
 */
bool socket_notice_is_kept(const char *folder, const char *kind, int rank, pid_t pid, uid_t uid);

#endif
