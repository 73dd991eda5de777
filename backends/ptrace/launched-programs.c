/*
 * launched-programs: traces a program that may be a rank past three stations:
 *
 *	exec -> its libraries are loaded -> its interpreter is initialised
 *
 * At the second station the program is before its own first instruction, at the third before the
 * first code object that runs when the interpreter can be read. Hardware watches stop the process
 * at the second and at the third station, so neither is missed.
 */
#include "backends/ptrace/launched-programs.h"

#include <elf.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "backends/backend.h"
#include "backends/connections.h"
#include "backends/cpython/bytecode.h"
#include "backends/cpython/cpython.h"
#include "backends/linux/memory.h"
#include "backends/linux/pid-list.h"
#include "backends/linux/procfs.h"
#include "backends/native/loaded-elf.h"
#include "backends/native/registers.h"
#include "backends/node.h"
#include "backends/process-table.h"
#include "backends/ptrace/debuggee.h"
#include "backends/tracer/tracee.h"
#include "banned.h"
#include "base/alloc.h"
#include "base/array.h"
#include "base/error.h"
#include "base/json.h"
#include "base/loop.h"
#include "protocol/debugger.h"
#include "protocol/message.h"
#include "protocol/process.h"
#include "protocol/rankset.h"

/* Maximum number of code objects that run before the interpreter can be read; a few are usual. */
#define TRIES_MAXIMUM 1000

enum station {
	STATION_NONE,	 /* traced only because it may start other programs */
	STATION_LOADING, /* before the program's first instruction */
	STATION_RUNNING, /* before the first code object that runs when the interpreter is
			  * readable */
	STATION_READY,	 /* stopped there; handled in the next turn of the loop */
};

struct follow {
	struct launched_programs *starts;
	struct tracee *tracee;
	pid_t pid;
	enum station station;
	struct memory *memory; /* reads the process's memory; NULL: not opened */
	int tries;
};

struct launched_programs {
	struct node *node;
	json_t *list; /* requested breakpoints; NULL: none */
	struct follow **follows;
	size_t count;
	size_t capacity;
	struct loop_timer *timer; /* runs if a process is STATION_READY or in taken; else NULL */
	pid_t *taken; /* pids of processes whose tracee was taken at STATION_READY; the timer
		       * resumes them */
	size_t taken_count;
	size_t taken_capacity;
	bool was_refused;
};

struct launched_programs *launched_programs_new(struct node *node)
{
	struct launched_programs *starts = xcalloc(1, sizeof(*starts));

	starts->node = node;
	return starts;
}

static void close_memory(struct follow *follow)
{
	memory_free(follow->memory);
	follow->memory = NULL;
}

/* Frees the entry. Its tracee belongs to the caller afterwards. */
static void remove_follow(struct follow *follow)
{
	struct launched_programs *starts = follow->starts;
	size_t kept = 0;

	for (size_t i = 0; i < starts->count; i++)
		if (starts->follows[i] != follow)
			starts->follows[kept++] = starts->follows[i];
	starts->count = kept;
	close_memory(follow);
	free(follow);
}

static void end_follow(struct follow *follow)
{
	struct tracee *tracee = follow->tracee;

	remove_follow(follow);
	tracee_free(tracee);
}

static struct follow *launched_programs_find(const struct launched_programs *starts, pid_t pid)
{
	for (size_t i = 0; i < starts->count; i++)
		if (starts->follows[i]->pid == pid)
			return starts->follows[i];
	return NULL;
}

static void end_all(struct launched_programs *starts)
{
	while (starts->count > 0)
		end_follow(starts->follows[starts->count - 1]);
}

void launched_programs_free(struct launched_programs *starts)
{
	if (!starts)
		return;
	if (starts->timer)
		loop_timer_stop(starts->timer);
	end_all(starts);
	free(starts->follows);
	free(starts->taken);
	json_decref(starts->list);
	free(starts);
}

/*
 * Stations
 */

/*
 * Sets one watch for execution at address (0: removes the watch). Returns -1 if it cannot be set.
 */
static int launched_programs_watch(struct follow *follow, uint64_t address)
{
	struct hardware_watch slots[HARDWARE_WATCH_SLOTS] = { { .access = HARDWARE_WATCH_NONE } };
	struct error error = ERROR_INIT;

	if (address)
		slots[0] = (struct hardware_watch){
			.address = address,
			.length = 8,
			.access = HARDWARE_WATCH_EXECUTE,
		};
	return tracee_watch(follow->tracee, follow->pid, slots, &error);
}

