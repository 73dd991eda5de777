#include "model/phrase.h"

#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "base/array.h"
#include "base/buffer.h"
#include "base/text.h"
#include "model/debug-state.h"
#include "model/helper.h"
#include "model/phase.h"
#include "model/place.h"
#include "model/session.h"
#include "model/wait-group.h"
#include "protocol/stack.h"

/* Maximum width of a name that comes from the target. */
#define NAME_COLUMNS 60
#define ERROR_COLUMNS 200
#define JOBS_LISTED 4
/* Shorter durations (in seconds) are not printed. */
#define DURATION_MINIMUM 1.0
/* Role of the children that a rank in ACTIVITY_DATA may wait for. */
#define WORKER_ROLE "dataloader"

/* Form of the place behind the verb. */
enum place_form {
	PLACE_FRAME,	/* "load_batch (train.py:5) in time.sleep" */
	PLACE_ACTIVITY, /* "all_reduce (train.py:17)" */
	PLACE_LINE,	/* "(train.py:30)" */
	PLACE_NONE,
};

enum phrase_name {
	PHRASE_PEERS,
	PHRASE_HOLDS,
	PHRASE_COMPUTE,
	PHRASE_GIL,
	PHRASE_DATA,
	PHRASE_SLEEP,
	PHRASE_READ,
	PHRASE_OTHER,
	PHRASE_STOPPED,
	PHRASE_TEARDOWN,
	PHRASE_CAUGHT,
	PHRASE_BROKEN,
	PHRASE_GONE,
	PHRASE_LOST, /* on another machine: the connection to its debugger ended */
	PHRASE_MISSING,
};

struct phrase {
	const char *verb[2]; /* of outliers: one rank, several ranks */
	enum place_form form;
	const char *doing[2];	/* of ranks that are not outliers: one rank, several ranks */
	const char *summary[2]; /* without a place: for counts, and for ranks without a stack */
};

static const struct phrase phrases[PHRASES] = {
	[PHRASE_PEERS] = { { "waits in ", "wait in " },
			   PLACE_ACTIVITY,
			   { "waits in ", "wait in " },
			   { "waits for its peers", "wait for their peers" } },
	[PHRASE_HOLDS] = { { "waits in ", "wait in " },
			   PLACE_ACTIVITY,
			   { "waits in ", "wait in " },
			   { "waits at a breakpoint", "wait at a breakpoint" } },
	[PHRASE_COMPUTE] = { { "computes: ", "compute: " },
			     PLACE_FRAME,
			     { "computes in ", "compute in " },
			     { "computes", "compute" } },
	[PHRASE_GIL] = { { "holds the GIL in C code called from ",
			   "hold the GIL in C code called from " },
			 PLACE_FRAME,
			 { "computes in ", "compute in " },
			 { "computes", "compute" } },
	[PHRASE_DATA] = { { "waits for its DataLoader ", "wait for their DataLoaders " },
			  PLACE_LINE,
			  { "waits for its DataLoader ", "wait for their DataLoaders " },
			  { "waits for data", "wait for data" } },
	[PHRASE_SLEEP] = { { "is elsewhere: ", "are elsewhere: " },
			   PLACE_FRAME,
			   { "is in ", "are in " },
			   { "sleeps", "sleep" } },
	[PHRASE_READ] = { { "is elsewhere: ", "are elsewhere: " },
			  PLACE_FRAME,
			  { "is in ", "are in " },
			  { "reads or writes", "read or write" } },
	[PHRASE_OTHER] = { { "is elsewhere: ", "are elsewhere: " },
			   PLACE_FRAME,
			   { "is in ", "are in " },
			   { "is elsewhere", "are elsewhere" } },
	[PHRASE_STOPPED] = { { "is stopped: ", "are stopped: " },
			     PLACE_FRAME,
			     { "is stopped in ", "are stopped in " },
			     { "is stopped", "are stopped" } },
	[PHRASE_TEARDOWN] = { { "is shutting down: ", "are shutting down: " },
			      PLACE_ACTIVITY,
			      { "is shutting down: ", "are shutting down: " },
			      { "is shutting down", "are shutting down" } },
	[PHRASE_CAUGHT] = { { "raised an exception and is stopped by its agent",
			      "raised an exception and are stopped by their agents" },
			    PLACE_NONE,
			    { "raised an exception and is stopped by its agent",
			      "raised an exception and are stopped by their agents" },
			    { "raised an exception and is stopped by its agent",
			      "raised an exception and are stopped by their agents" } },
	[PHRASE_BROKEN] = { { "is stopped in a debugger by its agent ",
			      "are stopped in debuggers by their agents " },
			    PLACE_LINE,
			    { "is stopped in a debugger by its agent ",
			      "are stopped in debuggers by their agents " },
			    { "is stopped in a debugger", "are stopped in debuggers" } },
	[PHRASE_GONE] = { { "has exited", "have exited" },
			  PLACE_NONE,
			  { "has exited", "have exited" },
			  { "has exited", "have exited" } },
	[PHRASE_LOST] = { { "is not connected", "are not connected" },
			  PLACE_NONE,
			  { "is not connected", "are not connected" },
			  { "is not connected", "are not connected" } },
	[PHRASE_MISSING] = { { "was not found", "were not found" },
			     PLACE_NONE,
			     { "was not found", "were not found" },
			     { "was not found", "were not found" } },
};

