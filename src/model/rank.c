#include "model/rank.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "base/alloc.h"
#include "model/helper.h"
#include "model/place.h"
#include "model/session.h"
#include "protocol/collectives.h"
#include "protocol/stack.h"

static const char *const state_names[] = {
	[RANK_RUNNING] = "running",	  [RANK_WAITING] = "waiting",
	[RANK_SLEEPING] = "sleeping",	  [RANK_STOPPED] = "stopped",
	[RANK_EXITED] = "exited",	  [RANK_NOT_FOUND] = "not found",
	[RANK_UNREADABLE] = "unreadable", [RANK_UNKNOWN] = "unknown",
};

const char *rank_state_name(enum rank_state state)
{
	return state_names[state];
}

struct rank *rank_new(const struct process *process)
{
	struct rank *rank = xcalloc(1, sizeof(*rank));

	process_copy(&rank->process, process);
	debugger_init(&rank->debugger);
	rank->debugger_at = -1;
	rank->sampled_at = -1;
	rank->ended_at = -1;
	rank->last_left_at = -1;
	rank->last_helped_at = -1;
	rank->last_woken_at = -1;
	rank->class_index = -1;
	rank->peer = -1;
	rank->collectives_at = -1;
	rank->peer_at = -1;
	rank->cpu_share = -1;
	rank_update_state(rank);
	return rank;
}

static void free_threads(struct thread **threads, size_t *count)
{
	for (size_t i = 0; i < *count; i++) {
		free((*threads)[i].sample.name);
		free((*threads)[i].sample.call);
		free((*threads)[i].sample.awaited);
		free((*threads)[i].sample.error);
		free((*threads)[i].sample.missing);
	}
	free(*threads);
	*threads = NULL;
	*count = 0;
}

static void free_collectives(struct collectives *collectives)
{
	if (collectives)
		collectives_clear(collectives);
	free(collectives);
}

void rank_free(struct rank *rank)
{
	if (!rank)
		return;
	for (size_t i = 0; i < rank->child_count; i++)
		rank_free(rank->children[i]);
	free(rank->children);
	debugger_clear(&rank->debugger);
	free(rank->raised);
	free(rank->raised_file);
	free(rank->raised_func);
	free(rank->breakpoints_error);
	free_threads(&rank->threads, &rank->thread_count);
	free_threads(&rank->seen, &rank->seen_count);
	free(rank->sample_error);
	free(rank->sample_source);
	free(rank->missing);
	free(rank->unseen);
	free(rank->error);
	process_clear(&rank->process);
	free_collectives(rank->collectives);
	free(rank);
}

bool rank_is_in_call(const struct rank *rank, const struct collective_entry *entry)
{
	const struct thread *thread = rank_main_thread(rank);
	const struct stack *now = thread ? thread->sample.stack : NULL;
	const struct stack *call = entry->stack;
	size_t user;

	if (!now || !call || call->frame_count == 0)
		return false;
	user = place_user_frame(&rank->process, call);
	if (call->frame_count - user > now->frame_count)
		return false;
	for (size_t i = 1; i <= call->frame_count - user; i++) {
		const struct frame *a = &call->frames[call->frame_count - i];
		const struct frame *b = &now->frames[now->frame_count - i];

		if (a->lineno != b->lineno || strcmp(a->code->func, b->code->func) != 0 ||
		    strcmp(a->code->file, b->code->file) != 0)
			return false;
	}
	return true;
}

/* When the newest call was made, nanoseconds since 1970; -1: none is known. */
static int64_t newest_call(const struct collectives *collectives)
{
	int64_t newest = -1;

	for (size_t i = 0; i < collectives->entry_count; i++) {
		if (collectives->entries[i].created > newest)
			newest = collectives->entries[i].created;
	}
	return newest;
}

/*
 * True if the main thread is in a call that was made since the answer before: then it has returned
 * from earlier ones. Calls of other threads say nothing about it.
 */
static bool has_called_again(const struct rank *rank, const struct collectives *newer)
{
	int64_t before = rank->collectives ? newest_call(rank->collectives) : -1;

	for (size_t i = 0; before >= 0 && i < newer->entry_count; i++) {
		if (newer->entries[i].created > before && rank_is_in_call(rank, &newer->entries[i]))
			return true;
	}
	return false;
}