static void leave_station(struct follow *follow)
{
	follow->station = STATION_NONE;
	close_memory(follow);
	launched_programs_watch(follow, 0);
}

static void launched_programs_go_to(struct follow *follow, enum station station, uint64_t address)
{
	follow->station = station;
	if (address == 0 || launched_programs_watch(follow, address) < 0)
		leave_station(follow);
}

static enum tracee_next launched_programs_on_execed(struct tracee *tracee, void *data)
{
	struct follow *follow = data;
	struct procfs *procfs = node_procfs(follow->starts->node);

	(void)tracee;
	follow->station = STATION_NONE;
	close_memory(follow);
	if (entry_point_is_python(procfs, follow->pid))
		launched_programs_go_to(follow, STATION_LOADING,
					entry_point_of_program(procfs, follow->pid));
	return TRACEE_RESUME;
}

static void launched_programs_on_turn(void *data);

static bool launched_programs_is_up(struct follow *follow)
{
	struct loaded_elf_cache *cache = node_elf_cache(follow->starts->node);
	struct error error = ERROR_INIT;
	struct cpython python;

	return cpython_locate(&python, follow->memory, cache, &error) == 0;
}

static enum tracee_next launched_programs_on_trapped(struct tracee *tracee, pid_t tid, int slot,
						     void *data)
{
	struct follow *follow = data;
	struct launched_programs *starts = follow->starts;

	(void)tracee;
	(void)tid;
	(void)slot;
	if (follow->station == STATION_LOADING) {
		follow->memory = memory_new(follow->pid);
		follow->tries = 0;
		launched_programs_go_to(
			follow, STATION_RUNNING,
			entry_point_of_python(follow->memory, node_elf_cache(starts->node)));
		return TRACEE_RESUME;
	}
	if (follow->station != STATION_RUNNING)
		return TRACEE_RESUME;
	if (!launched_programs_is_up(follow)) {
		if (++follow->tries > TRIES_MAXIMUM)
			leave_station(follow);
		return TRACEE_RESUME;
	}
	follow->station = STATION_READY;
	if (!starts->timer)
		starts->timer = loop_timer(node_loop(starts->node), 0, 0, launched_programs_on_turn,
					   starts);
	return TRACEE_STAY;
}

static void launched_programs_on_gone(struct tracee *tracee, void *data)
{
	(void)tracee;
	end_follow(data);
}

static void launched_programs_on_forked(struct tracee *parent, pid_t child, void *data)
{
	struct follow *follow = data;

	launched_programs_forked(follow->starts, parent, child);
}

static struct follow *add_follow(struct launched_programs *starts, pid_t pid)
{
	struct follow *follow = xcalloc(1, sizeof(*follow));

	follow->starts = starts;
	follow->pid = pid;
	ARRAY_GROW(starts->follows, starts->count, starts->capacity);
	starts->follows[starts->count++] = follow;
	return follow;
}

static struct tracee_calls make_calls(struct follow *follow)
{
	return (struct tracee_calls){
		.trapped = launched_programs_on_trapped,
		.execed = launched_programs_on_execed,
		.forked = launched_programs_on_forked,
		.gone = launched_programs_on_gone,
		.data = follow,
	};
}

void launched_programs_forked(struct launched_programs *starts, struct tracee *parent, pid_t child)
{
	struct tracee_calls calls;
	struct follow *follow;

	if (!starts || !starts->list || launched_programs_find(starts, child))
		return;
	follow = add_follow(starts, child);
	calls = make_calls(follow);
	follow->tracee = tracee_adopt(parent, child, &calls);
}

/* Only the first refusal is reported, because the reason is the same for all processes. */
static void launched_programs_say_refusal(struct launched_programs *starts,
					  const struct reason *reason)
{
	struct error error = ERROR_INIT;

	if (starts->was_refused)
		return;
	starts->was_refused = true;
	reason_explain(reason, &error);
	error_prefix(&error, "breakpoints in the start-up of a rank may be missed, as the job "
			     "cannot be traced from its start");
	node_say(starts->node, error.message);
}

void launched_programs_follow(struct launched_programs *starts, pid_t pid)
{
	struct reason reason = { .why = "" };
	struct tracee_calls calls;
	struct follow *follow;

	if (!starts->list || tracee_find(node_waits(starts->node), pid))
		return;
	follow = add_follow(starts, pid);
	calls = make_calls(follow);
	follow->tracee = tracee_new(node_waits(starts->node), pid, &calls, &reason);
	if (follow->tracee)
		return;
	launched_programs_say_refusal(starts, &reason);
	remove_follow(follow);
}

