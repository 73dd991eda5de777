/*
 * pdb-finder: the files that a scan reads.
 *
 * A scan reads the listening sockets of each network namespace once; most scans need nothing more.
 * Only for a new socket are the descriptors of the namespace's processes read, to find the owner of
 * the socket. The owner is kept by the socket's inode as long as socket and process exist. A
 * process that owns a socket is examined in the same scan, all others in their second scan: a user
 * who scans once pays for one file and a few folders.
 */
#include "backends/pdb/pdb-finder.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "backends/connections.h"
#include "backends/linux/pid-list.h"
#include "backends/linux/procfs.h"
#include "backends/node.h"
#include "backends/pdb/listening-sockets.h"
#include "backends/pdb/pdb-listener.h"
#include "backends/pdb/socket-file.h"
#include "backends/process-table.h"
#include "backends/sampler.h"
#include "banned.h"
#include "base/alloc.h"
#include "base/map.h"
#include "protocol/debugger.h"
#include "protocol/process.h"
#include "protocol/sample.h"

struct pdb_finder {
	struct node *node;
	struct map *states; /* pid -> struct pdb_scan_state */
	struct networks *networks;
	struct socket_dir_cache *cache;
	bool has_new_process; /* this scan has found a new process */
	bool is_asked;	      /* all debuggers are reported, not only those that have changed */
};

static void free_state(void *value)
{
	pdb_scan_state_clear(value);
	free(value);
}

struct pdb_finder *pdb_finder_new(struct node *node)
{
	struct pdb_finder *finder = xcalloc(1, sizeof(*finder));

	finder->node = node;
	finder->states = map_new(free_state);
	finder->networks = networks_new(node_procfs(node));
	finder->cache = socket_dir_cache_new();
	return finder;
}

void pdb_finder_free(struct pdb_finder *finder)
{
	if (!finder)
		return;
	socket_dir_cache_free(finder->cache);
	networks_free(finder->networks);
	map_free(finder->states);
	free(finder);
}

static struct pdb_scan_state *pdb_finder_take_state(struct pdb_finder *finder,
						    const struct process *process)
{
	uint64_t key = (uint64_t)process->pid;
	struct pdb_scan_state *state = map_find(finder->states, key);

	if (!state || state->start_time != process->start_time) {
		state = xcalloc(1, sizeof(*state));
		pdb_scan_state_init(state, process);
		map_put(finder->states, key, state);
		finder->has_new_process = true;
	}
	pdb_scan_state_update(state, process,
			      process_table_files(node_process_table(finder->node), process->pid));
	return state;
}

/* Updates the state of each process. Stand-ins for processes on other machines have no state. */
static void pdb_finder_take_states(struct pdb_finder *finder)
{
	struct process_table *process_table = node_process_table(finder->node);
	struct pid_list list = { .pids = NULL };

	process_table_list(process_table, &list);
	for (size_t i = 0; i < list.count; i++) {
		struct pdb_scan_state *state;

		if (list.pids[i] >= PROCESS_FIRST_STANDIN)
			continue;
		state = pdb_finder_take_state(finder,
					      process_table_find(process_table, list.pids[i]));
		if (++state->looks > 1)
			pdb_scan_state_learn(state, node_procfs(finder->node));
	}
	pid_list_clear(&list);
}

static void pdb_finder_add_pid(uint64_t key, void *value, void *data)
{
	(void)value;
	pid_list_add(data, (pid_t)key);
}

static void drop_states(struct pdb_finder *finder)
{
	struct pid_list list = { .pids = NULL };

	map_each(finder->states, pdb_finder_add_pid, &list);
	for (size_t i = 0; i < list.count; i++)
		if (!process_table_find(node_process_table(finder->node), list.pids[i]))
			map_remove(finder->states, (uint64_t)list.pids[i]);
	pid_list_clear(&list);
}

/*
 * Sets has_twin if another process has bound a socket to the same path: the path leads to the
 * socket that was bound last.
 */
static void find_twin(struct pdb_listener *found, const struct listening_sockets *listeners,
		      pid_t pid)
{
	for (size_t i = 0; i < listeners->count; i++) {
		const struct listener *other = &listeners->items[i];

		if (other->path && other->holder != pid &&
		    strcmp(other->path, found->listener->path) == 0) {
			found->has_twin = true;
			found->twin_pid = other->holder;
		}
	}
}

