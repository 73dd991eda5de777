#include "backends/connections.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "backends/node.h"
#include "backends/linux/procfs.h"
#include "backends/target.h"
#include "base/alloc.h"
#include "base/array.h"
#include "base/error.h"
#include "base/map.h"
#include "protocol/debugger.h"
#include "protocol/process.h"
#include "protocol/sample.h"

struct row {
	const struct backend *backend;
	bool opens_itself; /* opened by the pid alone: the user names no target */
};

/* In order of preference: a debugger that has stopped the process knows more than a reader. */
static const struct row rows[] = {
	{ &control_backend, false },
	{ &pdb_backend, false },
	{ &http_backend, false },
	{ &ptrace_backend, true },
};

#define ROW_COUNT ARRAY_LENGTH(rows)
#define ASKED_IN_A_ROW 30
#define ASKED_SELDOM 16

struct slot {
	struct connection *connections[ROW_COUNT]; /* in the order of rows; NULL: not open */
	struct error error;			   /* why the reader is not open */
	bool was_opened;			   /* opening the reader was tried, with or without
						    * success */
	uint64_t start_time;			   /* start time of the process; 0: unknown */
	struct environment given;	/* of /proc/PID/environ when environment was begun */
	struct environment environment; /* includes what the program has set */
	unsigned environment_looks;	/* requests for environment, see is_due() */
	bool has_framework;		/* a framework was found in /proc/PID/maps */
	unsigned framework_looks;	/* requests for has_framework, see
					 * is_rarely_due() */
	uint64_t stops;			/* number of stops of the process so far */
};

struct connections {
	struct node *node;
	struct map *slots;
};

static void close_one(struct connection **connection)
{
	struct connection *closing = *connection;

	*connection = NULL;
	if (closing)
		closing->backend->close(closing);
}

/*
 * A closing connection may still emit events, whose handlers look up the slot: the slot is removed
 * from the map afterwards.
 */
static void connections_close_slot(uint64_t pid, void *value, void *data)
{
	struct slot *slot = value;

	(void)pid;
	(void)data;
	for (size_t i = 0; i < ROW_COUNT; i++)
		close_one(&slot->connections[i]);
}

struct connections *connections_new(struct node *node)
{
	struct connections *connections = xcalloc(1, sizeof(*connections));

	connections->node = node;
	connections->slots = map_new(free);
	return connections;
}

void connections_free(struct connections *connections)
{
	if (!connections)
		return;
	map_each(connections->slots, connections_close_slot, NULL);
	map_free(connections->slots);
	free(connections);
}

static struct slot *connections_find_slot(const struct connections *connections, pid_t pid)
{
	return map_find(connections->slots, (uint64_t)pid);
}

/* True if the pid now belongs to another process than when the slot was made. */
static bool is_another(const struct slot *slot, const struct process *process)
{
	return slot->start_time != 0 && process->start_time != 0 &&
	       slot->start_time != process->start_time;
}

static struct slot *take_slot(struct connections *connections, const struct process *process)
{
	struct slot *slot = connections_find_slot(connections, process->pid);

	if (slot && !is_another(slot, process))
		return slot;
	connections_close(connections, process->pid);
	slot = xcalloc(1, sizeof(*slot));
	slot->start_time = process->start_time;
	map_put(connections->slots, (uint64_t)process->pid, slot);
	return slot;
}

static void open_by_process(struct connections *connections, struct slot *slot,
			    const struct process *process)
{
	slot->was_opened = true;
	if (process->pid >= PROCESS_FIRST_STANDIN) {
		error_set(&slot->error, "the process is on another machine: only a debugger that "
					"is connected to it can answer requests");
		return;
	}
	for (size_t i = 0; i < ROW_COUNT; i++) {
		if (!rows[i].opens_itself)
			continue;
		slot->connections[i] =
			rows[i].backend->open(connections->node, process, NULL, &slot->error);
	}
}

static struct connection *reader_of(const struct slot *slot)
{
	for (size_t i = 0; i < ROW_COUNT; i++)
		if (rows[i].opens_itself && slot->connections[i])
			return slot->connections[i];
	return NULL;
}

