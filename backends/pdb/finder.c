/*
 * finder: how a look goes.
 *
 * The listening sockets of each network are read once; by name most looks end
 * there. Only a socket that is seen for the first time makes it read the
 * descriptors of the processes in that network, to learn whose it is; that is
 * kept by its inode as long as it and the process live. Of a process that
 * holds one, more is learnt at once; of the others in their second look, so
 * that who asks once pays for no more than one file and a few folders.
 */
#include "backends/pdb/finder.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "backends/arguments.h"
#include "backends/connections.h"
#include "backends/node.h"
#include "backends/pdb/listeners.h"
#include "backends/pdb/network.h"
#include "backends/pdb/offer.h"
#include "backends/pdb/seat.h"
#include "backends/pdb/server.h"
#include "backends/pdb/shelf.h"
#include "backends/procfs.h"
#include "backends/roster.h"
#include "base/alloc.h"
#include "base/map.h"
#include "protocol/debugger.h"
#include "protocol/process.h"

struct finder {
	struct node *node;
	struct map *seats; /* pid -> struct seat */
	struct networks *networks;
	struct shelves *shelves;
	bool has_new_seat; /* in this look */
	bool is_asked;	   /* it tells of all there are */
};

static void free_seat(void *value)
{
	seat_clear(value);
	free(value);
}

struct finder *finder_new(struct node *node)
{
	struct finder *finder = xcalloc(1, sizeof(*finder));

	finder->node = node;
	finder->seats = map_new(free_seat);
	finder->networks = networks_new(node_procfs(node));
	finder->shelves = shelves_new();
	return finder;
}

void finder_free(struct finder *finder)
{
	if (!finder)
		return;
	shelves_free(finder->shelves);
	networks_free(finder->networks);
	map_free(finder->seats);
	free(finder);
}

static struct seat *take_seat(struct finder *finder, const struct process *process)
{
	uint64_t key = (uint64_t)process->pid;
	struct seat *seat = map_find(finder->seats, key);

	if (!seat || seat->start_time != process->start_time) {
		seat = xcalloc(1, sizeof(*seat));
		seat_init(seat, process);
		map_put(finder->seats, key, seat);
		finder->has_new_seat = true;
	}
	seat_update(seat, process, roster_files(node_roster(finder->node), process->pid));
	return seat;
}

/* What stands for a process on another machine is none. */
static void take_seats(struct finder *finder)
{
	struct roster *roster = node_roster(finder->node);
	struct pid_list list = { .pids = NULL };

	roster_list(roster, &list);
	for (size_t i = 0; i < list.count; i++) {
		struct seat *seat;

		if (list.pids[i] >= PROCESS_FIRST_STANDIN)
			continue;
		seat = take_seat(finder, roster_find(roster, list.pids[i]));
		if (++seat->looks > 1)
			seat_learn(seat, node_procfs(finder->node));
	}
	pid_list_clear(&list);
}

static void add_pid(uint64_t key, void *value, void *data)
{
	(void)value;
	pid_list_add(data, (pid_t)key);
}

static void drop_seats(struct finder *finder)
{
	struct pid_list list = { .pids = NULL };

	map_each(finder->seats, add_pid, &list);
	for (size_t i = 0; i < list.count; i++)
		if (!roster_find(node_roster(finder->node), list.pids[i]))
			map_remove(finder->seats, (uint64_t)list.pids[i]);
	pid_list_clear(&list);
}

/* Two sockets of one path: it leads to the later one. */
static void find_twin(struct offer *offer, const struct listeners *listeners, pid_t pid)
{
	for (size_t i = 0; i < listeners->count; i++) {
		const struct listener *other = &listeners->items[i];

		if (other->path && other->holder != pid &&
		    strcmp(other->path, offer->listener->path) == 0) {
			offer->has_twin = true;
			offer->twin_pid = other->holder;
		}
	}
}

/* The best of the process's sockets with a name; false: it has none. */
static bool find_path(const struct seat *seat, const struct listeners *listeners,
		      struct offer *offer)
{
	*offer = (struct offer){ .listener = NULL };
	for (size_t i = 0; i < listeners->count; i++) {
		const struct listener *listener = &listeners->items[i];

		if (!listener->path || listener->holder != seat->pid)
			continue;
		offer->more += offer->listener != NULL;
		if (!offer->listener || offer_compare(seat, listener, offer->listener) > 0)
			offer->listener = listener;
	}
	if (offer->listener)
		find_twin(offer, listeners, seat->pid);
	return offer->listener;
}

/*
 * The newest port that the process's first thread waits at, else any thread:
 * PyTorch's store has one that polls for the ranks.
 */
static void find_newest(struct procfs *procfs, const struct seat *seat,
			const struct listeners *listeners, struct map *held, bool is_thorough,
			struct offer *offer)
{
	for (size_t i = 0; i < listeners->count; i++) {
		const struct listener *listener = &listeners->items[i];

		if (!listener->path && map_find(held, listener->inode) &&
		    (!offer->listener || listener->inode > offer->listener->inode) &&
		    listeners_is_accepting(procfs, seat->pid, listener->inode, is_thorough))
			offer->listener = listener;
	}
}