/* Finds the best of the process's Unix sockets. Returns false if there is none. */
static bool pdb_finder_find_path(const struct pdb_scan_state *state,
				 const struct listening_sockets *listeners,
				 struct pdb_listener *found)
{
	*found = (struct pdb_listener){ .listener = NULL };
	for (size_t i = 0; i < listeners->count; i++) {
		const struct listener *listener = &listeners->items[i];

		if (!listener->path || listener->holder != state->pid)
			continue;
		found->more += found->listener != NULL;
		if (!found->listener || pdb_listener_compare(state, listener, found->listener) > 0)
			found->listener = listener;
	}
	if (found->listener)
		find_twin(found, listeners, state->pid);
	return found->listener;
}

/*
 * Finds the newest TCP socket at which the main thread waits in accept(2), or any thread if
 * is_thorough: PyTorch's TCPStore also has a thread that waits for the ranks.
 */
static void find_newest(struct procfs *procfs, const struct pdb_scan_state *state,
			const struct listening_sockets *listeners, struct map *held,
			bool is_thorough, struct pdb_listener *found)
{
	for (size_t i = 0; i < listeners->count; i++) {
		const struct listener *listener = &listeners->items[i];

		if (!listener->path && map_find(held, listener->inode) &&
		    (!found->listener || listener->inode > found->listener->inode) &&
		    listening_sockets_is_accepting(procfs, state->pid, listener->inode,
						   is_thorough))
			found->listener = listener;
	}
}

/* Finds a TCP socket at which a thread of the process waits. Returns false if there is none. */
static bool find_port(const struct pdb_finder *finder, const struct pdb_scan_state *state,
		      const struct listening_sockets *listeners, struct pdb_listener *found)
{
	struct procfs *procfs = node_procfs(finder->node);
	struct map *held;

	*found = (struct pdb_listener){ .listener = NULL };
	if (!state->server || !state->server->has_port)
		return false;
	held = listening_sockets_held(procfs, state->pid);
	if (held)
		find_newest(procfs, state, listeners, held, false, found);
	if (held && !found->listener)
		find_newest(procfs, state, listeners, held, true, found);
	map_free(held);
	return found->listener;
}

struct file_search {
	const struct pdb_finder *finder;
	struct pdb_scan_state *state;
	const struct listening_sockets *listeners;
	struct debugger *debugger;
};

/* A socket file of another user takes precedence over a stale one. */
static void look_at_file(const char *path, const char *seen, void *data)
{
	const struct file_search *search = data;
	bool is_served = false;
	struct debugger found;

	for (size_t i = 0; i < search->listeners->count; i++) {
		const struct listener *listener = &search->listeners->items[i];

		if (!listener->path || strcmp(listener->path, seen) != 0)
			continue;
		if (listener->holder)
			return;
		is_served = true;
	}
	debugger_init(&found);
	if (pdb_listener_describe_file(path, is_served, search->state,
				       node_procfs(search->finder->node), &found) &&
	    (search->debugger->state == DEBUGGER_NONE ||
	     (search->debugger->state == DEBUGGER_STALE && found.state == DEBUGGER_REFUSED))) {
		debugger_clear(search->debugger);
		*search->debugger = found;
	} else {
		debugger_clear(&found);
	}
}

/* Fills an initialised debugger: by the process's own sockets, else by socket files. */
static void describe(struct pdb_finder *finder, struct pdb_scan_state *state,
		     struct debugger *debugger)
{
	const struct listening_sockets *listeners = networks_find(finder->networks, state);
	struct file_search search = {
		.finder = finder,
		.state = state,
		.listeners = listeners,
		.debugger = debugger,
	};
	struct pdb_listener found;

	if (pdb_finder_find_path(state, listeners, &found) ||
	    find_port(finder, state, listeners, &found)) {
		/*
		 * The socket's name is a path as the process sees it. To find the file, the mount
		 * namespace of the process must be known.
		 */
		pdb_scan_state_learn(state, node_procfs(finder->node));
		pdb_listener_describe(&found, state, node_procfs(finder->node), debugger);
		state->reported = found.listener->inode;
		return;
	}
	socket_dir_cache_each(finder->cache, state, look_at_file, &search);
}