static const enum phrase_name kind_phrases[] = {
	[ACTIVITY_COMPUTE] = PHRASE_COMPUTE,   [ACTIVITY_PEERS] = PHRASE_PEERS,
	[ACTIVITY_DATA] = PHRASE_DATA,	       [ACTIVITY_SAVE] = PHRASE_OTHER,
	[ACTIVITY_TRAIN] = PHRASE_OTHER,       [ACTIVITY_SLEEP] = PHRASE_SLEEP,
	[ACTIVITY_LOCK] = PHRASE_OTHER,	       [ACTIVITY_READ] = PHRASE_READ,
	[ACTIVITY_TEARDOWN] = PHRASE_TEARDOWN, [ACTIVITY_UNKNOWN] = PHRASE_OTHER,
};

/*
 * True if two samples are at the same line, with CPU time used between the samples and the GIL
 * held: the thread runs C code, or a loop on that line. Samples cannot distinguish C code from such
 * a loop, so the sentence names both.
 */
static bool phrase_holds_gil(const struct thread *thread)
{
	return thread->activity.kind == ACTIVITY_COMPUTE && thread->sample.is_gil_known &&
	       thread->sample.has_gil && thread->sample_count >= 2 && thread->is_busy &&
	       !thread->has_changed;
}

/* True unless the rank was at another line a moment ago: a loop over few lines is often at one. */
static bool has_stood(const struct wait_group *wait_group)
{
	return wait_group->first->history_count <= 1 ||
	       wait_group->unchanged >= VERDICT_STILL_SECONDS;
}

/*
 * True if only the end of the connection to the rank's debugger is known, not how the rank exited.
 */
static bool phrase_is_lost(const struct rank *rank)
{
	return process_shown_pid(&rank->process) == 0 && rank->process.error;
}

static enum phrase_name phrase_of_gone(const struct rank *rank)
{
	if (rank->state == RANK_NOT_FOUND)
		return PHRASE_MISSING;
	return phrase_is_lost(rank) ? PHRASE_LOST : PHRASE_GONE;
}

const struct phrase *phrase_of(const struct wait_group *wait_group)
{
	if (wait_group->role == WAIT_GROUP_GONE)
		return &phrases[phrase_of_gone(wait_group->first)];
	if (wait_group->is_stopped)
		return &phrases[PHRASE_STOPPED];
	if (!wait_group->main_thread)
		return &phrases[PHRASE_OTHER];
	if (rank_barrier_is(wait_group))
		return &phrases[PHRASE_HOLDS];
	if (wait_group->role == WAIT_GROUP_WAITS)
		return &phrases[PHRASE_PEERS];
	if (strcmp(wait_group->main_thread->activity.name, ACTIVITY_CAUGHT) == 0)
		return &phrases[PHRASE_CAUGHT];
	if (strcmp(wait_group->main_thread->activity.name, ACTIVITY_BROKEN) == 0)
		return &phrases[PHRASE_BROKEN];
	if (phrase_holds_gil(wait_group->main_thread) && has_stood(wait_group))
		return &phrases[PHRASE_GIL];
	return &phrases[kind_phrases[wait_group->main_thread->activity.kind]];
}

size_t phrase_index(const struct phrase *phrase)
{
	return (size_t)(phrase - phrases);
}

bool phrase_is_nameless(const struct wait_group *wait_group)
{
	return phrase_of(wait_group) == &phrases[PHRASE_OTHER];
}

static void phrase_append_name(struct buffer *out, const char *name, int columns)
{
	struct buffer escaped = BUFFER_INIT;

	text_escape(&escaped, name, strlen(name));
	text_cut(out, escaped.data, columns);
	buffer_clear(&escaped);
}

