#include "backends/process-table.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "backends/backend.h"
#include "backends/connections.h"
#include "backends/discover/discover.h"
#include "backends/discover/exe-cache.h"
#include "backends/discover/process-info.h"
#include "backends/launch/launch.h"
#include "backends/linux/exit-watch.h"
#include "backends/linux/pid-list.h"
#include "backends/linux/procfs.h"
#include "backends/node.h"
#include "backends/pdb/pdb-finder.h"
#include "backends/sampler.h"
#include "backends/tracer/tracee.h"
#include "banned.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/json.h"
#include "base/loop.h"
#include "base/map.h"
#include "protocol/debugger.h"
#include "protocol/process.h"
#include "protocol/rankset.h"
#include "protocol/sample.h"

/* Number of exited processes whose source paths are remembered; older ones are forgotten. */
#define PAST_FILES_MAXIMUM 64

/* Seconds between two scans while a job that this node has launched runs. */
#define LAUNCHED_SECONDS 0.1
/* The pause after a scan is at least REST times the duration of the scan. */
#define REST 20

struct member {
	struct process process;
	struct exit_watch *exit; /* waits for the exit; NULL: the process is not followed, or cannot
				  * be */
	struct stack_files *files;
	uint64_t epoch;	 /* number of the newest sample, counted over all connections of the
			  * process */
	bool is_adopted; /* became a rank because the user has named it as a target (`connect`) */
	bool is_over;	 /* a stand-in (for a process on another machine) whose debugger has
			  * disconnected */
};

struct process_table {
	struct node *node;
	struct map *members;
	struct discovery discovery; /* results of the last scan */
	struct exe_cache *exes;
	int unread;		  /* errno of a file that the last scan could not read; 0: none */
	struct loop_timer *timer; /* repeats the scan; NULL: processes are not followed */
	double rested_at;	  /* earliest time of the next scan, on the clock of loop_now() */
	bool is_named;		  /* only the processes in pids are followed */
	struct pid_list pids;
	struct stack_files *past[PAST_FILES_MAXIMUM]; /* ring buffer: files of exited processes */
	size_t past_count;			      /* number of entries written since the
						       * start */
	struct loop_timer *over_timer;		      /* removes members with is_over; NULL: there
						       * are none */
};

static void free_member(void *value)
{
	struct member *member = value;

	exit_watch_free(member->exit);
	stack_files_free(member->files);
	process_clear(&member->process);
	free(member);
}

struct process_table *process_table_new(struct node *node)
{
	struct process_table *process_table = xcalloc(1, sizeof(*process_table));

	process_table->node = node;
	process_table->members = map_new(free_member);
	process_table->exes = exe_cache_new();
	return process_table;
}

static void stop_following(struct process_table *process_table)
{
	if (process_table->timer)
		loop_timer_stop(process_table->timer);
	process_table->timer = NULL;
	pid_list_clear(&process_table->pids);
}

void process_table_free(struct process_table *process_table)
{
	if (!process_table)
		return;
	stop_following(process_table);
	if (process_table->over_timer)
		loop_timer_stop(process_table->over_timer);
	discovery_clear(&process_table->discovery);
	exe_cache_free(process_table->exes);
	for (size_t i = 0; i < PAST_FILES_MAXIMUM; i++)
		stack_files_free(process_table->past[i]);
	map_free(process_table->members);
	free(process_table);
}

static struct member *find(const struct process_table *process_table, pid_t pid)
{
	return map_find(process_table->members, (uint64_t)pid);
}

const struct process *process_table_find(const struct process_table *process_table, pid_t pid)
{
	struct member *member = find(process_table, pid);

	return member ? &member->process : NULL;
}

int process_table_miss(pid_t pid, struct error *error)
{
	if (pid >= PROCESS_FIRST_STANDIN)
		return error_set(
			error,
			"the debugger of the process on another machine is no longer connected");
	return error_set(error, "process %d is not one of the processes found; it may have exited",
			 (int)pid);
}