struct tracee *launched_programs_take(struct launched_programs *starts, pid_t pid,
				      const struct tracee_calls *calls)
{
	struct follow *follow = starts ? launched_programs_find(starts, pid) : NULL;
	struct tracee *tracee;

	if (!follow)
		return NULL;
	tracee = follow->tracee;
	/* The process is stopped, so launched_programs_on_turn() has to resume it. */
	if (follow->station == STATION_READY) {
		ARRAY_GROW(starts->taken, starts->taken_count, starts->taken_capacity);
		starts->taken[starts->taken_count++] = pid;
	}
	remove_follow(follow);
	tracee_set_calls(tracee, calls);
	return tracee;
}

/*
 * Breakpoints
 */

static bool launched_programs_is_for(const json_t *breakpoint, int rank)
{
	const char *text = json_get_string(breakpoint, "ranks", NULL);
	struct rankset ranks = RANKSET_INIT;
	bool is_for;

	if (!text)
		return true;
	is_for = rankset_parse(&ranks, text, NULL) == 0 && rankset_contains(&ranks, rank);
	rankset_clear(&ranks);
	return is_for;
}

static json_t *list_for(const struct launched_programs *starts, int rank)
{
	json_t *list = json_array();
	json_t *breakpoint;
	size_t i;

	json_array_foreach(starts->list, i, breakpoint)
	{
		if (launched_programs_is_for(breakpoint, rank))
			json_array_append(list, breakpoint);
	}
	return list;
}

/* Sends `setBreakpoints` to a rank, as the screen does later with the same list. */
static void set_breakpoints(struct launched_programs *starts, const struct process *process)
{
	struct connections *connections = node_connections(starts->node);
	json_t *list = list_for(starts, process->rank);
	struct error error = ERROR_INIT;
	struct connection *connection = NULL;
	struct message request;

	message_make_request(&request, request_kind_name(REQUEST_SET_BREAKPOINTS), json_object());
	request.seq = NODE_NOBODY;
	json_object_set_new(request.body, "pid", json_integer(process->pid));
	json_object_set(request.body, "breakpoints", list);
	if (json_array_size(list) > 0)
		connection = connections_find(connections, process, REQUEST_SET_BREAKPOINTS,
					      &request, &error);
	if (connection)
		connection->backend->send(connection, REQUEST_SET_BREAKPOINTS, &request, &error);
	if (error_is_set(&error)) {
		error_prefix(&error, "pid %d has no breakpoints yet", (int)process->pid);
		node_say(starts->node, error.message);
	}
	message_clear(&request);
	json_decref(list);
}

static struct debuggee *find_control(struct launched_programs *starts, pid_t pid)
{
	struct connection *connection =
		connections_find_debugger(node_connections(starts->node), pid);

	return connection && connection->backend == &control_backend ? (struct debuggee *)connection
								     : NULL;
}

/* Called while the process is stopped before new code runs: binds breakpoints in that code. */
static void launched_programs_enter(struct launched_programs *starts, pid_t pid)
{
	struct debuggee *control = find_control(starts, pid);

	if (control)
		debuggee_starts(control, pid);
}

static void launched_programs_settle(struct launched_programs *starts, struct follow *follow)
{
	struct tracee *tracee = follow->tracee;
	pid_t pid = follow->pid;
	const struct process *process;

	leave_station(follow);
	process = process_table_find(node_process_table(starts->node), pid);
	if (process && process->parent_pid == 0)
		set_breakpoints(starts, process);
	/*
	 * If the entry has gone, set_breakpoints() has given the rank a debugger, which took the
	 * tracee.
	 */
	if (!launched_programs_find(starts, pid))
		launched_programs_enter(starts, pid);
	tracee_resume(tracee, pid);
}

/* Resumes a process that a debugger has taken, unless the user has stopped it meanwhile. */
static void let_go(struct launched_programs *starts, pid_t pid)
{
	struct debuggee *control = find_control(starts, pid);

	if (!control || control->phase != DEBUGGEE_RUNNING)
		return;
	debuggee_starts(control, pid);
	tracee_resume(control->tracee, pid);
}

static struct follow *find_ready(const struct launched_programs *starts)
{
	for (size_t i = 0; i < starts->count; i++)
		if (starts->follows[i]->station == STATION_READY)
			return starts->follows[i];
	return NULL;
}

