/*
 * socket-dir-cache: the folders with sockets of debuggers. Each folder is read at most once in a
 * scan, however many processes share it, and only if it has changed.
 */
#ifndef BACKENDS_PDB_SOCKET_DIR_CACHE_H
#define BACKENDS_PDB_SOCKET_DIR_CACHE_H

#include <stddef.h>

struct pdb_scan_state;
struct socket_dir_cache;

struct socket_dir_cache *socket_dir_cache_new(void);
void socket_dir_cache_free(struct socket_dir_cache *cache);
/* Starts a new scan: each folder is checked again when it is next used. */
void socket_dir_cache_begin(struct socket_dir_cache *cache);
/*
 * Calls each(path of the node, path of the process, data) for the files whose names have the rank
 * or the pid: in /tmp, in TMPDIR of the process and of the node, and in their folders pdb-UID.
 */
void socket_dir_cache_each(struct socket_dir_cache *cache, const struct pdb_scan_state *state,
			   void (*each)(const char *path, const char *seen, void *data),
			   void *data);

#endif
