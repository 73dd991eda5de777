#include "backends/doctor.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "backends/backend.h"
#include "backends/connections.h"
#include "backends/http/agent-endpoint.h"
#include "backends/linux/access-refusal.h"
#include "backends/linux/procfs.h"
#include "backends/native/native.h"
#include "backends/node.h"
#include "backends/pdb/pdb-finder.h"
#include "backends/process-table.h"
#include "backends/ptrace/debuggee.h"
#include "backends/tracer/debug-registers.h"
#include "backends/tracer/freezer.h"
#include "banned.h"
#include "base/array.h"
#include "base/buffer.h"
#include "base/error.h"
#include "base/json.h"
#include "base/text.h"
#include "protocol/debugger.h"
#include "protocol/process.h"

/* Seconds to wait for the agent, which does not answer while another thread holds the GIL. */
#define PROBE_SECONDS 0.5

static void doctor_set_reason(struct reason *reason, const char *why, const char *fix)
{
	snprintf(reason->why, sizeof(reason->why), "%s", why);
	snprintf(reason->fix, sizeof(reason->fix), "%s", fix);
}

/* Each try_ function returns true, perhaps with a detail in reason->why, or false with the cause in
 * reason->why and a remedy in reason->fix. */
static bool try_environ(struct node *node, pid_t pid, struct reason *reason)
{
	char *bytes;

	if (procfs_read(node_procfs(node), pid, "environ", &bytes, NULL) >= 0)
		return true;
	access_refusal_find(reason, pid, errno);
	return false;
}

/* Returns the connection that reads the process's memory, or NULL and sets *reason. */
static struct connection *try_open(struct node *node, pid_t pid, struct reason *reason)
{
	const struct process *known = process_table_find(node_process_table(node), pid);
	struct process process = { .pid = pid };
	struct error error = ERROR_INIT;
	struct connection *connection;
	int number = access_refusal_probe(pid);

	if (number != 0) {
		access_refusal_find(reason, pid, number);
		return NULL;
	}
	connection = connections_open(node_connections(node), known ? known : &process, &error);
	if (!connection)
		doctor_set_reason(reason, error.message, "");
	return connection;
}

static bool try_read(struct node *node, pid_t pid, struct reason *reason)
{
	const struct connection *connection = try_open(node, pid, reason);

	if (connection && connection->version[0])
		snprintf(reason->why, sizeof(reason->why), "Python %s", connection->version);
	return connection != NULL;
}

static bool try_ptrace(struct node *node, pid_t pid, struct reason *reason)
{
	int number = freeze_probe(pid);

	(void)node;
	if (number == 0)
		return true;
	access_refusal_find(reason, pid, number);
	return false;
}

static bool try_exact(struct node *node, pid_t pid, struct reason *reason)
{
	const struct connection *connection = try_open(node, pid, reason);

	return connection && connection_can(connection, REQUEST_SAMPLE_EXACT, NULL, reason);
}

/*
 * Native unwinding needs the stack pointer of a blocked thread (/proc/PID/syscall),
 * readable memory, and libdw.
 */
static bool try_unwind(struct node *node, pid_t pid, struct reason *reason)
{
	struct error error = ERROR_INIT;
	char *bytes;

	if (!try_open(node, pid, reason))
		return false;
	if (native_open(node_native(node), &error) < 0) {
		doctor_set_reason(reason, error.message,
				  "install elfutils' libdw (Debian: libdw1), and "
				  "probetui-native.so beside probetui-node");
		return false;
	}
	if (procfs_read(node_procfs(node), pid, "syscall", &bytes, NULL) >= 0)
		return true;
	if (errno == ENOENT && access_refusal_probe(pid) == 0)
		doctor_set_reason(
			reason, "the kernel has no /proc/PID/syscall (CONFIG_HAVE_ARCH_TRACEHOOK)",
			"");
	else
		access_refusal_find(reason, pid, errno);
	return false;
}