/*
 * Handles the processes that are STATION_READY or taken. First scans all processes, to know which
 * of them are ranks.
 */
static void launched_programs_on_turn(void *data)
{
	struct launched_programs *starts = data;
	struct follow *follow;

	loop_timer_stop(starts->timer);
	starts->timer = NULL;
	process_table_look(node_process_table(starts->node));
	while (starts->taken_count > 0)
		let_go(starts, starts->taken[--starts->taken_count]);
	while ((follow = find_ready(starts)))
		launched_programs_settle(starts, follow);
	node_flush(starts->node);
}

static void follow_all(struct launched_programs *starts, pid_t root)
{
	struct pid_list list = { .pids = NULL };

	if (root > 0)
		process_tree_list(node_procfs(starts->node), root, &list);
	for (size_t i = 0; i < list.count; i++)
		launched_programs_follow(starts, list.pids[i]);
	pid_list_clear(&list);
}

int launched_programs_set(struct launched_programs *starts, const json_t *list, pid_t root,
			  struct error *error)
{
	bool was_on = starts->list != NULL;

	if (breakpoints_check(list, error) < 0)
		return -1;
	json_decref(starts->list);
	starts->list = NULL;
	if (json_array_size(list) == 0) {
		end_all(starts);
		return 0;
	}
	starts->list = json_deep_copy(list);
	if (!was_on)
		follow_all(starts, root);
	return 0;
}

#define FUNCTION "PyEval_EvalCode"

bool entry_point_is_python(struct procfs *procfs, pid_t pid)
{
	char path[PATH_MAX];
	const char *name;

	if (procfs_link(procfs, pid, "exe", path, sizeof(path)) < 0)
		return false;
	name = strrchr(path, '/');
	name = name ? name + 1 : path;
	return strstr(name, "python") || strstr(name, "pypy");
}

uint64_t entry_point_of_program(struct procfs *procfs, pid_t pid)
{
	Elf64_auxv_t entry;
	char *bytes;
	ssize_t length = procfs_read(procfs, pid, "auxv", &bytes, NULL);

	for (ssize_t at = 0; at + (ssize_t)sizeof(entry) <= length; at += (ssize_t)sizeof(entry)) {
		memcpy(&entry, bytes + at, sizeof(entry));
		if (entry.a_type == AT_ENTRY)
			return entry.a_un.a_val;
	}
	return 0;
}

struct search {
	struct memory *memory;
	uint64_t address;
};

static bool entry_point_look(struct loaded_elf_image *image, const char *name, void *data)
{
	struct search *search = data;

	/* Of the libraries, only libpython… has the function: the others are not searched. */
	if (!strstr(name, "python"))
		return true;
	return loaded_elf_symbol(image, search->memory, FUNCTION, &search->address) < 0;
}

uint64_t entry_point_of_python(struct memory *memory, struct loaded_elf_cache *cache)
{
	struct search search = { .memory = memory };
	struct loaded_elf_image program;

	memory_begin(memory, false);
	if (loaded_elf_program(&program, memory, cache) < 0)
		return 0;
	if (loaded_elf_symbol(&program, memory, FUNCTION, &search.address) < 0)
		loaded_elf_each_library(&program, memory, entry_point_look, &search);
	return search.address;
}

/*
 * Called when the interpreter is about to run a new code object: a module's body, the main script
 * or the argument of exec(). All of these are passed to PyEval_EvalCode(), whose first argument is
 * the code object.
 */
void debuggee_starts(struct debuggee *control, pid_t tid)
{
	struct registers registers;
	int argument = registers_first_argument();

	if (!control->is_python || tracee_registers(control->tracee, tid, &registers) < 0 ||
	    !registers_has(&registers, argument))
		return;
	/* The new code object may have the same address as a cached code object that was freed. */
	bytecode_cache_age(control->bytecodes);
	memory_begin(control->memory, false);
	breakpoint_table_starts(control->breaks, registers.values[argument]);
	if (!debuggee_watch_request(control))
		return;
	debuggee_arm_all(control);
	debuggee_tell_again(control);
	debuggee_settle(control);
	node_flush(control->base.node);
}

bool debuggee_start_watch(const struct debuggee *control, struct hardware_watch *watch)
{
	*watch = (struct hardware_watch){
		.address = control->python.eval_code,
		.length = 8,
		.access = HARDWARE_WATCH_EXECUTE,
	};
	return control->python.eval_code && breakpoint_table_are_pending(control->breaks);
}