void rank_take_collectives(struct rank *rank, struct collectives *owned_collectives, double now)
{
	struct thread *threads = rank->threads;

	/* A process that exits has no groups any more before it is gone. */
	if (rank->collectives && owned_collectives->group_count == 0 &&
	    rank_has_left_program(rank)) {
		free_collectives(owned_collectives);
		return;
	}
	if (has_called_again(rank, owned_collectives)) {
		rank->last_moved_at = now;
		rank->last_changed_at = now;
		for (size_t i = 0; i < rank->thread_count; i++) {
			if (&threads[i] == rank_main_thread(rank))
				threads[i].since = now;
		}
	}
	free_collectives(rank->collectives);
	rank->collectives = owned_collectives;
	rank->collectives_at = now;
}

void rank_apply_process(struct rank *rank, const struct process *process)
{
	process_copy(&rank->process, process);
	rank_update_state(rank);
}

/* The parameter of torch.distributed's function that names the peer by its global rank. */
static const char *peer_parameter(const char *function)
{
	return strstr(function, "recv") ? "src" : "dst";
}

/* The value of an int variable as the number of a rank; -1: it is none. */
static int number_of_peer(const struct variable *variable)
{
	char *end;
	long number = strtol(variable->value, &end, 10);

	if (end == variable->value || *end != '\0' || number < 0 || number > RANKSET_MAXIMUM)
		return -1;
	return (int)number;
}

void rank_take_peer(struct rank *rank, const struct variables *variables, double now)
{
	const struct thread *thread = rank_main_thread(rank);
	const char *parameter;

	if (!thread || thread->sample.tid != variables->tid || variables->start > 0 ||
	    !activity_names_peer(thread) || variables->depth != (int)thread->activity.frame_index)
		return;
	rank->peer = -1;
	rank->peer_at = now;
	parameter = peer_parameter(thread->activity.name);
	for (size_t i = 0; i < variables->list.count; i++) {
		if (strcmp(variables->list.items[i].name, parameter) == 0)
			rank->peer = number_of_peer(&variables->list.items[i]);
	}
}

/*
 * Resets the counters when a connection to the debugger begins or ends: a new connection counts its
 * stops from 1, and has no breakpoints.
 */
static void rank_begin_anew(struct rank *rank, bool was_ours)
{
	bool is_ours = debugger_is_ours(&rank->debugger);

	if (!is_ours)
		rank->stops_seen = 0;
	if (is_ours == was_ours)
		return;
	/* If setBreakpoints made the node attach, that request is pending: keep the counters. */
	if (is_ours && !rank->is_attached_for_them) {
		rank->breakpoints_sent = 0;
		rank->breakpoints_taken = 0;
	}
	if (is_ours)
		rank->is_attached_for_them = false;
}

void rank_note_raised(struct rank *rank, const char *raised, const char *file, const char *func,
		      int line)
{
	xreplace(&rank->raised, raised);
	xreplace(&rank->raised_file, file);
	xreplace(&rank->raised_func, func);
	rank->raised_line = line;
}

bool rank_apply_debugger(struct rank *rank, struct debugger *debugger, double now)
{
	struct debugger before = rank->debugger;
	bool is_stop;

	rank->debugger = *debugger;
	rank->debugger_at = now;
	*debugger = before;
	rank_begin_anew(rank, debugger_is_ours(debugger));
	if (rank->debugger.is_post_mortem && rank->debugger.exception)
		rank_note_raised(rank, rank->debugger.exception, NULL, NULL, 0);
	is_stop =
		rank->debugger.state == DEBUGGER_STOPPED && rank->debugger.stops > rank->stops_seen;
	if (is_stop) {
		rank->stops_seen = rank->debugger.stops;
		rank->is_pausing = false;
	}
	rank_update_state(rank);
	return is_stop;
}

static size_t child_index(const struct rank *rank, pid_t pid)
{
	size_t i = 0;

	while (i < rank->child_count && rank->children[i]->process.pid < pid)
		i++;
	return i;
}

void rank_add_child(struct rank *rank, struct rank *owned_child)
{
	size_t at = child_index(rank, owned_child->process.pid);

	rank->children =
		xrealloc(rank->children, (rank->child_count + 1) * sizeof(*rank->children));
	memmove(rank->children + at + 1, rank->children + at,
		(rank->child_count - at) * sizeof(*rank->children));
	owned_child->parent = rank;
	rank->children[at] = owned_child;
	rank->child_count++;
}

void rank_remove_child(struct rank *rank, pid_t pid)
{
	size_t at = child_index(rank, pid);

	if (at == rank->child_count || rank->children[at]->process.pid != pid)
		return;
	rank_free(rank->children[at]);
	rank->child_count--;
	memmove(rank->children + at, rank->children + at + 1,
		(rank->child_count - at) * sizeof(*rank->children));
}