struct connection *connections_open(struct connections *connections, const struct process *process,
				    struct error *error)
{
	struct slot *slot = take_slot(connections, process);
	struct connection *connection;

	if (!slot->was_opened)
		open_by_process(connections, slot, process);
	connection = reader_of(slot);
	if (!connection)
		error_set(error, "%s", slot->error.message);
	return connection;
}

static const struct debugger *debugger_of(const struct connection *connection)
{
	return connection && connection->backend->debugger
		       ? connection->backend->debugger(connection)
		       : NULL;
}

static struct connection *ours_of(const struct slot *slot)
{
	for (size_t i = 0; i < ROW_COUNT; i++) {
		const struct debugger *debugger = debugger_of(slot->connections[i]);

		if (debugger && debugger_is_ours(debugger))
			return slot->connections[i];
	}
	return NULL;
}

struct connection *connections_connect(struct connections *connections,
				       const struct process *process, const struct target *target,
				       struct error *error)
{
	struct slot *slot = take_slot(connections, process);
	const char *name = target_backend(target);
	const struct connection *ours = ours_of(slot);

	if (ours) {
		error_set(error, "a debugger is already connected (%s): detach first",
			  debugger_of(ours)->target);
		return NULL;
	}
	for (size_t i = 0; i < ROW_COUNT; i++) {
		struct connection **connection = &slot->connections[i];

		if (rows[i].opens_itself || strcmp(rows[i].backend->name, name) != 0)
			continue;
		close_one(connection);
		*connection = rows[i].backend->open(connections->node, process, target, error);
		return *connection;
	}
	error_set(error, "probetui cannot connect to %s: not the address of a debugger or agent",
		  target->text);
	return NULL;
}

void connections_attend(struct connections *connections, const struct process *process)
{
	struct slot *slot = take_slot(connections, process);

	for (size_t i = 0; i < ROW_COUNT; i++) {
		const struct backend *backend = rows[i].backend;

		if (!backend->attends || !backend->attends(process, slot->connections[i]))
			continue;
		close_one(&slot->connections[i]);
		slot->connections[i] = backend->open(connections->node, process, NULL, NULL);
	}
}

/* Opens a connection for the request. Returns NULL if no backend opens a connection for such a
 * request, or if opening failed; in the second case error is set. */
static struct connection *open_for(struct connections *connections, struct slot *slot,
				   const struct process *process, enum request_kind kind,
				   const struct message *request, struct error *error)
{
	/*
	 * `watchdog` is sent to the agent even if a debugger is connected; both connections stay
	 * open.
	 */
	bool is_beside = kind == REQUEST_WATCHDOG;
	bool is_free = is_beside || !ours_of(slot);

	for (size_t i = 0; request && i < ROW_COUNT && is_free; i++) {
		const struct backend *backend = rows[i].backend;
		struct connection *opened;

		if (is_beside && slot->connections[i])
			continue;
		/*
		 * The open connection serves requests of this kind and refuses only this request:
		 * it is not replaced.
		 */
		if (slot->connections[i] && connection_can(slot->connections[i], kind, NULL, NULL))
			continue;
		if (!backend->opens_for || !backend->opens_for(process, kind, request))
			continue;
		close_one(&slot->connections[i]);
		opened = backend->open(connections->node, process, NULL, error);
		slot->connections[i] = opened;
		if (opened && debugger_of(opened))
			node_tell_debugger(connections->node, process->pid, debugger_of(opened));
		return opened;
	}
	return NULL;
}

struct connection *connections_find(struct connections *connections, const struct process *process,
				    enum request_kind kind, const struct message *request,
				    struct error *error)
{
	struct error unreadable = ERROR_INIT;
	struct error refused = ERROR_INIT;
	struct connection *opened;
	struct reason nearest;
	bool has_reason = false;
	struct slot *slot;