void phrase_append_ranks(struct buffer *out, const struct rankset *ranks)
{
	size_t count = rankset_count(ranks);
	int first = rankset_first(ranks);

	if (count == 1) {
		buffer_printf(out, "Rank %d", first);
	} else if (count == 2) {
		buffer_printf(out, "Ranks %d and %d", first, rankset_next(ranks, first));
	} else {
		buffer_append_string(out, "Ranks ");
		rankset_append(out, ranks);
	}
}

void phrase_append_total(struct buffer *out, const struct session *session)
{
	int world_size = session->verdict.world_size;

	text_count(out, session->rank_count);
	buffer_append_string(out, session->rank_count == 1 ? " rank" : " ranks");
	if (world_size > 0 && session->rank_count < (size_t)world_size)
		buffer_append_string(out, " here");
}

void phrase_append_all(struct buffer *out, const struct session *session)
{
	if (session->rank_count == 1) {
		buffer_printf(out, "Rank %d", session->ranks[0]->process.rank);
	} else if (session->rank_count == 2) {
		buffer_append_string(out, "Both ranks");
	} else {
		buffer_append_string(out, "All ");
		phrase_append_total(out, session);
	}
}

void phrase_append_verb(struct buffer *out, const struct phrase *phrase, bool is_plural)
{
	buffer_append_string(out, phrase->verb[is_plural]);
}

/* Appends "(train.py:17)", or "(train.py:30, evaluation)"; frame: of the stack. */
static void phrase_append_line(struct buffer *out, const struct stack *stack,
			       const struct frame *frame)
{
	struct buffer line = BUFFER_INIT;

	place_append(&line, frame);
	buffer_append_char(out, '(');
	text_cut_path(out, line.data, NAME_COLUMNS);
	phase_append(out, stack, frame);
	buffer_append_char(out, ')');
	buffer_clear(&line);
}

/* The frame to name for this thread: user code, if there is any; NULL: no frame. */
static const struct frame *named_frame(const struct rank *rank, const struct thread *thread)
{
	return place_find(&rank->process, thread->sample.stack);
}

/* Appends "load_batch (train.py:5) in time.sleep". */
static void phrase_append_frame(struct buffer *out, const struct rank *rank,
				const struct thread *thread)
{
	const struct frame *frame = named_frame(rank, thread);

	if (!frame) {
		buffer_append_string(out, "no Python frame");
		return;
	}
	phrase_append_name(out, frame->code->func, NAME_COLUMNS);
	buffer_append_char(out, ' ');
	phrase_append_line(out, thread->sample.stack, frame);
	if (thread->activity.name[0] != '\0' &&
	    strcmp(thread->activity.name, frame->code->func) != 0) {
		buffer_append_string(out, " in ");
		phrase_append_name(out, thread->activity.name, NAME_COLUMNS);
	}
}

static void phrase_append_place(struct buffer *out, enum place_form form,
				const struct wait_group *wait_group)
{
	const struct thread *thread = wait_group->main_thread;
	const struct frame *frame;

	if (!thread || form == PLACE_NONE)
		return;
	if (form == PLACE_FRAME) {
		phrase_append_frame(out, wait_group->first, thread);
		return;
	}
	frame = named_frame(wait_group->first, thread);
	if (form == PLACE_ACTIVITY) {
		phrase_append_name(out, thread->activity.name, NAME_COLUMNS);
		if (frame)
			buffer_append_char(out, ' ');
	}
	if (frame)
		phrase_append_line(out, thread->sample.stack, frame);
}

/* Returns a DataLoader worker whose stack is not idle; NULL: none. */
static const struct rank *find_busy_worker(const struct rank *rank)
{
	for (size_t i = 0; i < rank->child_count; i++) {
		const struct rank *child = rank->children[i];
		const struct thread *thread = rank_main_thread(child);

		if (!child->process.role || strcmp(child->process.role, WORKER_ROLE) != 0)
			continue;
		if (thread && thread->sample.stack &&
		    strcmp(thread->activity.name, ACTIVITY_WORKER_IDLE) != 0)
			return child;
	}
	return NULL;
}

static void append_worker(struct buffer *out, const struct rank *rank)
{
	const struct rank *worker = find_busy_worker(rank);

	if (!worker)
		return;
	buffer_printf(out, "; worker pid %ld is in ", (long)worker->process.pid);
	phrase_append_frame(out, worker, rank_main_thread(worker));
}

