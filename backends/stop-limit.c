#include "backends/stop-limit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "backends/backend.h"
#include "backends/collective-deadline.h"
#include "backends/connections.h"
#include "backends/discover/torch.h"
#include "backends/linux/pid-list.h"
#include "backends/node.h"
#include "backends/process-table.h"
#include "backends/sampler.h"
#include "backends/timeout-extension.h"
#include "banned.h"
#include "base/alloc.h"
#include "base/array.h"
#include "base/buffer.h"
#include "base/error.h"
#include "base/json.h"
#include "base/loop.h"
#include "base/map.h"
#include "base/text.h"
#include "protocol/debugger.h"
#include "protocol/message.h"
#include "protocol/process.h"
#include "protocol/rankset.h"
#include "protocol/sample.h"
#include "protocol/stack.h"

#define LOOK_SECONDS 0.5
/* If ranks stop again within this number of seconds after a resume, their assumed deadlines are
 * kept. */
#define AGAIN_SECONDS 5.0
/* Seconds; if the resume is further away, its time is not reported. */
#define TOLD_SECONDS (12 * 3600.0)
#define CHANGE_SECONDS 1.0
#define TORCH_SECONDS 1800.0
#define COLLECTIVES "/torch/distributed/distributed_c10d.py"

struct rank_entry {
	bool was_listed; /* the rank was in the process table; debugger events may come earlier */
	bool is_stopped;
	bool is_refused; /* `continue` has failed since the rank was stopped */
	char *why;	 /* reason for which this module has resumed the rank, a sentence; NULL: the
			  * rank is stopped, or a request has resumed it */
	bool has_torch;
	bool is_torch_known;
	double main_deadline;  /* deadline for which the main thread was sampled; 0: not sampled */
	bool is_in_collective; /* in that sample the main thread is in a collective */
};

struct job {
	char *name;
	struct stop_clock clock;
	bool is_held;	  /* a rank of the job is stopped now */
	double held_last; /* time of the last pass with is_held */
	double announced; /* time of the last stop_limit_announce(); 0: none */
	double told;	  /* last reported time of the next resume; INFINITY: none */
	/* Last reported seconds until the first collective times out, while the user keeps ranks
	 * stopped; -1: none. */
	double told_end;
	bool stays; /* the ranks that are stopped now are not resumed ("stay": "once") */
};

struct stop_limit {
	struct node *node;
	struct map *ranks; /* by pid */
	struct job *jobs;
	size_t job_count;
	size_t job_capacity;
	struct loop_timer *timer; /* runs the passes; NULL: no rank is stopped */
	bool stays;		  /* this module resumes no rank */
};

static void free_rank(void *value)
{
	struct rank_entry *rank = value;

	free(rank->why);
	free(rank);
}

struct stop_limit *stop_limit_new(struct node *node)
{
	struct stop_limit *limit = xcalloc(1, sizeof(*limit));

	limit->node = node;
	limit->ranks = map_new(free_rank);
	return limit;
}

void stop_limit_free(struct stop_limit *limit)
{
	if (!limit)
		return;
	if (limit->timer)
		loop_timer_stop(limit->timer);
	for (size_t i = 0; i < limit->job_count; i++) {
		stop_clock_clear(&limit->jobs[i].clock);
		free(limit->jobs[i].name);
	}
	free(limit->jobs);
	map_free(limit->ranks);
	free(limit);
}

static struct rank_entry *stop_limit_find_rank(const struct stop_limit *limit, pid_t pid)
{
	return map_find(limit->ranks, (uint64_t)pid);
}

static struct rank_entry *take_rank(struct stop_limit *limit, pid_t pid)
{
	struct rank_entry *rank = stop_limit_find_rank(limit, pid);

	if (!rank) {
		rank = xcalloc(1, sizeof(*rank));
		map_put(limit->ranks, (uint64_t)pid, rank);
	}
	return rank;
}

static struct job *find_job(struct stop_limit *limit, const char *name)
{
	for (size_t i = 0; i < limit->job_count; i++)
		if (strcmp(limit->jobs[i].name, name) == 0)
			return &limit->jobs[i];
	return NULL;
}