	connections_open(connections, process, &unreadable);
	slot = connections_find_slot(connections, process->pid);
	for (size_t i = 0; i < ROW_COUNT; i++) {
		struct connection *connection = slot->connections[i];
		struct reason reason;

		if (!connection)
			continue;
		if (connection_can(connection, kind, request, &reason))
			return connection;
		if (!has_reason)
			nearest = reason;
		has_reason = true;
	}
	opened = open_for(connections, slot, process, kind, request, &refused);
	if (opened && connection_can(opened, kind, request, &nearest))
		return opened;
	if (error_is_set(&refused))
		error_set(error, "%s", refused.message);
	else if (has_reason || opened)
		reason_explain(&nearest, error);
	else
		error_set(error, "%s", unreadable.message);
	return NULL;
}

struct connection *connections_find_agent(struct connections *connections,
					  const struct process *process, enum request_kind kind,
					  const struct message *request)
{
	struct slot *slot = take_slot(connections, process);
	struct error unused = ERROR_INIT;
	struct connection *opened;

	for (size_t i = 0; i < ROW_COUNT; i++) {
		struct connection *connection = slot->connections[i];

		if (connection && !rows[i].opens_itself &&
		    connection_can(connection, kind, request, NULL))
			return connection;
	}
	opened = open_for(connections, slot, process, kind, request, &unused);
	if (opened && connection_can(opened, kind, request, NULL))
		return opened;
	return NULL;
}

struct connection *connections_find_debugger(struct connections *connections, pid_t pid)
{
	const struct slot *slot = connections_find_slot(connections, pid);

	if (slot && ours_of(slot))
		return ours_of(slot);
	for (size_t i = 0; slot && i < ROW_COUNT; i++)
		if (debugger_of(slot->connections[i]))
			return slot->connections[i];
	return NULL;
}

bool connections_has_reader(struct connections *connections, pid_t pid)
{
	const struct slot *slot = connections_find_slot(connections, pid);

	return slot && reader_of(slot);
}

uint64_t connections_next_stop(struct connections *connections, pid_t pid)
{
	struct slot *slot = connections_find_slot(connections, pid);

	return slot ? ++slot->stops : 1;
}

const struct debugger *connections_debugger(struct connections *connections, pid_t pid)
{
	return debugger_of(connections_find_debugger(connections, pid));
}

void connections_amend(struct connections *connections, struct process_sample *sample)
{
	const struct slot *slot = connections_find_slot(connections, sample->pid);

	for (size_t i = 0; slot && i < ROW_COUNT; i++) {
		struct connection *connection = slot->connections[i];

		if (connection && connection->backend->amend)
			connection->backend->amend(connection, sample);
	}
}

void connections_interrupt(struct connections *connections, pid_t pid)
{
	const struct slot *slot = connections_find_slot(connections, pid);

	for (size_t i = 0; slot && i < ROW_COUNT; i++) {
		struct connection *connection = slot->connections[i];

		if (connection && connection->backend->interrupt)
			connection->backend->interrupt(connection);
	}
}

void connections_close(struct connections *connections, pid_t pid)
{
	struct slot *slot = connections_find_slot(connections, pid);

	if (slot)
		connections_close_slot((uint64_t)pid, slot, NULL);
	map_remove(connections->slots, (uint64_t)pid);
}

void connections_disconnect(struct connections *connections, struct connection *connection)
{
	struct slot *slot = connections_find_slot(connections, connection->pid);

	for (size_t i = 0; slot && i < ROW_COUNT; i++)
		if (slot->connections[i] == connection)
			close_one(&slot->connections[i]);
}

/* Closes the reader, which is opened again when needed: execve(2) may have replaced the program. */
static void forget_slot(uint64_t pid, void *value, void *data)
{
	struct slot *slot = value;

	(void)pid;
	(void)data;
	for (size_t i = 0; i < ROW_COUNT; i++)
		if (rows[i].opens_itself)
			close_one(&slot->connections[i]);
	slot->was_opened = false;
	slot->environment_looks = 0;
	slot->has_framework = false;
	slot->framework_looks = 0;
}

void connections_forget(struct connections *connections, pid_t pid)
{
	struct slot *slot = connections_find_slot(connections, pid);

	if (slot)
		forget_slot((uint64_t)pid, slot, NULL);
}

void connections_forget_all(struct connections *connections)
{
	map_each(connections->slots, forget_slot, NULL);
}

struct stale {
	pid_t *pids;
	size_t count;
	size_t capacity;
};