const struct thread *rank_main_thread(const struct rank *rank)
{
	for (size_t i = 0; i < rank->thread_count; i++) {
		const struct thread *thread = &rank->threads[i];

		if (thread->sample.is_main)
			return activity_is_service(&thread->activity)
				       ? helper_find_served(rank, thread)
				       : thread;
	}
	return NULL;
}

const struct thread *rank_find_thread(const struct rank *rank, pid_t tid)
{
	for (size_t i = 0; i < rank->thread_count; i++) {
		if (rank->threads[i].sample.tid == tid)
			return &rank->threads[i];
	}
	return NULL;
}

/* False during the interpreter's shutdown: no stack, or only shutdown code. */
static bool is_in_program(const struct rank *rank)
{
	const struct thread *main_thread = rank_main_thread(rank);

	return main_thread && main_thread->sample.stack &&
	       main_thread->sample.stack->frame_count > 0 &&
	       main_thread->activity.kind != ACTIVITY_TEARDOWN;
}

bool rank_has_left_program(const struct rank *rank)
{
	return rank->seen_count > 0;
}

/*
 * Replaces the threads. rank->seen keeps the threads last sampled in the program, until a sample
 * shows the program again.
 */
static void replace_threads(struct rank *rank, struct thread *owned_threads, size_t count)
{
	if (is_in_program(rank)) {
		free_threads(&rank->seen, &rank->seen_count);
		rank->seen = rank->threads;
		rank->seen_count = rank->thread_count;
	} else {
		free_threads(&rank->threads, &rank->thread_count);
	}
	rank->threads = owned_threads;
	rank->thread_count = count;
	if (is_in_program(rank))
		free_threads(&rank->seen, &rank->seen_count);
}

static void show_last_seen(struct rank *rank)
{
	if (is_in_program(rank) || rank->seen_count == 0)
		return;
	free_threads(&rank->threads, &rank->thread_count);
	rank->threads = rank->seen;
	rank->thread_count = rank->seen_count;
	rank->seen = NULL;
	rank->seen_count = 0;
}

void rank_lose_debugger(struct rank *rank)
{
	if (debugger_is_ours(&rank->debugger))
		rank->debugger.state = DEBUGGER_LOST;
}

bool rank_has_end_signal(const struct rank *rank)
{
	const struct process *process = &rank->process;

	return process->exit_signal == SIGTERM || process->exit_signal == SIGINT ||
	       process->exit_code == 128 + SIGTERM || process->exit_code == 128 + SIGINT;
}

void rank_end(struct rank *rank, const struct process *process, double now)
{
	show_last_seen(rank);
	rank_lose_debugger(rank);
	rank->process.state = PROCESS_EXITED;
	rank->process.exit_code = process->exit_code;
	rank->process.exit_signal = process->exit_signal;
	free(rank->process.error);
	rank->process.error = xstrdup_or_null(process->error);
	rank->ended_at = now;
	rank_update_state(rank);
}

/* Finds the thread in the previous sample. Threads mostly keep their order: start at *next. */
static const struct thread *thread_before(const struct rank *rank, pid_t tid, size_t *next)
{
	size_t count = rank->thread_count;

	for (size_t i = 0; i < count; i++) {
		size_t at = (*next + i) % count;

		if (rank->threads[at].sample.tid != tid)
			continue;
		*next = at + 1;
		return &rank->threads[at];
	}
	return NULL;
}

static struct thread *take_threads(struct rank *rank, struct process_sample *sample, double now)
{
	struct thread *threads = xcalloc(sample->thread_count + 1, sizeof(*threads));
	double seconds = sample->time - rank->node_time;
	double share = 0;
	size_t next = 0;

	for (size_t i = 0; i < sample->thread_count; i++) {
		struct thread *thread = &threads[i];
		const struct thread *before;

		thread->sample = sample->threads[i];
		thread->holder_rank = -1;
		sample->threads[i].name = NULL;
		sample->threads[i].call = NULL;
		sample->threads[i].awaited = NULL;
		sample->threads[i].error = NULL;
		sample->threads[i].missing = NULL;
		before = thread_before(rank, thread->sample.tid, &next);
		thread_compare(thread, before, seconds, now,
			       rank->debugger_at >= 0 && rank->debugger_at >= rank->sampled_at);
		thread_keep_native(thread, before, now);
		if (before)
			share += thread_share(thread, before, seconds);
	}
	rank->cpu_share = rank->sampled_at >= 0 && seconds > 0 ? share : -1;
	return threads;
}

static void rank_remember(struct rank *rank, const struct stack *stack, double now)
{
	size_t newest = (rank->history_count + RANK_HISTORY - 1) % RANK_HISTORY;

	if (rank->history_count > 0 && rank->history[newest].stack == stack)
		return;
	rank->history[rank->history_count % RANK_HISTORY] =
		(struct rank_moment){ .time = now, .stack = stack };
	rank->history_count++;
}