/* Appends what the thread waits for besides a thread or a child; false: nothing is known. */
static bool append_awaited(struct buffer *out, const struct thread *thread)
{
	if (thread && thread->sample.holder > 0) {
		if (thread->holder_rank >= 0)
			buffer_printf(out, "; rank %d holds the lock", thread->holder_rank);
		else
			buffer_printf(out, "; pid %ld holds the lock", (long)thread->sample.holder);
		return true;
	}
	if (!thread || !thread->sample.awaited)
		return false;
	buffer_printf(out, "; child pid %ld runs ", (long)(pid_t)thread->sample.argument);
	phrase_append_name(out, thread->sample.awaited, NAME_COLUMNS);
	return true;
}

bool phrase_append_helper(struct buffer *out, const struct rank *rank)
{
	struct helper helper;

	if (!helper_find(rank, &helper))
		return append_awaited(out, rank_main_thread(rank));
	if (helper.process != rank) {
		buffer_printf(out, "; child pid %ld", (long)helper.process->process.pid);
	} else {
		buffer_append_string(out, "; thread ");
		if (helper.thread->sample.name)
			phrase_append_name(out, helper.thread->sample.name, NAME_COLUMNS);
		else
			buffer_printf(out, "%ld", (long)helper.thread->sample.tid);
	}
	buffer_append_string(out, " is in ");
	phrase_append_frame(out, helper.process, helper.thread);
	return true;
}

/* Returns "killed by SIGKILL" or "exited with code 1"; "": unknown. */
static const char *reason_of(const struct rank *rank)
{
	static const char killed[] = "was killed by ";
	const char *error = rank->error ? rank->error : "";

	if (strncmp(error, killed, strlen(killed)) == 0)
		return error + strlen("was ");
	return rank->process.exit_code >= 0 ? error : "";
}

/* Appends ": killed by SIGKILL" or " with code 1"; nothing if unknown. */
static void phrase_append_reason(struct buffer *out, const struct rank *rank)
{
	static const char exited[] = "exited ";
	const char *reason = reason_of(rank);

	if (strncmp(reason, exited, strlen(exited)) == 0)
		buffer_printf(out, " %s", reason + strlen(exited));
	else if (reason[0] != '\0')
		buffer_printf(out, ": %s", reason);
}

/* Appends the place of the last sample of a rank that is gone. */
static void append_last_seen(struct buffer *out, const struct rank *rank)
{
	const struct thread *thread = rank_main_thread(rank);

	if (!thread || !named_frame(rank, thread))
		return;
	buffer_append_string(out, ", last seen in ");
	phrase_append_frame(out, rank, thread);
}

/* Appends the exception of a single rank only: ranks of a group may have raised different ones. */
static void append_raised(struct buffer *out, const struct wait_group *wait_group,
			  const char *before)
{
	if (rankset_count(&wait_group->ranks) == 1)
		debug_state_append_raised(out, wait_group->first, before);
}

void phrase_append_where(struct buffer *out, const struct wait_group *wait_group)
{
	const struct phrase *phrase = phrase_of(wait_group);

	phrase_append_place(out, phrase->form, wait_group);
	switch ((enum phrase_name)phrase_index(phrase)) {
	case PHRASE_GONE:
	case PHRASE_LOST:
		phrase_append_reason(out, wait_group->first);
		append_raised(out, wait_group, ", raised ");
		append_last_seen(out, wait_group->first);
		break;
	case PHRASE_DATA:
		append_worker(out, wait_group->first);
		break;
	case PHRASE_TEARDOWN:
		append_raised(out, wait_group, ", after raising ");
		break;
	case PHRASE_GIL:
		buffer_append_string(out, ", or loops on that line");
		break;
	case PHRASE_OTHER:
		phrase_append_helper(out, wait_group->first);
		break;
	case PHRASE_PEERS:
	case PHRASE_HOLDS:
	case PHRASE_COMPUTE:
	case PHRASE_SLEEP:
	case PHRASE_READ:
	case PHRASE_STOPPED:
	case PHRASE_CAUGHT:
	case PHRASE_BROKEN:
	case PHRASE_MISSING:
		break;
	}
}

void phrase_append_member(struct buffer *out, const struct wait_group *wait_group, bool is_first)
{
	bool is_gone = phrase_index(phrase_of(wait_group)) == PHRASE_GONE ||
		       phrase_index(phrase_of(wait_group)) == PHRASE_LOST;

	if (!is_first)
		buffer_append_string(out, ", ");
	else if (is_gone)
		buffer_append_string(out, ": ");
	if (is_gone)
		phrase_append_end(out, wait_group);
	else
		phrase_append_where(out, wait_group);
}