static void add_stale(uint64_t key, void *value, void *data)
{
	struct slot *slot = value;
	struct stale *stale = data;

	if (key >= PROCESS_FIRST_STANDIN)
		return;
	if (kill((pid_t)key, 0) == 0 || errno != ESRCH) {
		slot->was_opened = slot->was_opened && reader_of(slot);
		return;
	}
	ARRAY_GROW(stale->pids, stale->count, stale->capacity);
	stale->pids[stale->count++] = (pid_t)key;
}

void connections_tidy(struct connections *connections)
{
	struct stale stale = { .pids = NULL };

	map_each(connections->slots, add_stale, &stale);
	for (size_t i = 0; i < stale.count; i++)
		connections_close(connections, stale.pids[i]);
	free(stale.pids);
}

/* Looks that are due at first, while a program starts, and the period of later ones. */
static bool is_due(unsigned look)
{
	return look < ASKED_IN_A_ROW || look % ASKED_SELDOM == 0;
}

static bool is_numbered(const struct environment *environment)
{
	return environment_family(environment) != FAMILY_NONE;
}

static bool has_same_number(const struct environment *a, const struct environment *b)
{
	return environment_family(a) == environment_family(b) &&
	       environment_number(a, NUMBER_RANK) == environment_number(b, NUMBER_RANK);
}

static void connections_read_environment(void *data, pid_t pid, uint64_t start_time,
					 struct environment *environment)
{
	struct connections *connections = data;
	struct process process = { .pid = pid, .start_time = start_time };
	struct error error = ERROR_INIT;
	struct connection *connection;
	struct slot *slot = connections_find_slot(connections, pid);
	bool is_first;

	/* A launcher that forks and then calls execve(2) has been another program until now. */
	if (slot && slot->environment_looks > 0 && !has_same_number(&slot->given, environment))
		forget_slot((uint64_t)pid, slot, NULL);
	connection = connections_open(connections, &process, &error);
	slot = connections_find_slot(connections, pid);
	if (!connection || !connection->backend->environment)
		return;
	is_first = slot->environment_looks == 0;
	if (is_first)
		slot->given = slot->environment = *environment;
	/* A program whose group is known seldom makes another: it is asked like an old one. */
	if (is_first || is_due(environment_has_group(&slot->environment)
				       ? slot->environment_looks + ASKED_IN_A_ROW
				       : slot->environment_looks))
		connection->backend->environment(connection, &slot->environment);
	slot->environment_looks++;
	slot->environment.is_own = !is_numbered(environment) && is_numbered(&slot->environment);
	*environment = slot->environment;
}

/* Parts of the paths of libraries that programs of several ranks load. */
static const char *const frameworks[] = {
	"/libtorch_cpu.so", "/libtorch.so", "/jaxlib/", "/horovod/",   "/libtensorflow",
	"/tensorflow/",	    "/libmpi.so",   "/mpi4py/", "/libnccl.so", "/libpaddle.so",
};

static bool maps_framework(struct procfs *procfs, pid_t pid)
{
	char *bytes;

	if (procfs_read(procfs, pid, "maps", &bytes, NULL) <= 0)
		return false;
	for (size_t i = 0; i < ARRAY_LENGTH(frameworks); i++)
		if (strstr(bytes, frameworks[i]))
			return true;
	return false;
}

/* /proc/PID/maps of a large program takes a millisecond: at first at growing intervals. */
static bool is_rarely_due(unsigned look)
{
	return look < ASKED_SELDOM ? (look & (look - 1)) == 0 : look % ASKED_SELDOM == 0;
}

static bool connections_has_framework(void *data, pid_t pid, uint64_t start_time)
{
	struct connections *connections = data;
	struct process process = { .pid = pid, .start_time = start_time };
	struct slot *slot = take_slot(connections, &process);

	if (!slot->has_framework && is_rarely_due(slot->framework_looks++))
		slot->has_framework = maps_framework(node_procfs(connections->node), pid);
	return slot->has_framework;
}

struct environment_reader connections_environment_reader(struct connections *connections)
{
	return (struct environment_reader){
		.has_framework = connections_has_framework,
		.read = connections_read_environment,
		.data = connections,
	};
}