static bool is_standin(const struct member *member)
{
	return member->process.pid >= PROCESS_FIRST_STANDIN;
}

static void process_table_tell(struct process_table *process_table, enum event_kind event,
			       struct member *member)
{
	struct process *process = &member->process;

	if (process->start_time)
		process->age = procfs_age(process->start_time);
	node_emit(process_table->node, event, process_to_json(process));
}

/* Returns why the connection to the debugger of a stand-in was lost. */
static char *describe_loss(struct process_table *process_table, pid_t pid)
{
	const struct debugger *debugger =
		connections_debugger(node_connections(process_table->node), pid);

	return xstrdup(debugger && debugger->why ? debugger->why
						 : "the debugger is no longer connected");
}

/*
 * Keeps an exited rank's source paths: the user may still view these files, read by another rank.
 */
static void keep_files(struct process_table *process_table, struct member *member)
{
	struct stack_files **slot =
		&process_table->past[process_table->past_count++ % PAST_FILES_MAXIMUM];

	stack_files_free(*slot);
	*slot = member->files;
	member->files = NULL;
}

static void remove_member(struct process_table *process_table, struct member *member)
{
	struct process *process = &member->process;
	pid_t pid = process->pid;
	struct exit_status status = { .code = -1 };
	char *end;

	if (is_standin(member)) {
		end = describe_loss(process_table, pid);
	} else {
		status = exit_status_read(member->exit, node_procfs(process_table->node), pid,
					  process->start_time);
		end = exit_status_describe(status);
	}
	/* Closing the connections answers the pending requests before `rankRemoved` is sent. */
	connections_close(node_connections(process_table->node), pid);
	process->state = PROCESS_EXITED;
	process->exit_code = status.code;
	process->exit_signal = status.signal;
	free(process->error);
	process->error = end;
	process_table_tell(process_table, EVENT_RANK_REMOVED, member);
	keep_files(process_table, member);
	map_remove(process_table->members, (uint64_t)pid);
}

static void process_table_on_ended(pid_t pid, void *data)
{
	struct process_table *process_table = data;
	struct member *member = find(process_table, pid);

	if (member)
		remove_member(process_table, member);
	node_flush(process_table->node);
}

static void follow_member(struct process_table *process_table, struct member *member)
{
	if (!process_table->timer || member->exit || member->process.start_time == 0)
		return;
	member->exit = exit_watch_new(node_loop(process_table->node), member->process.pid,
				      process_table_on_ended, process_table);
}

/* Sets the state (readable or not) and the version of Python. */
static void open_member(struct process_table *process_table, struct member *member)
{
	struct process *process = &member->process;
	struct error error = ERROR_INIT;
	struct connection *connection;

	if (is_standin(member) || (process->error && process->state == PROCESS_UNREADABLE))
		return;
	connection = connections_open(node_connections(process_table->node), process, &error);
	if (!connection) {
		process->state = PROCESS_UNREADABLE;
		free(process->error);
		process->error = xstrdup(error.message);
		return;
	}
	free(process->python);
	process->python = xstrdup(connection->version);
}

static bool process_table_is_same(const struct process *a, const struct process *b)
{
	const char *error = a->error ? a->error : "";

	return a->rank == b->rank && a->parent_pid == b->parent_pid && a->state == b->state &&
	       a->world_size == b->world_size && strcmp(a->python, b->python) == 0 &&
	       strcmp(a->script, b->script) == 0 && strcmp(error, b->error ? b->error : "") == 0;
}

/*
 * Updates a known process with the results of a scan. What a later scan cannot know is kept: the
 * role of a child that was learnt from its stack, and a launcher that has ended.
 */
