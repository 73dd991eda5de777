#include "backends/connections.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "banned.h"
#include "backends/backend.h"
#include "backends/environment.h"
#include "base/alloc.h"
#include "base/array.h"
#include "base/error.h"
#include "base/map.h"
#include "protocol/process.h"

/* The best first. */
static const struct backend *const backends[] = {
	&ptrace_backend,
};

#define ASKED_IN_A_ROW 30
#define ASKED_SELDOM 16

struct slot {
	struct connection *connection; /* NULL: error says why */
	struct error error;
	uint64_t start_time;		/* of the process; 0 unknown */
	struct environment environment; /* with what the program has set */
	bool has_rank;			/* it has set RANK */
	unsigned looks;			/* for a rank, so far */
};

struct connections {
	struct node *node;
	struct map *slots;
};

static void free_slot(void *value)
{
	struct slot *slot = value;

	if (slot->connection)
		slot->connection->backend->close(slot->connection);
	free(slot);
}

struct connections *connections_new(struct node *node)
{
	struct connections *connections = xcalloc(1, sizeof(*connections));

	connections->node = node;
	connections->slots = map_new(free_slot);
	return connections;
}

void connections_free(struct connections *connections)
{
	if (!connections)
		return;
	map_free(connections->slots);
	free(connections);
}

static struct slot *open_slot(struct connections *connections,
			      const struct process *process)
{
	struct slot *slot = xcalloc(1, sizeof(*slot));

	for (size_t i = 0; i < ARRAY_LENGTH(backends); i++) {
		slot->connection = backends[i]->open(connections->node, process,
						     NULL, &slot->error);
		if (slot->connection)
			break;
	}
	slot->start_time = process->start_time;
	map_put(connections->slots, (uint64_t)process->pid, slot);
	return slot;
}

/* The pid has been given to another process since. */
static bool is_another(const struct slot *slot, const struct process *process)
{
	return slot->start_time != 0 && process->start_time != 0 &&
	       slot->start_time != process->start_time;
}

struct connection *connections_open(struct connections *connections,
				    const struct process *process,
				    struct error *error)
{
	struct slot *slot =
		map_find(connections->slots, (uint64_t)process->pid);

	if (!slot || is_another(slot, process))
		slot = open_slot(connections, process);
	if (!slot->connection)
		error_set(error, "%s", slot->error.message);
	return slot->connection;
}

void connections_close(struct connections *connections, pid_t pid)
{
	map_remove(connections->slots, (uint64_t)pid);
}

void connections_close_all(struct connections *connections)
{
	map_free(connections->slots);
	connections->slots = map_new(free_slot);
}

struct stale {
	pid_t *pids;
	size_t count;
	size_t capacity;
};

static void add_stale(uint64_t key, void *value, void *data)
{
	const struct slot *slot = value;
	struct stale *stale = data;

	if (slot->connection && (kill((pid_t)key, 0) == 0 || errno != ESRCH))
		return;
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

static void take_variable(const char *name, const char *value, void *data)
{
	environment_set(data, name, value);
}

/* The first looks in a row, then one in sixteen. */
static bool is_due(unsigned look)
{
	return look < ASKED_IN_A_ROW || look % ASKED_SELDOM == 0;
}

void connections_environment(struct connections *connections, pid_t pid,
			     uint64_t start_time,
			     struct environment *environment)
{
	struct process process = { .pid = pid, .start_time = start_time };
	struct error error = ERROR_INIT;
	struct connection *connection =
		connections_open(connections, &process, &error);
	struct slot *slot = map_find(connections->slots, (uint64_t)pid);
	const char *names[ENVIRONMENT_NAMES];

	if (!connection || !connection->backend->environment)
		return;
	if (slot->looks == 0)
		slot->environment = *environment;
	if (!slot->has_rank && is_due(slot->looks++)) {
		environment_names(names);
		connection->backend->environment(
			connection, names, take_variable, &slot->environment);
		slot->has_rank =
			environment_family(&slot->environment) == FAMILY_TORCH;
	}
	*environment = slot->environment;
}
