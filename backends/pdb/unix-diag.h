/*
 * unix-diag: what only the kernel knows of a Unix socket in our network
 * (sock_diag(7)), by its inode; -1: it does not say.
 */
#ifndef BACKENDS_PDB_UNIX_DIAG_H
#define BACKENDS_PDB_UNIX_DIAG_H

#include <stdint.h>

/*
 * 1: it is bound to the file with that inode, 0: it is not. Two sockets may
 * have been bound to one path, one after the other: it leads to the later one.
 */
int unix_diag_is_bound(uint64_t socket_inode, uint64_t file);
/* 1: who was at the other end has closed it, 0: it is open. */
int unix_diag_is_left(uint64_t socket_inode);

#endif