static struct job *take_job(struct stop_limit *limit, const char *name)
{
	struct job *job = find_job(limit, name);

	if (job)
		return job;
	ARRAY_GROW(limit->jobs, limit->job_count, limit->job_capacity);
	job = &limit->jobs[limit->job_count++];
	*job = (struct job){ .name = xstrdup(name), .told = INFINITY, .told_end = -1 };
	return job;
}

/* Returns the process if it is a rank of a job with several ranks; else NULL. */
static const struct process *stop_limit_find_peer(const struct stop_limit *limit, pid_t pid)
{
	const struct process_table *process_table = node_process_table(limit->node);
	const struct process *process =
		process_table ? process_table_find(process_table, pid) : NULL;

	return process && !process->role && process->world_size != 1 ? process : NULL;
}

/*
 * Deadlines of a job
 */

/*
 * True if the main thread waits in gloo's send or recv with this deadline. Takes a new sample of
 * the rank if the last one was for another deadline.
 */
static bool is_in_collective(struct stop_limit *limit, pid_t pid, double deadline)
{
	struct rank_entry *rank = take_rank(limit, pid);

	if (fabs(rank->main_deadline - deadline) > LOOK_SECONDS / 10) {
		rank->main_deadline = deadline;
		rank->is_in_collective = false;
		sampler_take(node_sampler(limit->node), pid);
		rank = take_rank(limit, pid);
	}
	return rank->is_in_collective;
}

static bool has_torch(struct stop_limit *limit, const struct process *process)
{
	struct rank_entry *rank = take_rank(limit, process->pid);
	char *version;

	if (rank->is_torch_known)
		return rank->has_torch;
	version = torch_version(node_procfs(limit->node), process);
	rank->has_torch = version != NULL;
	rank->is_torch_known = true;
	free(version);
	return rank->has_torch;
}

/*
 * Returns the time-out in seconds of collectives whose deadlines cannot be read, because they are
 * in no system call (NCCL); -1: no such collectives.
 */
static double assumed_seconds(struct stop_limit *limit, const struct process *process,
			      const struct deadlines *deadlines)
{
	double told = timeout_extension_limit(node_timeout_extension(limit->node), process->pid);

	if (deadlines->has_gloo && !deadlines->has_nccl)
		return -1;
	if (told >= 0)
		return told;
	if (process->pid >= PROCESS_FIRST_STANDIN)
		return TORCH_SECONDS;
	return has_torch(limit, process) ? collective_timeout_seconds_of(process->pid) : -1;
}

static void see_rank(struct stop_limit *limit, struct job *job, const struct process *process,
		     double now)
{
	const struct rank_entry *rank = stop_limit_find_rank(limit, process->pid);
	bool is_stopped = rank && rank->is_stopped;
	struct deadlines deadlines = { .count = 0 };
	double seconds;

	if (process->pid < PROCESS_FIRST_STANDIN)
		deadlines_read(&deadlines, process->pid);
	for (size_t i = 0; i < deadlines.count; i++) {
		const struct collective_deadline *wait = &deadlines.waits[i];

		if (wait->is_main &&
		    (is_stopped || !is_in_collective(limit, process->pid, wait->at)))
			continue;
		stop_clock_see(&job->clock, process->pid, wait->tid, wait->at, now);
	}
	seconds = is_stopped ? -1 : assumed_seconds(limit, process, &deadlines);
	if (seconds >= 0)
		stop_clock_assume(&job->clock, process->pid, seconds, now);
}

/* Assumes a deadline if ranks of the job are on other machines, where deadlines cannot be read. */
static void assume_absent(struct stop_limit *limit, struct job *job, const struct process *stopped,
			  int present, double now)
{
	if (present < stopped->world_size && has_torch(limit, stopped))
		stop_clock_assume(&job->clock, stopped->pid,
				  collective_timeout_seconds_of(stopped->pid), now);
}

