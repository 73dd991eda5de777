/*
 * pdb-networks: the listening sockets in the network namespaces of processes, and the process that
 * has each socket open (its holder).
 *
 * A holder is kept by the socket's inode as long as the socket listens and the process lives.
 * Descriptors are read only for a new socket, or for a socket without a holder when a new process
 * has appeared.
 */
#ifndef BACKENDS_PDB_PDB_NETWORKS_H
#define BACKENDS_PDB_PDB_NETWORKS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct listening_sockets;
struct map;
struct networks;
struct procfs;
struct pdb_scan_state;

struct networks *networks_new(struct procfs *procfs);
void networks_free(struct networks *networks);
/*
 * Reads the sockets in the namespaces of the states (pid -> struct pdb_scan_state) and finds their
 * holders; has_new: a state is new since the last call.
 */
void networks_read(struct networks *networks, const struct map *states, bool has_new);
/*
 * Returns the sockets in the namespace of a state (borrowed until the next networks_read()); a Unix
 * socket has its holder if one of the states has it open.
 */
const struct listening_sockets *networks_find(const struct networks *networks,
					      const struct pdb_scan_state *state);

#endif