static bool try_watches(struct node *node, pid_t pid, struct reason *reason)
{
	(void)node;
	return perf_breakpoint_probe(pid, reason);
}

/* Returns the ADDRESS of a target "pdb:unix:ADDRESS" or "pdb:tcp:ADDRESS". */
static const char *doctor_address_of(const char *target)
{
	return strchr(strchr(target, ':') + 1, ':') + 1;
}

static void explain_debugger(const struct debugger *debugger, struct reason *reason)
{
	if (debugger->state == DEBUGGER_WAITING)
		snprintf(reason->why, sizeof(reason->why), "pdb listens on %s%s%s",
			 doctor_address_of(debugger->target), debugger->leaving ? "; " : "",
			 debugger->leaving ? debugger->leaving : "");
	else
		doctor_set_reason(reason, debugger->why ? debugger->why : "none", "");
}

static bool try_pdb(struct node *node, pid_t pid, struct reason *reason)
{
	const struct process *known = process_table_find(node_process_table(node), pid);
	struct process process = { .pid = pid };
	struct debugger debugger;
	bool is_waiting;

	if (!pdb_finder_can_see(node, pid)) {
		access_refusal_find(reason, pid, errno);
		return false;
	}
	if (!known)
		procfs_owner(node_procfs(node), pid, &process.uid);
	debugger_init(&debugger);
	pdb_finder_describe(node, known ? known : &process, &debugger);
	is_waiting = debugger.state == DEBUGGER_WAITING;
	explain_debugger(&debugger, reason);
	debugger_clear(&debugger);
	return is_waiting;
}

/* Checks the agent's socket without connecting to it. */
static bool try_agent(struct node *node, pid_t pid, struct reason *reason)
{
	const struct process *known = process_table_find(node_process_table(node), pid);
	struct process process = { .pid = pid };
	struct error error = ERROR_INIT;
	struct agent_endpoint_found found;

	if (!pdb_finder_can_see(node, pid)) {
		access_refusal_find(reason, pid, errno);
		return false;
	}
	if (!known)
		procfs_owner(node_procfs(node), pid, &process.uid);
	if (agent_endpoint_look(&found, pid, known ? known->uid : process.uid, &error) == 0) {
		snprintf(reason->why, sizeof(reason->why), "the agent listens on %s", found.path);
		return true;
	}
	doctor_set_reason(reason, found.is_there ? error.message : "not injected",
			  found.is_there
				  ? ""
				  : "run `probetui inject`, or start the program with PROBETUI=1");
	return false;
}

/* Returns the shortest time-out of the process groups in seconds; -1: no group. *own is set to the
 * time-out that this group had before the agent raised it. */
static double find_limit(const json_t *told, double *own)
{
	const json_t *groups = json_object_get(told, "groups");
	double limit = -1;

	for (size_t i = 0; i < json_array_size(groups); i++) {
		const json_t *group = json_array_get(groups, i);
		double seconds = json_get_real(group, "limit", -1);

		if (seconds < 0 || (limit >= 0 && seconds >= limit))
			continue;
		limit = seconds;
		*own = json_get_real(group, "own", seconds);
	}
	return limit;
}

/* Sets *reason, for example to "process groups time out after 24 h, raised from 10 s; a waiting
 * collective has 7 s left". */
static void explain_groups(const json_t *told, struct reason *reason)
{
	double left = json_get_real(told, "left", -1);
	struct buffer text = BUFFER_INIT;
	double own = -1;
	double limit = find_limit(told, &own);

	if (limit < 0) {
		doctor_set_reason(reason, "the process has no torch.distributed process group", "");
		return;
	}
	buffer_append_string(&text, "process groups time out after ");
	text_duration(&text, limit);
	if (limit > own) {
		buffer_append_string(&text, ", raised from ");
		text_duration(&text, own);
	}
	if (left >= 0) {
		buffer_append_string(&text, "; a waiting collective has ");
		text_duration(&text, left);
		buffer_append_string(&text, " left");
	}
	doctor_set_reason(reason, text.data, "");
	buffer_clear(&text);
}