static void see_job(struct stop_limit *limit, struct job *job, const struct pid_list *pids,
		    double now)
{
	const struct process *stopped = NULL;
	int present = 0;

	stop_clock_begin(&job->clock);
	for (size_t i = 0; i < pids->count; i++) {
		const struct process *process = stop_limit_find_peer(limit, pids->pids[i]);
		const struct rank_entry *rank;

		if (!process || strcmp(process->job, job->name) != 0)
			continue;
		present++;
		see_rank(limit, job, process, now);
		rank = stop_limit_find_rank(limit, pids->pids[i]);
		if (rank && rank->is_stopped)
			stopped = process;
	}
	stop_clock_end(&job->clock);
	if (stopped)
		assume_absent(limit, job, stopped, present, now);
}

void stop_limit_sampled(struct stop_limit *limit, const struct process_sample *sample)
{
	struct rank_entry *rank = stop_limit_find_rank(limit, sample->pid);
	const struct stack *stack = NULL;

	if (!rank)
		return;
	for (size_t i = 0; i < sample->thread_count; i++)
		if (sample->threads[i].tid == sample->pid)
			stack = sample->threads[i].stack;
	rank->is_in_collective = false;
	for (size_t i = 0; stack && i < stack->frame_count; i++)
		if (strstr(stack->frames[i].code->file, COLLECTIVES))
			rank->is_in_collective = true;
}

/*
 * Resuming
 */

static char *stop_limit_explain(const struct stop_limit *limit, const struct stop_clock_wait *wait,
				const struct process *resumed, double now)
{
	const struct process *waiting = stop_limit_find_peer(limit, wait->pid);
	struct buffer text = BUFFER_INIT;
	double left = wait->deadline > now ? wait->deadline - now : 0;

	if (wait->tid == 0) {
		buffer_append_string(&text,
				     "collectives of the job are assumed to time out after ");
		text_duration(&text, wait->deadline - wait->seen);
		buffer_append_string(&text, ": ");
	} else {
		buffer_printf(&text, "rank %d waits in a collective that times out in %.1f s: ",
			      waiting ? waiting->rank : -1, left);
	}
	buffer_printf(&text,
		      "rank %d is resumed so that the job continues (use `set hold stay` to keep "
		      "the rank stopped)",
		      resumed->rank);
	return buffer_take(&text);
}

static int stop_limit_resume(struct stop_limit *limit, const struct process *process,
			     struct error *error)
{
	struct connection *connection;
	json_t *arguments = json_object();
	struct message request;
	int result = -1;

	json_object_set_new(arguments, "pid", json_integer(process->pid));
	message_make_request(&request, request_kind_name(REQUEST_CONTINUE), arguments);
	request.seq = NODE_NOBODY;
	connection = connections_find(node_connections(limit->node), process, REQUEST_CONTINUE,
				      &request, error);
	if (connection)
		result = connection->backend->send(connection, REQUEST_CONTINUE, &request, error);
	message_clear(&request);
	return result;
}

/* Each pass tries the resume again, but its error is reported once per stop. */
static void stop_limit_say_refusal(struct stop_limit *limit, struct rank_entry *rank, int number,
				   const struct error *error)
{
	char *text;

	/*
	 * rank->why was set for the resume that has failed; a later resume will have another
	 * reason.
	 */
	free(rank->why);
	rank->why = NULL;
	if (rank->is_refused)
		return;
	rank->is_refused = true;
	text = xasprintf("rank %d could not be resumed, so a collective that waits for it may end "
			 "the job: %s",
			 number, error->message);
	node_say(limit->node, text);
	free(text);
}

static void resume_job(struct stop_limit *limit, struct job *job, const struct pid_list *pids,
		       double now)
{
	struct stop_clock_wait wait = *stop_clock_first(&job->clock);

	stop_clock_spend(&job->clock, now);
	for (size_t i = 0; i < pids->count; i++) {
		const struct process *process = stop_limit_find_peer(limit, pids->pids[i]);
		struct rank_entry *rank = stop_limit_find_rank(limit, pids->pids[i]);
		struct error error = ERROR_INIT;
		int number;

		if (!process || !rank || !rank->is_stopped || strcmp(process->job, job->name) != 0)
			continue;
		free(rank->why);
		rank->why = stop_limit_explain(limit, &wait, process, now);
		number = process->rank;
		if (stop_limit_resume(limit, process, &error) < 0)
			stop_limit_say_refusal(limit, rank, number, &error);
	}
}

