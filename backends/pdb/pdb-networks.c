#include "backends/pdb/pdb-networks.h"

#include <stdlib.h>
#include <unistd.h>

#include "banned.h"
#include "backends/linux/procfs.h"
#include "backends/pdb/listening-sockets.h"
#include "backends/pdb/pdb-programs.h"
#include "backends/pdb/pdb-scan-state.h"
#include "backends/pdb/socket-file.h"
#include "base/alloc.h"
#include "base/map.h"

struct pdb_networks {
	struct listening_sockets listeners;
	bool has_ports;	  /* true: TCP sockets are read, too */
	bool has_unknown; /* true: the holder of a socket is unknown */
};

struct holder {
	pid_t pid; /* 0: no scanned process */
	uint64_t start_time;
};

struct networks {
	struct procfs *procfs;
	struct map *networks; /* network of a pdb_scan_state -> struct pdb_networks */
	struct map *holders;  /* inode of a socket -> struct holder */
	/* Only during networks_read(): */
	const struct map *states;
	struct map *known; /* holders of the previous scan */
	bool has_new;
	bool has_unread; /* true: the descriptors of a process could not be read */
	bool had_unread; /* has_unread of the previous scan */
};

static void free_network(void *value)
{
	struct pdb_networks *network = value;

	listening_sockets_clear(&network->listeners);
	free(network);
}

struct networks *networks_new(struct procfs *procfs)
{
	struct networks *networks = xcalloc(1, sizeof(*networks));

	networks->procfs = procfs;
	networks->networks = map_new(free_network);
	networks->holders = map_new(free);
	return networks;
}

void networks_free(struct networks *networks)
{
	if (!networks)
		return;
	map_free(networks->networks);
	map_free(networks->holders);
	free(networks);
}

/* Reads our own namespace through our own pid: another process may exit at any time. */
static pid_t pdb_networks_choose_pid(const struct pdb_scan_state *state)
{
	return state->network == 0 ? getpid() : state->pid;
}

/* Reads a namespace once; if it cannot be read, it has no listeners. */
static void pdb_networks_read_network(uint64_t pid, void *value, void *data)
{
	struct networks *networks = data;
	const struct pdb_scan_state *state = value;
	struct pdb_networks *network = map_find(networks->networks, state->network);

	(void)pid;
	if (!network) {
		network = xcalloc(1, sizeof(*network));
		map_put(networks->networks, state->network, network);
		listening_sockets_add_unix(&network->listeners, networks->procfs,
					   pdb_networks_choose_pid(state), socket_file_is_debugger);
	}
	if (state->server && state->server->has_port && !network->has_ports) {
		network->has_ports = true;
		listening_sockets_add_tcp(&network->listeners, networks->procfs,
					  pdb_networks_choose_pid(state));
	}
}

/* True if the known holder is still valid; false: search the descriptors. */
static bool keep_holder(const struct networks *networks, const struct holder *known)
{
	const struct pdb_scan_state *state;

	if (!known)
		return false;
	if (known->pid == 0)
		return !networks->has_new && !networks->had_unread;
	state = map_find(networks->states, (uint64_t)known->pid);
	return state && state->start_time == known->start_time;
}

/*
 * Takes over known holders, of Unix sockets only: there are many TCP ports, and few processes are
 * asked for their ports.
 */
static void recall_holders(uint64_t id, void *value, void *data)
{
	struct networks *networks = data;
	struct pdb_networks *network = value;

	(void)id;
	for (size_t i = 0; i < network->listeners.count; i++) {
		const struct listener *listener = &network->listeners.items[i];
		struct holder *known = map_find(networks->known, listener->inode);
		struct holder *holder;

		if (!listener->path)
			continue;
		holder = xcalloc(1, sizeof(*holder));
		map_put(networks->holders, listener->inode, holder);
		if (keep_holder(networks, known))
			*holder = *known;
		else
			network->has_unknown = true;
	}
}

/* Keeps the oldest process that has the socket open: the others have inherited it. */
static void find_held(uint64_t pid, void *value, void *data)
{
	struct networks *networks = data;
	const struct pdb_scan_state *state = value;
	const struct pdb_networks *network = map_find(networks->networks, state->network);
	struct map *held;

	if (!network->has_unknown)
		return;
	held = listening_sockets_held(networks->procfs, (pid_t)pid);
	if (!held && networks->procfs->unread)
		networks->has_unread = true;
	for (size_t i = 0; held && i < network->listeners.count; i++) {
		uint64_t inode = network->listeners.items[i].inode;
		struct holder *holder = map_find(networks->holders, inode);

		if (!holder || !map_find(held, inode) ||
		    (holder->pid && holder->start_time <= state->start_time))
			continue;
		holder->pid = (pid_t)pid;
		holder->start_time = state->start_time;
	}
	map_free(held);
}

static void note_holders(uint64_t id, void *value, void *data)
{
	const struct networks *networks = data;
	struct pdb_networks *network = value;

	(void)id;
	for (size_t i = 0; i < network->listeners.count; i++) {
		struct listener *listener = &network->listeners.items[i];
		const struct holder *holder = map_find(networks->holders, listener->inode);

		listener->holder = holder ? holder->pid : 0;
	}
}

void networks_read(struct networks *networks, const struct map *states, bool has_new)
{
	networks->states = states;
	networks->has_new = has_new;
	networks->had_unread = networks->has_unread;
	networks->has_unread = false;
	networks->known = networks->holders;
	networks->holders = map_new(free);
	map_free(networks->networks);
	networks->networks = map_new(free_network);
	map_each(states, pdb_networks_read_network, networks);
	map_each(networks->networks, recall_holders, networks);
	map_each(states, find_held, networks);
	map_each(networks->networks, note_holders, networks);
	map_free(networks->known);
	networks->known = NULL;
	networks->states = NULL;
}

const struct listening_sockets *networks_find(const struct networks *networks,
					      const struct pdb_scan_state *state)
{
	const struct pdb_networks *network = map_find(networks->networks, state->network);

	return network ? &network->listeners : NULL;
}
