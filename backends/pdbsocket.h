/*
 * pdbsocket: the Unix sockets on which a process offers pdb. Found by their
 * names in /proc/PID/net/unix and the process's descriptors; they are never
 * connected to, as that would let a waiting pdb go on.
 */
#ifndef BACKENDS_PDBSOCKET_H
#define BACKENDS_PDBSOCKET_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct procfs;

/*
 * The path of the first socket that the process listens on whose name has
 * "pdb" in it, cut to size. False: there is none (errno 0), or errno says why
 * nothing could be seen.
 */
bool pdbsocket_find(struct procfs *procfs, pid_t pid, char *out, size_t size);

#endif