static void tell_ranks(struct stop_limit *limit, const struct job *job, const struct pid_list *pids)
{
	for (size_t i = 0; i < pids->count; i++) {
		const struct process *process = stop_limit_find_peer(limit, pids->pids[i]);
		const struct rank_entry *rank = stop_limit_find_rank(limit, pids->pids[i]);
		const struct debugger *debugger =
			connections_debugger(node_connections(limit->node), pids->pids[i]);

		if (process && rank && rank->is_stopped && debugger &&
		    strcmp(process->job, job->name) == 0)
			node_tell_debugger(limit->node, process->pid, debugger);
	}
}

/* Returns the time at which the stopped ranks of the job are to be resumed; INFINITY: never. */
static double due_of(const struct stop_limit *limit, const struct job *job)
{
	const struct stop_clock_wait *first = stop_clock_first(&job->clock);

	return first && !limit->stays && !job->stays ? hold_wait_due(first) : INFINITY;
}

/*
 * While the user keeps ranks stopped: the seconds until the first collective times out, counted
 * from when the node first saw it wait; -1: unknown, or the ranks are to be resumed.
 */
static double end_of(const struct stop_limit *limit, const struct job *job)
{
	const struct stop_clock_wait *first = stop_clock_first(&job->clock);

	return first && (limit->stays || job->stays) ? first->deadline - first->seen : -1;
}

static bool is_to_tell(const struct job *job, double due, double end, double now)
{
	/* The other ranks begin to wait after the user has said that ranks are to stay stopped. */
	if (fabs(end - job->told_end) > CHANGE_SECONDS)
		return true;
	if (isinf(due) || due - now > TOLD_SECONDS)
		return !isinf(job->told);
	return isinf(job->told) || fabs(job->told - due) > CHANGE_SECONDS;
}

/*
 * Resumes the stopped ranks of the job if they are due. Returns the time of the next resume;
 * INFINITY: none.
 */
static double stop_limit_look_at_job(struct stop_limit *limit, struct job *job,
				     const struct pid_list *pids, double now)
{
	double due;

	if (now - job->held_last > AGAIN_SECONDS)
		stop_clock_drop_assumed(&job->clock);
	job->held_last = now;
	see_job(limit, job, pids, now);
	due = due_of(limit, job);
	if (due <= now) {
		job->told = INFINITY;
		resume_job(limit, job, pids, now);
		return INFINITY;
	}
	if (is_to_tell(job, due, end_of(limit, job), now)) {
		job->told_end = end_of(limit, job);
		job->told = due - now > TOLD_SECONDS ? INFINITY : due;
		tell_ranks(limit, job, pids);
	}
	return due;
}

static void stop_limit_look(struct stop_limit *limit);

static void stop_limit_on_turn(void *data)
{
	struct stop_limit *limit = data;

	loop_timer_stop(limit->timer);
	limit->timer = NULL;
	stop_limit_look(limit);
	node_flush(limit->node);
}

static void stop_limit_look_in(struct stop_limit *limit, double seconds)
{
	if (limit->timer)
		loop_timer_stop(limit->timer);
	limit->timer = loop_timer(node_loop(limit->node), seconds, 0, stop_limit_on_turn, limit);
}

struct ended {
	const struct process_table *process_table;
	struct pid_list pids;
};

static void stop_limit_note_ended(uint64_t pid, void *value, void *data)
{
	struct rank_entry *rank = value;
	struct ended *ended = data;

	if (process_table_find(ended->process_table, (pid_t)pid))
		rank->was_listed = true;
	else if (rank->was_listed)
		pid_list_add(&ended->pids, (pid_t)pid);
}

/* Removes exited processes, because other processes may get their pids. */
static void stop_limit_remove_ended(struct stop_limit *limit)
{
	struct ended ended = { .process_table = node_process_table(limit->node) };

	map_each(limit->ranks, stop_limit_note_ended, &ended);
	for (size_t i = 0; i < ended.pids.count; i++)
		map_remove(limit->ranks, (uint64_t)ended.pids.pids[i]);
	pid_list_clear(&ended.pids);
}