/* Sends the debugger's state if it has changed since the last event. */
static void pdb_finder_tell(struct pdb_finder *finder, struct pdb_scan_state *state,
			    const struct debugger *debugger)
{
	bool is_none = debugger->state == DEBUGGER_NONE;
	json_t *json = debugger_to_json(debugger);
	char *text = json_dumps(json, JSON_COMPACT | JSON_SORT_KEYS);
	bool is_new = state->told ? strcmp(state->told, text) != 0 : !is_none;

	json_decref(json);
	if (is_new || (finder->is_asked && !is_none))
		node_emit_debugger(finder->node, state->pid, debugger);
	state->is_waiting = debugger->state == DEBUGGER_WAITING;
	free(state->told);
	state->told = is_none ? NULL : xstrdup(text);
	free(text);
}

static void pdb_finder_look_at(uint64_t pid, void *value, void *data)
{
	struct pdb_finder *finder = data;
	struct pdb_scan_state *state = value;
	const struct debugger *ours =
		connections_debugger(node_connections(finder->node), (pid_t)pid);
	bool is_lost = ours && ours->state != DEBUGGER_NONE;
	struct debugger debugger;

	if (ours && debugger_is_ours(ours)) {
		state->taken = state->reported;
		free(state->told);
		state->told = NULL;
		state->is_waiting = false;
		return;
	}
	debugger_init(&debugger);
	describe(finder, state, &debugger);
	/* The end of a connection is reported by its session. */
	if (!is_lost || debugger.state == DEBUGGER_WAITING)
		pdb_finder_tell(finder, state, &debugger);
	debugger_clear(&debugger);
}

void pdb_finder_look(struct pdb_finder *finder, bool is_asked)
{
	finder->is_asked = is_asked;
	finder->has_new_process = false;
	drop_states(finder);
	pdb_finder_take_states(finder);
	networks_read(finder->networks, finder->states, finder->has_new_process);
	socket_dir_cache_begin(finder->cache);
	map_each(finder->states, pdb_finder_look_at, finder);
}

static bool is_accepting(const struct process_sample *sample)
{
	for (size_t i = 0; i < sample->thread_count; i++) {
		int syscall = sample->threads[i].syscall;

		if (syscall == SYS_accept || syscall == SYS_accept4)
			return true;
	}
	return false;
}

void pdb_finder_note(struct pdb_finder *finder, const struct process_sample *sample)
{
	struct process_table *process_table = node_process_table(finder->node);
	const struct process *process = process_table_find(process_table, sample->pid);
	struct pdb_scan_state *state = map_find(finder->states, (uint64_t)sample->pid);
	const struct pdb_programs *before;
	bool was_accepting;

	if (!state || !process || state->is_waiting)
		return;
	before = state->server;
	was_accepting = state->is_accepting;
	state->is_accepting = is_accepting(sample);
	pdb_scan_state_update(state, process, process_table_files(process_table, sample->pid));
	/* A server that was seen before it accepts is looked at again once it does. */
	if (!state->server || !state->server->has_port ||
	    (state->server == before && (was_accepting || !state->is_accepting)))
		return;
	finder->is_asked = false;
	networks_read(finder->networks, finder->states, false);
	socket_dir_cache_begin(finder->cache);
	pdb_finder_look_at((uint64_t)sample->pid, state, finder);
}

void pdb_finder_describe(struct node *node, const struct process *process,
			 struct debugger *debugger)
{
	struct pdb_finder *finder = pdb_finder_new(node);
	struct pdb_scan_state *state = pdb_finder_take_state(finder, process);

	pdb_scan_state_learn(state, node_procfs(node));
	networks_read(finder->networks, finder->states, true);
	socket_dir_cache_begin(finder->cache);
	describe(finder, state, debugger);
	pdb_finder_free(finder);
}

bool pdb_finder_can_see(struct node *node, pid_t pid)
{
	struct map *held = listening_sockets_held(node_procfs(node), pid);

	map_free(held);
	return held != NULL;
}

struct pdb_networks {
	struct listening_sockets listeners;
	bool has_ports;	  /* TCP sockets are read, too */
	bool has_unknown; /* the holder of at least one socket is unknown */
};

struct holder {
	pid_t pid; /* the holder of the socket; 0: none of the scanned processes */
	uint64_t start_time;
};

