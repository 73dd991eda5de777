/*
 * unix-diag: facts on a Unix socket of our network namespace that only the kernel knows
 * (sock_diag(7)), by its inode; -1: unknown.
 */
#ifndef BACKENDS_PDB_UNIX_DIAG_H
#define BACKENDS_PDB_UNIX_DIAG_H

#include <stdint.h>

/*
 * 1: the socket is bound to the file with that inode; 0: not. If two sockets were bound to one
 * path, one after the other, the path leads to the later one.
 */
int unix_diag_is_bound(uint64_t socket_inode, uint64_t file);
/* 1: the peer has closed the connection; 0: open. */
int unix_diag_is_left(uint64_t socket_inode);

#endif
