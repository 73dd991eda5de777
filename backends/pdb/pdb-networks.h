/*
 * pdb-networks: what listens in the networks that processes are in, and which of
 * those processes holds which socket.
 *
 * Whose a socket is stays known, by its inode, as long as it listens and the
 * process lives: descriptors are read for a socket that is new, or that was
 * nobody's when a process came.
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
 * Reads what listens now where the states (pid -> struct pdb_scan_state) are, and finds
 * whose it is; has_new: a state was not there the last time.
 */
void networks_read(struct networks *networks, const struct map *states, bool has_new);
/*
 * Lends what listens in the network of a state, until the next reading; those
 * with a path have their holder, where it is one of the states.
 */
const struct listening_sockets *networks_find(const struct networks *networks,
					      const struct pdb_scan_state *state);

#endif