/* The port that a thread of the process waits at; false: none. */
static bool find_port(const struct finder *finder, const struct seat *seat,
		      const struct listeners *listeners, struct offer *offer)
{
	struct procfs *procfs = node_procfs(finder->node);
	struct map *held;

	*offer = (struct offer){ .listener = NULL };
	if (!seat->server || !seat->server->has_port)
		return false;
	held = listeners_held(procfs, seat->pid);
	if (held)
		find_newest(procfs, seat, listeners, held, false, offer);
	if (held && !offer->listener)
		find_newest(procfs, seat, listeners, held, true, offer);
	map_free(held);
	return offer->listener;
}

struct file_search {
	const struct finder *finder;
	struct seat *seat;
	const struct listeners *listeners;
	struct debugger *debugger;
};

/* Who was put there by somebody else is told of before what is stale. */
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
	if (offer_describe_file(path, is_served, search->seat, node_procfs(search->finder->node),
				&found) &&
	    (search->debugger->state == DEBUGGER_NONE ||
	     (search->debugger->state == DEBUGGER_STALE && found.state == DEBUGGER_REFUSED))) {
		debugger_clear(search->debugger);
		*search->debugger = found;
	} else {
		debugger_clear(&found);
	}
}

/* Into an initialised debugger. */
static void describe(struct finder *finder, struct seat *seat, struct debugger *debugger)
{
	const struct listeners *listeners = networks_find(finder->networks, seat);
	struct file_search search = {
		.finder = finder,
		.seat = seat,
		.listeners = listeners,
		.debugger = debugger,
	};
	struct offer offer;

	if (find_path(seat, listeners, &offer) || find_port(finder, seat, listeners, &offer)) {
		/* Names are the process's own: where they lead is needed. */
		seat_learn(seat, node_procfs(finder->node));
		offer_describe(&offer, seat, node_procfs(finder->node), debugger);
		seat->offered = offer.listener->inode;
		return;
	}
	shelves_each(finder->shelves, seat, look_at_file, &search);
}

/* Tells when it is not what was told last. */
static void tell(struct finder *finder, struct seat *seat, const struct debugger *debugger)
{
	bool is_none = debugger->state == DEBUGGER_NONE;
	json_t *json = debugger_to_json(debugger);
	char *text = json_dumps(json, JSON_COMPACT | JSON_SORT_KEYS);
	bool is_new = seat->told ? strcmp(seat->told, text) != 0 : !is_none;

	json_decref(json);
	if (is_new || (finder->is_asked && !is_none))
		node_emit_debugger(finder->node, seat->pid, debugger);
	seat->is_waiting = debugger->state == DEBUGGER_WAITING;
	free(seat->told);
	seat->told = is_none ? NULL : xstrdup(text);
	free(text);
}

static void look_at(uint64_t pid, void *value, void *data)
{
	struct finder *finder = data;
	struct seat *seat = value;
	const struct debugger *ours =
		connections_debugger(node_connections(finder->node), (pid_t)pid);
	bool is_lost = ours && ours->state != DEBUGGER_NONE;
	struct debugger debugger;

	if (ours && debugger_is_ours(ours)) {
		seat->taken = seat->offered;
		free(seat->told);
		seat->told = NULL;
		seat->is_waiting = false;
		return;
	}
	debugger_init(&debugger);
	describe(finder, seat, &debugger);
	/* What became of one that we had is told by who had it. */
	if (!is_lost || debugger.state == DEBUGGER_WAITING)
		tell(finder, seat, &debugger);
	debugger_clear(&debugger);
}

void finder_look(struct finder *finder, bool is_asked)
{
	finder->is_asked = is_asked;
	finder->has_new_seat = false;
	drop_seats(finder);
	take_seats(finder);
	networks_read(finder->networks, finder->seats, finder->has_new_seat);
	shelves_turn(finder->shelves);
	map_each(finder->seats, look_at, finder);
}

void finder_note(struct finder *finder, pid_t pid)
{
	struct roster *roster = node_roster(finder->node);
	const struct process *process = roster_find(roster, pid);
	struct seat *seat = map_find(finder->seats, (uint64_t)pid);
	const struct server *before;

	if (!seat || !process || seat->is_waiting)
		return;
	before = seat->server;
	seat_update(seat, process, roster_files(roster, pid));
	if (!seat->server || seat->server == before || !seat->server->has_port)
		return;
	finder->is_asked = false;
	networks_read(finder->networks, finder->seats, false);
	shelves_turn(finder->shelves);
	look_at((uint64_t)pid, seat, finder);
}

void finder_describe(struct node *node, const struct process *process, struct debugger *debugger)
{
	struct finder *finder = finder_new(node);
	struct seat *seat = take_seat(finder, process);

	seat_learn(seat, node_procfs(node));
	networks_read(finder->networks, finder->seats, true);
	shelves_turn(finder->shelves);
	describe(finder, seat, debugger);
	finder_free(finder);
}

bool finder_can_see(struct node *node, pid_t pid)
{
	struct map *held = listeners_held(node_procfs(node), pid);

	map_free(held);
	return held != NULL;
}