static void update_member(struct process_table *process_table, struct member *member,
			  const struct process *found, bool is_asked)
{
	struct process before = member->process;
	char *role = before.role;

	process_init(&member->process);
	process_copy(&member->process, found);
	/* The rank number that `connect` has given the process is kept: a scan does not know it. */
	if (member->is_adopted)
		member->process.rank = before.rank;
	if (role && found->role && strcmp(found->role, "child") == 0) {
		free(member->process.role);
		member->process.role = xstrdup(role);
	}
	/* A launcher that has ended is no ancestor any more, and still the launcher. */
	if (found->launcher_pid == 0 && before.launcher_pid != 0) {
		member->process.launcher_pid = before.launcher_pid;
		free(member->process.launcher);
		member->process.launcher = xstrdup(before.launcher);
	}
	open_member(process_table, member);
	if (is_asked)
		process_table_tell(process_table, EVENT_RANK_ADDED, member);
	else if (!process_table_is_same(&before, &member->process))
		process_table_tell(process_table, EVENT_RANK_CHANGED, member);
	process_clear(&before);
}

/*
 * True if the process is alive and readable. Other processes are reported only if the scan serves a
 * request.
 */
static bool process_table_is_there(const struct process *found)
{
	return found->start_time != 0 && found->state != PROCESS_UNREADABLE;
}

static struct member *add_member(struct process_table *process_table, const struct process *found)
{
	struct member *member = xcalloc(1, sizeof(*member));

	member->files = stack_files_new();
	process_init(&member->process);
	process_copy(&member->process, found);
	map_put(process_table->members, (uint64_t)found->pid, member);
	open_member(process_table, member);
	process_table_tell(process_table, EVENT_RANK_ADDED, member);
	return member;
}

static void take_found(struct process_table *process_table, const struct process *found,
		       bool is_asked)
{
	struct member *member = find(process_table, found->pid);

	if (member && is_standin(member))
		return;
	/*
	 * The scan could not read the process, which need not have exited: the known values are
	 * kept.
	 */
	if (member && member->process.start_time != 0 && found->start_time == 0) {
		if (is_asked)
			process_table_tell(process_table, EVENT_RANK_ADDED, member);
		return;
	}
	if (member && member->process.start_time != found->start_time &&
	    member->process.start_time != 0) {
		remove_member(process_table, member);
		member = NULL;
	}
	if (member) {
		update_member(process_table, member, found, is_asked);
	} else if (is_asked || process_table_is_there(found)) {
		member = add_member(process_table, found);
	}
	if (member)
		follow_member(process_table, member);
}

/*
 * Removes a process that was reported as a rank, but is a launcher: its children are the ranks. The
 * state in `rankRemoved` is not PROCESS_EXITED, because the process has not exited.
 */
static void take_back(struct process_table *process_table, pid_t pid)
{
	struct member *member = find(process_table, pid);

	if (!member || member->is_adopted)
		return;
	process_table_tell(process_table, EVENT_RANK_REMOVED, member);
	map_remove(process_table->members, (uint64_t)pid);
}

static void list_member(uint64_t pid, void *value, void *data)
{
	(void)value;
	pid_list_add(data, (pid_t)pid);
}

void process_table_list(const struct process_table *process_table, struct pid_list *pids)
{
	map_each(process_table->members, list_member, pids);
}

static bool has_ended(struct process_table *process_table, const struct member *member)
{
	struct procfs_stat stat;

	if (!member || member->process.start_time == 0)
		return false;
	/* Errors like EMFILE do not mean that the process has exited. */
	if (procfs_stat(node_procfs(process_table->node), member->process.pid, &stat) < 0)
		return procfs_is_gone(errno);
	return stat.start_time != member->process.start_time || procfs_has_ended(&stat);
}

bool process_table_check(struct process_table *process_table, pid_t pid)
{
	struct member *member = find(process_table, pid);

	if (!has_ended(process_table, member))
		return false;
	/* Of several that end at once, the pidfds tell the order. */
	if (!member->exit)
		remove_member(process_table, member);
	return true;
}