static void stop_limit_look(struct stop_limit *limit)
{
	struct process_table *process_table = node_process_table(limit->node);
	struct pid_list pids = { .pids = NULL };
	double now = loop_now();
	double next = INFINITY;
	bool is_any = false;

	if (!process_table)
		return;
	stop_limit_remove_ended(limit);
	process_table_list(process_table, &pids);
	for (size_t i = 0; i < limit->job_count; i++)
		limit->jobs[i].is_held = false;
	for (size_t i = 0; i < pids.count; i++) {
		const struct process *process = stop_limit_find_peer(limit, pids.pids[i]);
		const struct rank_entry *rank = stop_limit_find_rank(limit, pids.pids[i]);

		if (!process || !rank || !rank->is_stopped)
			continue;
		take_job(limit, process->job)->is_held = true;
		is_any = true;
	}
	if (is_any)
		stop_limit_look_in(limit, LOOK_SECONDS);
	for (size_t i = 0; i < limit->job_count; i++)
		if (limit->jobs[i].is_held)
			next = fmin(next,
				    stop_limit_look_at_job(limit, &limit->jobs[i], &pids, now));
	/* If a resume is due before the next regular pass, a pass runs at that time. */
	if (next - now < LOOK_SECONDS)
		stop_limit_look_in(limit, fmax(next - loop_now(), 0));
	pid_list_clear(&pids);
}

/*
 * Events of debuggers
 */

/* Adds to `unhelped` the ranks whose collectives may time out while `stopped` is stopped, because
 * no agent has raised their time-outs. Returns the shortest assumed time-out in seconds; -1:
 * none. */
static double find_unhelped(struct stop_limit *limit, const struct process *stopped,
			    struct rankset *unhelped)
{
	struct pid_list pids = { .pids = NULL };
	double least = -1;

	process_table_list(node_process_table(limit->node), &pids);
	for (size_t i = 0; i < pids.count; i++) {
		const struct process *peer = stop_limit_find_peer(limit, pids.pids[i]);
		struct deadlines deadlines = { .count = 0 };
		double seconds;

		if (!peer || peer->pid == stopped->pid || strcmp(peer->job, stopped->job) != 0 ||
		    timeout_extension_has_raised(node_timeout_extension(limit->node), peer->pid) ||
		    !has_torch(limit, peer))
			continue;
		rankset_add(unhelped, peer->rank);
		deadlines_read(&deadlines, peer->pid);
		seconds = assumed_seconds(limit, peer, &deadlines);
		if (seconds >= 0 && (least < 0 || seconds < least))
			least = seconds;
	}
	pid_list_clear(&pids);
	return least;
}

void stop_limit_announce(struct stop_limit *limit, pid_t pid)
{
	const struct process *process = stop_limit_find_peer(limit, pid);
	struct rankset unhelped = RANKSET_INIT;
	struct buffer text = BUFFER_INIT;
	struct job *job;
	double seconds;

	if (!process)
		return;
	job = take_job(limit, process->job);
	if (job->announced > 0 && loop_now() - job->announced < AGAIN_SECONDS)
		return;
	job->announced = loop_now();
	seconds = find_unhelped(limit, process, &unhelped);
	if (unhelped.range_count > 0) {
		buffer_append_string(&text, "no agent extends the collective timeouts of ");
		rankset_append_named(&text, &unhelped);
		if (seconds >= 0) {
			buffer_append_string(&text, " (assumed: ");
			text_duration(&text, seconds);
			buffer_append_char(&text, ')');
		}
		buffer_append_string(
			&text,
			limit->stays
				? ": a collective that waits for a stopped rank may end the job"
				: ": stopped ranks resume before a collective times out (use `set "
				  "hold stay` to keep them stopped)");
		node_say(limit->node, text.data);
	}
	rankset_clear(&unhelped);
	buffer_clear(&text);
}