/* Requests the time-outs of the process groups from the agent. */
static bool try_watchdog(struct node *node, pid_t pid, struct reason *reason)
{
	const struct process *known = process_table_find(node_process_table(node), pid);
	struct process process = { .pid = pid };
	struct error error = ERROR_INIT;
	json_t *told;

	if (!pdb_finder_can_see(node, pid)) {
		access_refusal_find(reason, pid, errno);
		return false;
	}
	if (!known)
		procfs_owner(node_procfs(node), pid, &process.uid);
	if (!agent_endpoint_exists(pid, known ? known->uid : process.uid)) {
		doctor_set_reason(
			reason,
			"an agent is needed to extend collective timeouts while a rank is stopped",
			"run `probetui inject`");
		return false;
	}
	told = agent_probe(known ? known : &process, "/watchdogs", PROBE_SECONDS, &error);
	if (told)
		explain_groups(told, reason);
	else
		doctor_set_reason(reason, error.message, "");
	json_decref(told);
	return told != NULL;
}

struct row {
	const char *name;
	bool is_optional; /* a failure is not reported as a problem */
	bool (*try)(struct node *node, pid_t pid, struct reason *reason);
	const char *backend; /* the backend that makes this connection; NULL: none */
};

static const struct row ways[] = {
	{ "environ", false, try_environ, NULL },
	{ "read", false, try_read, NULL },
	{ "exact snapshot", false, try_exact, NULL },
	{ "unwind", false, try_unwind, NULL },
	{ "ptrace", false, try_ptrace, NULL },
	{ "perf watches", true, try_watches, NULL },
	{ "stop and step", true, debuggee_probe, NULL },
	{ "pdb socket", true, try_pdb, "pdb" },
	{ "agent", true, try_agent, "http" },
	{ "watchdog", true, try_watchdog, NULL },
};

/* For a process on another machine, a row succeeds only if the row's backend is connected. */
static bool try_elsewhere(struct node *node, pid_t pid, const struct row *row,
			  struct reason *reason)
{
	const struct debugger *debugger = connections_debugger(node_connections(node), pid);

	doctor_set_reason(reason, "the process is on another machine",
			  "run probetui on that machine");
	if (!debugger || !row->backend || strcmp(row->backend, debugger->backend) != 0)
		return false;
	doctor_set_reason(reason, debugger->why ? debugger->why : "", "");
	if (!debugger_is_ours(debugger) || debugger->state == DEBUGGER_CONNECTING)
		return false;
	snprintf(reason->why, sizeof(reason->why), "connected to %s", debugger->target);
	return true;
}

static json_t *try_way(struct node *node, pid_t pid, const struct row *row)
{
	struct reason reason = { .why = "", .fix = "" };
	bool is_here = pid < PROCESS_FIRST_STANDIN;
	bool is_ok =
		is_here ? row->try(node, pid, &reason) : try_elsewhere(node, pid, row, &reason);
	json_t *way = json_object();

	json_set_text(way, "way", row->name);
	json_object_set_new(way, "ok", json_boolean(is_ok));
	json_object_set_new(way, "optional", json_boolean(row->is_optional || !is_here));
	json_set_text(way, "why", reason.why);
	json_set_text(way, "fix", reason.fix);
	return way;
}

json_t *diagnose(struct node *node, pid_t pid)
{
	const struct process *process = process_table_find(node_process_table(node), pid);
	json_t *object = json_object();
	json_t *array = json_array();

	for (size_t i = 0; i < ARRAY_LENGTH(ways); i++)
		json_array_append_new(array, try_way(node, pid, &ways[i]));
	if (process)
		json_object_set_new(object, "rank", json_integer(process->rank));
	else
		json_object_set_new(object, "rank", json_null());
	json_object_set_new(object, "pid", json_integer(pid));
	json_object_set_new(object, "ways", array);
	return object;
}