struct networks {
	struct procfs *procfs;
	struct map *networks; /* network of a pdb_scan_state -> struct pdb_networks */
	struct map *holders;  /* inode of a socket -> struct holder */
	/* The following members are used only during networks_read(). */
	const struct map *states;
	struct map *known; /* holders of the previous scan */
	bool has_new;
	bool has_unread; /* the descriptors of a process could not be read */
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

/*
 * Returns the pid by which the namespace is read. For the node's own namespace that is the node's
 * pid, because other processes may exit at any time.
 */
static pid_t pdb_networks_choose_pid(const struct pdb_scan_state *state)
{
	return state->network == 0 ? getpid() : state->pid;
}

/*
 * Reads the sockets of a namespace, once per scan. A namespace that cannot be read has no
 * listeners.
 */
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

/* True if the known holder is still valid; otherwise the descriptors must be searched. */
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
 * Takes over the known holders of the last scan, for Unix sockets only: there are many TCP ports,
 * and the ports of only few processes are needed.
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

/*
 * Makes the process the holder of the sockets that it has open, if it is older than their known
 * holders: the younger processes have inherited them.
 */
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

void pdb_scan_state_init(struct pdb_scan_state *state, const struct process *process)
{
	*state = (struct pdb_scan_state){
		.pid = process->pid,
		.start_time = process->start_time,
		.uid = process->uid,
		.rank = process->role ? -1 : process->rank,
	};
}

void pdb_scan_state_clear(struct pdb_scan_state *state)
{
	free(state->folder);
	free(state->prefix);
	free(state->told);
	state->folder = NULL;
	state->prefix = NULL;
	state->told = NULL;
}

void pdb_scan_state_update(struct pdb_scan_state *state, const struct process *process,
			   const struct stack_files *files)
{
	const struct pdb_programs *server;

	state->rank = process->role ? -1 : process->rank;
	if (!files || state->file_count == stack_files_count(files))
		return;
	state->file_count = stack_files_count(files);
	server = pdb_programs_of_files(files);
	/* A server that was found once stays known, even if the stacks are forgotten. */
	if (server)
		state->server = server;
}

/* Returns the number in the link "net:[4026531840]"; 0: it cannot be read. */
static uint64_t pdb_scan_state_read_network(struct procfs *procfs, pid_t pid)
{
	char link[64];
	uint64_t number;

	if (procfs_link(procfs, pid, "ns/net", link, sizeof(link)) < 0 ||
	    sscanf(link, "net:[%" SCNu64 "]", &number) != 1)
		return 0;
	return number;
}

/* Returns the first value of the variable that is an absolute path; NULL: none. name is "NAME=". */
static char *pdb_scan_state_find_path(const char *bytes, size_t length, const char *name)
{
	const char *end = bytes + length;

	for (const char *at = bytes; at < end; at += strlen(at) + 1)
		if (strncmp(at, name, strlen(name)) == 0 && at[strlen(name)] == '/')
			return xstrdup(at + strlen(name));
	return NULL;
}

static void pdb_scan_state_read_environment(struct pdb_scan_state *state, struct procfs *procfs)
{
	char *bytes;
	ssize_t length = procfs_read(procfs, state->pid, "environ", &bytes, NULL);

	if (length < 0)
		return;
	state->folder = pdb_scan_state_find_path(bytes, (size_t)length, "TMPDIR=");
	state->prefix = pdb_scan_state_find_path(bytes, (size_t)length, "IPDB_SOCK_PATH=");
}

void pdb_scan_state_learn(struct pdb_scan_state *state, struct procfs *procfs)
{
	struct stat ours;
	struct stat about;
	uint64_t network;
	char path[64];

	if (state->is_learnt)
		return;
	state->is_learnt = true;
	network = pdb_scan_state_read_network(procfs, state->pid);
	if (network != pdb_scan_state_read_network(procfs, getpid()))
		state->network = network;
	pdb_scan_state_read_environment(state, procfs);
	snprintf(path, sizeof(path), "%d/root/tmp", (int)state->pid);
	if (fstatat(procfs->fd, path, &about, 0) < 0)
		return;
	state->device = about.st_dev;
	state->inode = about.st_ino;
	state->is_rooted = stat("/tmp", &ours) < 0 || ours.st_dev != about.st_dev ||
			   ours.st_ino != about.st_ino;
}

bool pdb_scan_state_reach(const struct pdb_scan_state *state, const char *path, char *out,
			  size_t size)
{
	int length;

	if (state->is_rooted)
		length = snprintf(out, size, "/proc/%d/root%s", (int)state->pid, path);
	else
		length = snprintf(out, size, "%s", path);
	return length >= 0 && (size_t)length < size;
}