/* False for a post-mortem pdb: its program has ended and cannot be resumed. */
static bool can_be_resumed(const struct debugger *debugger)
{
	return debugger_is_ours(debugger) && debugger->state == DEBUGGER_STOPPED &&
	       !(debugger->is_post_mortem && debugger_is_of(debugger, "pdb"));
}

struct stopped_search {
	const struct stop_limit *limit;
	const struct job *job;
	bool is_found;
};

static void find_stopped(uint64_t pid, void *value, void *data)
{
	struct stopped_search *search = data;
	const struct rank_entry *rank = value;
	const struct process *process = stop_limit_find_peer(search->limit, (pid_t)pid);

	search->is_found |=
		rank->is_stopped && process && strcmp(process->job, search->job->name) == 0;
}

static bool stop_limit_has_stopped(const struct stop_limit *limit, const struct job *job)
{
	struct stopped_search search = { .limit = limit, .job = job };

	map_each(limit->ranks, find_stopped, &search);
	return search.is_found;
}

/*
 * "stay": "once" ends at the first stop after all ranks of the job have run; the end of a step does
 * not count.
 */
static void begin_hold(struct stop_limit *limit, pid_t pid, const struct debugger *debugger)
{
	const struct process *process = stop_limit_find_peer(limit, pid);
	struct job *job = process ? find_job(limit, process->job) : NULL;

	if (job && debugger->reason != STOP_STEP && !stop_limit_has_stopped(limit, job))
		job->stays = false;
}

void stop_limit_hear(struct stop_limit *limit, pid_t pid, const struct debugger *debugger)
{
	bool is_stopped = can_be_resumed(debugger);
	struct rank_entry *rank =
		is_stopped ? take_rank(limit, pid) : stop_limit_find_rank(limit, pid);

	if (!rank)
		return;
	if (debugger->state != DEBUGGER_RUNNING) {
		/* The event that reports the resume with this reason was sent before. */
		free(rank->why);
		rank->why = NULL;
	}
	if (is_stopped && !rank->is_stopped) {
		rank->is_refused = false;
		begin_hold(limit, pid, debugger);
		stop_limit_look_in(limit, 0);
	}
	rank->is_stopped = is_stopped;
}

/*
 * While the user keeps ranks stopped, the event's "watchdog" is the time until the first collective
 * times out, instead of torch's default.
 */
static void stop_limit_tell_end(const struct stop_limit *limit, const struct job *job,
				const struct debugger *debugger, json_t *body)
{
	double end = end_of(limit, job);

	if (end >= 0 && debugger->lease < 0)
		json_object_set_new(body, "watchdog", json_real(end));
}

void stop_limit_amend(struct stop_limit *limit, pid_t pid, const struct debugger *debugger,
		      json_t *body)
{
	const struct rank_entry *rank = stop_limit_find_rank(limit, pid);
	const struct process *process = stop_limit_find_peer(limit, pid);
	const struct job *job = process ? find_job(limit, process->job) : NULL;
	double now = loop_now();

	if (!rank)
		return;
	if (debugger->state == DEBUGGER_RUNNING && rank->why) {
		json_set_text(body, "reason", resume_reason_name(RESUME_TIME_LIMIT));
		json_set_text(body, "description", rank->why);
	}
	if (!rank->is_stopped || !job)
		return;
	stop_limit_tell_end(limit, job, debugger, body);
	if (!isfinite(job->told))
		return;
	if (debugger->lease >= 0 && job->told - now >= debugger->lease)
		return;
	json_object_set_new(body, "lease", json_real(fmax(job->told - now, 0)));
	json_object_set_new(body, "limited", json_true());
}

void stop_limit_set_stay(struct stop_limit *limit, bool stays)
{
	limit->stays = stays;
	if (limit->timer)
		stop_limit_look_in(limit, 0);
}

void stop_limit_stay_once(struct stop_limit *limit)
{
	for (size_t i = 0; i < limit->job_count; i++)
		limit->jobs[i].stays |= stop_limit_has_stopped(limit, &limit->jobs[i]);
	if (limit->timer)
		stop_limit_look_in(limit, 0);
}
