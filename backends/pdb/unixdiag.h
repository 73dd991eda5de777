/*
 * unixdiag: which file a listening Unix socket is bound to, as the kernel
 * knows it (sock_diag(7), UNIX_DIAG_VFS). Two sockets may have been bound to
 * the same path, one after the other: the path leads to the later one only.
 */
#ifndef BACKENDS_PDB_UNIXDIAG_H
#define BACKENDS_PDB_UNIXDIAG_H

#include <stdint.h>

/*
 * 1: the socket with that inode, in our network, is bound to the file with
 * that inode; 0: it is not; -1: the kernel does not say.
 */
int unixdiag_is_bound(uint64_t socket_inode, uint64_t file);

#endif