void process_table_check_now(struct process_table *process_table, pid_t pid)
{
	struct member *member = find(process_table, pid);

	if (has_ended(process_table, member))
		remove_member(process_table, member);
}

void process_table_release(struct process_table *process_table)
{
	struct connections *connections = node_connections(process_table->node);
	struct pid_list list = { .pids = NULL };

	process_table_list(process_table, &list);
	for (size_t i = 0; i < list.count; i++) {
		struct connection *connection =
			connections_find_debugger(connections, list.pids[i]);

		if (connection)
			connections_disconnect(connections, connection);
	}
	pid_list_clear(&list);
}

static void check_all(struct process_table *process_table)
{
	struct pid_list list = { .pids = NULL };

	process_table_list(process_table, &list);
	for (size_t i = 0; i < list.count; i++)
		process_table_check(process_table, list.pids[i]);
	pid_list_clear(&list);
}

void process_table_adopt(struct process_table *process_table, const struct process *process)
{
	struct member *member = add_member(process_table, process);

	member->is_adopted = true;
	follow_member(process_table, member);
}

static void on_over(void *data)
{
	struct process_table *process_table = data;
	struct pid_list list = { .pids = NULL };

	loop_timer_stop(process_table->over_timer);
	process_table->over_timer = NULL;
	process_table_list(process_table, &list);
	for (size_t i = 0; i < list.count; i++) {
		struct member *member = find(process_table, list.pids[i]);

		if (member->is_over)
			remove_member(process_table, member);
	}
	pid_list_clear(&list);
	node_flush(process_table->node);
}

void process_table_end_standin(struct process_table *process_table, pid_t pid)
{
	struct member *member = find(process_table, pid);

	if (!member || !is_standin(member))
		return;
	member->is_over = true;
	if (!process_table->over_timer)
		process_table->over_timer =
			loop_timer(node_loop(process_table->node), 0, 0, on_over, process_table);
}

struct telling {
	struct process_table *process_table;
	const struct discovery *discovery;
};

/* Reports an adopted process that the scan did not find and so did not report. */
static void process_table_tell_again(uint64_t pid, void *value, void *data)
{
	const struct telling *telling = data;
	struct member *member = value;

	if (!member->is_adopted)
		return;
	for (size_t i = 0; i < telling->discovery->count; i++)
		if ((uint64_t)telling->discovery->processes[i].pid == pid && !is_standin(member))
			return;
	process_table_tell(telling->process_table, EVENT_RANK_ADDED, member);
	follow_member(telling->process_table, member);
}

static void note_number(uint64_t pid, void *value, void *data)
{
	const struct member *member = value;

	(void)pid;
	if (member->is_adopted)
		rankset_add(data, member->process.rank);
}

/* Returns the rank's number from an earlier scan, unless taken now; -1: the process is new. */
static int known_number(const struct process_table *process_table, const struct process *found,
			const struct rankset *taken)
{
	const struct member *member = find(process_table, found->pid);

	if (!member || member->process.start_time != found->start_time ||
	    member->process.parent_pid != 0 || rankset_contains(taken, member->process.rank))
		return -1;
	return member->process.rank;
}

/* Returns a free number that no rank of the world has, if the number of ranks is known. */
static int free_number(const struct process *process, const struct rankset *taken)
{
	int number = process->world_size > 0 ? process->world_size : 0;

	while (rankset_contains(taken, number))
		number++;
	return number <= RANKSET_MAXIMUM ? number : 0;
}

/* Adds the numbers of the ranks of the process's job. */
static void add_taken(const struct discovery *discovery, const struct process *process,
		      struct rankset *taken)
{
	for (size_t i = 0; i < discovery->count; i++) {
		const struct process *other = &discovery->processes[i];

		if (other->rank >= 0 && process_is_same_job(other, process))
			rankset_add(taken, other->rank);
	}
}