void phrase_append_end(struct buffer *out, const struct wait_group *wait_group)
{
	const char *reason = reason_of(wait_group->first);
	bool is_plural = rankset_count(&wait_group->ranks) != 1;

	buffer_append_string(out, is_plural ? "ranks " : "rank ");
	rankset_append(out, &wait_group->ranks);
	if (wait_group->first->state == RANK_NOT_FOUND)
		reason = "not found";
	else if (phrase_is_lost(wait_group->first))
		reason = "disconnected";
	else if (reason[0] == '\0')
		reason = "exited with an unknown code";
	if (wait_group->first->state == RANK_NOT_FOUND || phrase_is_lost(wait_group->first) ||
	    wait_group->first->process.exit_signal > 0)
		buffer_append_string(out, is_plural ? " were" : " was");
	buffer_printf(out, " %s", reason);
}

void phrase_append_last_seen(struct buffer *out, const struct wait_group *wait_group)
{
	const struct thread *thread = rank_main_thread(wait_group->first);

	const char *raised = wait_group->first->raised;
	bool is_seen = thread && named_frame(wait_group->first, thread);

	if (!is_seen && !raised)
		return;
	buffer_printf(out, " Rank %d", wait_group->first->process.rank);
	debug_state_append_raised(out, wait_group->first, " raised ");
	if (is_seen) {
		buffer_append_string(out, raised ? ", and" : "");
		buffer_append_string(out, " was last seen in ");
		phrase_append_frame(out, wait_group->first, thread);
	}
	buffer_append_char(out, '.');
}

void phrase_append_doing(struct buffer *out, const struct wait_group *wait_group, bool is_plural)
{
	const struct phrase *phrase = phrase_of(wait_group);

	if (!wait_group->main_thread) {
		buffer_append_string(out, phrase->summary[is_plural]);
		return;
	}
	buffer_append_string(out, phrase->doing[is_plural]);
	phrase_append_place(out, phrase->form, wait_group);
}

void phrase_append_summary(struct buffer *out, size_t index, bool is_plural)
{
	buffer_append_string(out, phrases[index].summary[is_plural]);
}

void phrase_append_duration(struct buffer *out, const char *lead, double seconds)
{
	if (seconds < DURATION_MINIMUM)
		return;
	buffer_append_string(out, lead);
	text_duration(out, seconds);
}

void phrase_append_error(struct buffer *out, const char *error)
{
	if (!error || error[0] == '\0')
		error = "unknown reason";
	phrase_append_name(out, error, ERROR_COLUMNS);
	if (out->data[out->length - 1] != '.')
		buffer_append_char(out, '.');
}

void phrase_append_host(struct buffer *out, const char *host)
{
	phrase_append_name(out, host, NAME_COLUMNS);
}

static void phrase_append_job(struct buffer *out, const struct job *job)
{
	phrase_append_name(out, job->script[0] ? job->script : "a job", NAME_COLUMNS);
	buffer_append_string(out, " (");
	text_count(out, job->rank_count);
	buffer_append_string(out, job->rank_count == 1 ? " rank, " : " ranks, ");
	if (job->name[0]) {
		phrase_append_name(out, job->name, NAME_COLUMNS);
		buffer_append_char(out, ')');
	} else {
		buffer_printf(out, "launcher %ld)", (long)job->launcher_pid);
	}
}

void phrase_append_jobs(struct buffer *out, const struct session *session)
{
	const struct job *first = &session->jobs[0];
	const char *colon = strrchr(first->name, ':');

	if (session->choice.wanted_job) {
		buffer_append_string(out, "No job has port or launcher pid ");
		phrase_append_name(out, session->choice.wanted_job, NAME_COLUMNS);
		buffer_append_string(out, ". ");
	}
	buffer_printf(out, "%zu %s here: ", session->job_count,
		      session->job_count == 1 ? "job runs" : "jobs run");
	for (size_t i = 0; i < session->job_count && i < JOBS_LISTED; i++) {
		if (i > 0)
			buffer_append_string(out, ", ");
		phrase_append_job(out, &session->jobs[i]);
	}
	if (session->job_count > JOBS_LISTED)
		buffer_printf(out, " and %zu more", session->job_count - JOBS_LISTED);
	buffer_append_string(out, "; select one with --job ");
	if (colon && colon[1] != '\0')
		phrase_append_name(out, colon + 1, NAME_COLUMNS);
	else
		buffer_printf(out, "%ld", (long)first->launcher_pid);
	buffer_append_char(out, '.');
}