/* True if a thread besides the main thread is busy, not only with short periodic work. */
static bool has_busy_thread(const struct rank *rank)
{
	for (size_t i = 0; i < rank->thread_count; i++) {
		if (rank->threads[i].is_busy && &rank->threads[i] != rank_main_thread(rank))
			return true;
	}
	return false;
}

static bool is_at_peers(const struct rank *rank)
{
	const struct thread *thread = rank_main_thread(rank);

	return thread && thread->activity.kind == ACTIVITY_PEERS;
}

static void note_change(struct rank *rank, bool was_at_peers, double now)
{
	double pause = now - rank->last_changed_at;

	if (pause > rank->longest_pause)
		rank->longest_pause = pause;
	rank->last_changed_at = now;
	if (was_at_peers && !is_at_peers(rank) &&
	    rank_main_thread(rank)->activity.kind != ACTIVITY_TEARDOWN)
		rank->last_left_at = now;
}

static void note_movement(struct rank *rank, bool was_at_peers, double now)
{
	const struct thread *main_thread = rank_main_thread(rank);

	if (rank->sampled_at < 0) {
		rank->first_sampled_at = now;
		rank->last_moved_at = now;
		rank->last_changed_at = now;
	}
	if (!main_thread)
		return;
	if (main_thread->has_moved)
		rank->last_moved_at = now;
	if (main_thread->has_changed)
		note_change(rank, was_at_peers, now);
	if (main_thread->has_woken)
		rank->last_woken_at = now;
	if (rank_waits_for_itself(rank) &&
	    (has_busy_thread(rank) || (main_thread->activity.is_polling && helper_is_moving(rank))))
		rank->last_helped_at = now;
	rank_remember(rank, main_thread->sample.stack, now);
}

static void rank_note_missing(struct rank *rank)
{
	const struct thread *main_thread = rank_main_thread(rank);
	const char *missing = rank->sample_error;

	if (!missing && main_thread)
		missing = main_thread->sample.missing;
	if (!missing && main_thread && main_thread->sample_count < 2)
		return;
	free(rank->missing);
	rank->missing = xstrdup_or_null(missing);
}

/* Takes the exception that a main thread in teardown has left. */
static void take_raised(struct rank *rank)
{
	const struct thread *thread = rank_main_thread(rank);
	const struct frame *frame;

	if (rank->raised || !thread || !thread->sample.raised)
		return;
	frame = place_find(&rank->process, thread->sample.raised_stack);
	rank_note_raised(rank, thread->sample.raised, frame ? frame->code->file : NULL,
			 frame ? frame->code->func : NULL, frame ? frame->lineno : 0);
}

void rank_apply_sample(struct rank *rank, struct process_sample *sample, double now)
{
	struct thread *threads = take_threads(rank, sample, now);
	bool was_at_peers = is_at_peers(rank);

	if (rank->sampled_at >= 0)
		rank->interval = now - rank->sampled_at;
	replace_threads(rank, threads, sample->thread_count);
	take_raised(rank);
	free(rank->sample_error);
	rank->sample_error = sample->error;
	sample->error = NULL;
	free(rank->sample_source);
	rank->sample_source = sample->source;
	sample->source = NULL;
	rank->epoch = sample->epoch;
	rank->node_time = sample->time;
	rank->memory = sample->memory;
	rank->sample_count++;
	rank_note_missing(rank);
	note_movement(rank, was_at_peers, now);
	rank->sampled_at = now;
	process_sample_clear(sample);
	rank_update_state(rank);
}

static enum rank_state state_of_main(const struct thread *thread)
{
	if (thread->sample.state == THREAD_STOPPED)
		return RANK_STOPPED;
	switch (thread->activity.kind) {
	case ACTIVITY_COMPUTE:
	case ACTIVITY_TRAIN:
		return RANK_RUNNING;
	case ACTIVITY_PEERS:
	case ACTIVITY_DATA:
	case ACTIVITY_LOCK:
	case ACTIVITY_READ:
		return RANK_WAITING;
	case ACTIVITY_SLEEP:
		return RANK_SLEEPING;
	case ACTIVITY_SAVE:
	case ACTIVITY_TEARDOWN:
	case ACTIVITY_UNKNOWN:
		break;
	}
	return thread->sample.state == THREAD_RUNNING ? RANK_RUNNING : RANK_WAITING;
}

static bool is_at_prompt(const struct debugger *debugger)
{
	return debugger->state == DEBUGGER_STOPPED || debugger->state == DEBUGGER_NESTED;
}