/* Gives a number to each rank without one: is_new: a free one; else that of an earlier scan. */
static void number_ranks(struct process_table *process_table, bool is_new)
{
	struct discovery *discovery = &process_table->discovery;

	for (size_t i = 0; i < discovery->count; i++) {
		struct process *process = &discovery->processes[i];
		struct rankset taken = RANKSET_INIT;

		if (process->rank >= 0 || process->parent_pid != 0)
			continue;
		add_taken(discovery, process, &taken);
		process->rank = is_new ? free_number(process, &taken)
				       : known_number(process_table, process, &taken);
		rankset_clear(&taken);
	}
}

static int process_table_number_of(const struct discovery *discovery, pid_t pid)
{
	for (size_t i = 0; i < discovery->count; i++)
		if (discovery->processes[i].pid == pid)
			return discovery->processes[i].rank;
	return -1;
}

/*
 * Gives a number to each rank without one: such ranks are processes of a job that this node has
 * launched, or another rank of their job has their number. Children get the number of their rank.
 */
static void number_all(struct process_table *process_table)
{
	struct discovery *discovery = &process_table->discovery;
	struct process *processes = discovery->processes;

	number_ranks(process_table, false);
	number_ranks(process_table, true);
	for (size_t i = 0; i < discovery->count; i++)
		if (processes[i].parent_pid != 0)
			processes[i].rank =
				process_table_number_of(discovery, processes[i].parent_pid);
}

/*
 * Sets the state of processes that this node has stopped to PROCESS_LIVE: the events of their
 * debugger report the stop.
 */
static void look_past_our_stops(struct process_table *process_table)
{
	const struct waits *waits = node_waits(process_table->node);

	for (size_t i = 0; i < process_table->discovery.count; i++) {
		struct process *process = &process_table->discovery.processes[i];

		if (process->state == PROCESS_STOPPED && tracee_is_ours(waits, process->pid))
			process->state = PROCESS_LIVE;
	}
}

static void attend(uint64_t pid, void *value, void *data)
{
	const struct member *member = value;
	struct process_table *process_table = data;

	(void)pid;
	if (!is_standin(member))
		connections_attend(node_connections(process_table->node), &member->process);
}

const char *process_table_unread(const struct process_table *process_table)
{
	return process_table->unread ? strerror(process_table->unread) : NULL;
}

static void process_table_tell_unread(struct process_table *process_table)
{
	json_t *body = json_object();

	json_object_set_new(body, "hidden",
			    json_integer((json_int_t)process_table->discovery.hidden));
	json_set_text(body, "unread", process_table_unread(process_table));
	node_emit(process_table->node, EVENT_UNREAD, body);
}

static void look_at_all(struct process_table *process_table, bool is_asked)
{
	struct procfs *procfs = node_procfs(process_table->node);
	struct environment_reader reader =
		connections_environment_reader(node_connections(process_table->node));

	exe_cache_begin(process_table->exes, procfs, is_asked);
	discover_all(&process_table->discovery, procfs, &reader, process_table->exes,
		     launch_root(node_launch(process_table->node)));
}

/*
 * Scans the processes in pids (NULL: all processes). Reports the differences to the last scan; if
 * is_asked, reports all processes.
 */
