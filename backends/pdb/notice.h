/*
 * notice: what a rank with our Python package left for the other ranks beside
 * its socket while it waits in pdb: "rank 1 raised RuntimeError: boom and
 * waits in pdb at /tmp/pdb-0/1.sock", in FOLDER/JOB.holding/RANK. Read without
 * touching the socket.
 */
#ifndef BACKENDS_PDB_NOTICE_H
#define BACKENDS_PDB_NOTICE_H

#include <sys/types.h>

/*
 * What was raised, free() it; NULL: nothing, or nothing is known. path is the
 * socket's as we reach it, name as the process calls it; only a file of the
 * user uid is believed.
 */
char *notice_read(const char *path, const char *name, uid_t uid);

#endif