/* True if the sample is incomplete and its rest does not show the activity. */
static bool is_undecided(const struct thread *thread)
{
	return thread->sample.missing && thread->activity.kind == ACTIVITY_UNKNOWN;
}

static enum rank_state rank_state_of(const struct rank *rank)
{
	const struct thread *main_thread = rank_main_thread(rank);

	if (rank->process.pid == 0)
		return RANK_NOT_FOUND;
	if (rank->is_silent && rank->process.state != PROCESS_EXITED)
		return RANK_UNREADABLE;
	if (is_at_prompt(&rank->debugger) && rank->process.state != PROCESS_EXITED)
		return RANK_STOPPED;
	switch (rank->process.state) {
	case PROCESS_EXITED:
		return RANK_EXITED;
	case PROCESS_STOPPED:
		return RANK_STOPPED;
	case PROCESS_UNREADABLE:
		return RANK_UNREADABLE;
	case PROCESS_LIVE:
		break;
	}
	if (rank->sampled_at < 0)
		return RANK_UNKNOWN;
	if (rank->sample_error || !main_thread || !main_thread->sample.stack)
		return RANK_UNREADABLE;
	if (is_undecided(main_thread))
		return RANK_UNREADABLE;
	return state_of_main(main_thread);
}

static char *exit_sentence(const struct rank *rank)
{
	const struct process *process = &rank->process;
	const char *abbreviation = sigabbrev_np(process->exit_signal);

	/* For a rank on another machine the error is about the debugger's connection. */
	if (process_shown_pid(process) == 0 && process->error)
		return xasprintf("%s: %s",
				 rank->thread_count == 0 ? "could not be reached"
							 : "was disconnected",
				 process->error);
	if (process->exit_signal > 0 && abbreviation)
		return xasprintf("was killed by SIG%s", abbreviation);
	if (process->exit_signal > 0)
		return xasprintf("was killed by signal %d", process->exit_signal);
	if (process->exit_code >= 0)
		return xasprintf("exited with code %d", process->exit_code);
	return xstrdup("has exited");
}

static char *rank_sentence_of(const struct rank *rank)
{
	const struct thread *main_thread = rank_main_thread(rank);

	switch (rank->state) {
	case RANK_EXITED:
		return exit_sentence(rank);
	case RANK_NOT_FOUND:
		return xstrdup(rank->unseen ? rank->unseen : "was not found");
	case RANK_UNREADABLE:
		if (rank->is_silent)
			return xstrdup("the machine does not answer");
		if (rank->process.state == PROCESS_UNREADABLE && rank->process.error)
			return xstrdup(rank->process.error);
		if (rank->sample_error)
			return xstrdup(rank->sample_error);
		if (main_thread && main_thread->sample.missing)
			return xstrdup(main_thread->sample.missing);
		if (main_thread && main_thread->sample.error)
			return xstrdup(main_thread->sample.error);
		return xstrdup("the main thread has no readable Python stack");
	case RANK_RUNNING:
	case RANK_WAITING:
	case RANK_SLEEPING:
	case RANK_STOPPED:
	case RANK_UNKNOWN:
		break;
	}
	return xstrdup_or_null(rank->process.error);
}

void rank_update_state(struct rank *rank)
{
	rank->state = rank_state_of(rank);
	free(rank->error);
	rank->error = rank_sentence_of(rank);
}

bool rank_is_gone(const struct rank *rank)
{
	return rank->state == RANK_EXITED || rank->state == RANK_NOT_FOUND;
}

/* Number of history entries that are still stored. */
static size_t known_moments(const struct rank *rank)
{
	return rank->history_count < RANK_HISTORY ? rank->history_count : RANK_HISTORY;
}

const struct stack *rank_last_stack(const struct rank *rank)
{
	if (rank->state == RANK_EXITED && is_in_program(rank))
		return rank_main_thread(rank)->sample.stack;
	for (size_t i = 0; i < known_moments(rank); i++) {
		size_t at = (rank->history_count - 1 - i) % RANK_HISTORY;
		const struct stack *stack = rank->history[at].stack;

		if (place_find(&rank->process, stack))
			return stack;
	}
	return NULL;
}

const struct stack *rank_stack_at(const struct rank *rank, double time)
{
	size_t oldest = 0;

	if (rank->history_count > RANK_HISTORY)
		oldest = rank->history_count - RANK_HISTORY;
	for (size_t i = rank->history_count; i > oldest; i--) {
		const struct rank_moment *moment = &rank->history[(i - 1) % RANK_HISTORY];

		if (moment->time <= time)
			return moment->stack;
	}
	return NULL;
}