static void look(struct process_table *process_table, const struct pid_list *pids, bool is_asked)
{
	struct connections *connections = node_connections(process_table->node);
	struct environment_reader reader = connections_environment_reader(connections);
	struct procfs *procfs = node_procfs(process_table->node);
	struct rankset taken = RANKSET_INIT;
	size_t hidden = process_table->discovery.hidden;
	int unread = process_table->unread;

	procfs->unread = 0;
	check_all(process_table);
	connections_tidy(connections);
	discovery_clear(&process_table->discovery);
	map_each(process_table->members, note_number, &taken);
	if (pids)
		discover_pids(&process_table->discovery, procfs, &reader, pids, &taken);
	else
		look_at_all(process_table, is_asked);
	rankset_clear(&taken);
	look_past_our_stops(process_table);
	number_all(process_table);
	for (size_t i = 0; i < process_table->discovery.launchers.count; i++)
		take_back(process_table, process_table->discovery.launchers.pids[i]);
	for (size_t i = 0; i < process_table->discovery.count; i++)
		take_found(process_table, &process_table->discovery.processes[i], is_asked);
	if (is_asked)
		map_each(process_table->members, process_table_tell_again,
			 &(struct telling){ process_table, &process_table->discovery });
	pdb_finder_look(node_finder(process_table->node), is_asked);
	process_table->unread = procfs->unread;
	/* Not sent for a request, whose answer contains both numbers. */
	if (!is_asked &&
	    (process_table->unread != unread || process_table->discovery.hidden != hidden))
		process_table_tell_unread(process_table);
	if (process_table->timer)
		map_each(process_table->members, attend, process_table);
}

void process_table_look(struct process_table *process_table)
{
	look(process_table, process_table->is_named ? &process_table->pids : NULL, false);
}

static void process_table_on_look(void *data)
{
	struct process_table *process_table = data;
	double begun = loop_now();

	if (begun < process_table->rested_at)
		return;
	process_table_look(process_table);
	process_table->rested_at = loop_now() + (loop_now() - begun) * REST;
	node_flush(process_table->node);
}

/* While a launched job runs, the period is at most 0.1 s, so that its ranks are found soon. */
static double choose_period(const struct process_table *process_table, double period)
{
	return launch_root(node_launch(process_table->node)) > 0 && period > LAUNCHED_SECONDS
		       ? LAUNCHED_SECONDS
		       : period;
}

const struct discovery *process_table_discover(struct process_table *process_table,
					       const struct pid_list *pids, double period)
{
	stop_following(process_table);
	if (period > 0) {
		period = choose_period(process_table, period);
		process_table->timer = loop_timer(node_loop(process_table->node), period, period,
						  process_table_on_look, process_table);
		process_table->is_named = pids != NULL;
		for (size_t i = 0; pids && i < pids->count; i++)
			pid_list_add(&process_table->pids, pids->pids[i]);
	}
	look(process_table, pids, true);
	return &process_table->discovery;
}

bool process_table_has_file(const struct process_table *process_table, pid_t pid, const char *path)
{
	const struct member *member = find(process_table, pid);

	if (member && stack_files_has(member->files, path))
		return true;
	for (size_t i = 0; i < PAST_FILES_MAXIMUM; i++)
		if (process_table->past[i] && stack_files_has(process_table->past[i], path))
			return true;
	return false;
}

const struct stack_files *process_table_files(const struct process_table *process_table, pid_t pid)
{
	const struct member *member = find(process_table, pid);

	return member ? member->files : NULL;
}

void process_table_count(struct process_table *process_table, struct process_sample *sample)
{
	struct member *member = find(process_table, sample->pid);

	/* A failed sample (epoch 0) is not counted. */
	if (member && sample->epoch > 0)
		sample->epoch = ++member->epoch;
}

static void reset_files(uint64_t pid, void *value, void *data)
{
	struct member *member = value;

	(void)pid;
	(void)data;
	stack_files_reset(member->files);
}

void process_table_forget_files(struct process_table *process_table)
{
	map_each(process_table->members, reset_files, NULL);
}

void process_table_learn(struct process_table *process_table, const struct process_sample *sample)
{
	struct member *member = find(process_table, sample->pid);
	const char *role;

	if (member)
		stack_files_note(member->files, sample);
	if (!member || !member->process.role || sample->thread_count == 0 ||
	    !sample->threads[0].stack || strcmp(member->process.role, "child") != 0)
		return;
	role = child_kind_of_stack(sample->threads[0].stack);
	if (!role)
		return;
	free(member->process.role);
	member->process.role = xstrdup(role);
	process_table_tell(process_table, EVENT_RANK_CHANGED, member);
}
