#include "model/job.h"

#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "base/alloc.h"
#include "base/array.h"
#include "base/log.h"
#include "base/map.h"
#include "model/joblist.h"
#include "model/rank-filter.h"
#include "model/session.h"

/* Limit of placeholders for missing ranks: a node may report any world size. */
#define PLACEHOLDERS_MAXIMUM 4096

static bool is_text_equal(const char *a, const char *b)
{
	return strcmp(a ? a : "", b ? b : "") == 0;
}

bool job_is_loopback(const char *name)
{
	return name && (strncmp(name, "127.", 4) == 0 || strncmp(name, "localhost:", 10) == 0 ||
			strncmp(name, "::1:", 4) == 0 || strncmp(name, "[::1]:", 6) == 0);
}

/*
 * True if a rank on another machine than the job's first machine belongs to the job. All machines
 * know the job by the same address, but a loopback address is a different host on each machine.
 * Ranks without an address (mpirun) are taken for one job if script and world size are the same.
 * Pids of launchers and uids cannot be compared across machines.
 */
static bool is_across(const struct session *session, const struct job *job, const struct rank *rank)
{
	const struct process *process = &rank->process;

	if (!is_text_equal(job->name, process->job))
		return false;
	if (job->name[0] == '\0')
		return job->world_size == process->world_size &&
		       is_text_equal(job->script, process->script);
	return !job_is_loopback(job->name) ||
	       is_text_equal(session->nodes[job->node].name, session->nodes[rank->node].name);
}

bool job_has(const struct session *session, const struct job *job, const struct rank *rank)
{
	const struct process *process = &rank->process;

	if (session->choice.has_wanted_pids)
		return true;
	if (job->node != rank->node)
		return is_across(session, job, rank);
	return job->launcher_pid == process->launcher_pid && job->uid == process->uid &&
	       is_text_equal(job->name, process->job);
}

static void job_describe(struct job *job, const struct rank *rank)
{
	const struct process *process = &rank->process;

	free(job->name);
	free(job->launcher);
	free(job->script);
	job->node = rank->node;
	job->world_size = process->world_size;
	job->name = xstrdup(process->job ? process->job : "");
	job->launcher = xstrdup(process->launcher ? process->launcher : "");
	job->script = xstrdup(process->script ? process->script : "");
	job->launcher_pid = process->launcher_pid;
	if (job->uid != process->uid) {
		free(job->user);
		job->user = NULL;
	}
	job->uid = process->uid;
}

static bool job_is_live(const struct rank *rank)
{
	return !rank_is_gone(rank);
}

static bool has_live_rank(const struct session *session)
{
	for (size_t i = 0; i < session->rank_count; i++) {
		if (job_is_live(session->ranks[i]))
			return true;
	}
	return false;
}

static void job_remember(struct session *session, const struct job *job)
{
	struct job_key *key = &session->choice.job;

	free(key->name);
	*key = (struct job_key){
		.name = xstrdup(job->name),
		.node = job->node,
		.launcher_pid = job->launcher_pid,
		.uid = job->uid,
	};
}

static bool is_remembered(const struct session *session, const struct job *job)
{
	const struct job_key *key = &session->choice.job;

	if (!key->name || strcmp(key->name, job->name) != 0)
		return false;
	/* A job on several machines may have been found on another of its machines before. */
	if (key->node != job->node)
		return job->name[0] != '\0' && !job_is_loopback(job->name);
	return key->launcher_pid == job->launcher_pid && key->uid == job->uid;
}

/*
 * Index of the job that the user chose last; -1: not found. A restarted job may have only its
 * launcher in common with the job before.
 */
static int find_remembered(const struct session *session)
{
	const struct job_key *key = &session->choice.job;

	for (size_t i = 0; i < session->job_count; i++) {
		if (is_remembered(session, &session->jobs[i]))
			return (int)i;
	}
	for (size_t i = 0; i < session->job_count && key->name; i++) {
		const struct job *job = &session->jobs[i];

		if (key->launcher_pid > 0 && key->node == job->node &&
		    key->launcher_pid == job->launcher_pid)
			return (int)i;
	}
	return -1;
}

/*
 * True if the rank belongs to a restart of the chosen job: torchrun restarts ranks under the same
 * launcher, but with a new port, when no old rank is alive.
 */
static bool is_restart(const struct session *session, const struct rank *rank)
{
	const struct process *process = &rank->process;
	const struct job *job;

	if (session->job < 0 || process->launcher_pid == 0)
		return false;
	job = &session->jobs[session->job];
	return job->node == rank->node && job->launcher_pid == process->launcher_pid &&
	       job->uid == process->uid && !has_live_rank(session);
}

static size_t job_find_or_add(struct session *session, const struct rank *rank)
{
	for (size_t i = 0; i < session->job_count; i++) {
		if (job_has(session, &session->jobs[i], rank))
			return i;
	}
	if (is_restart(session, rank)) {
		job_describe(&session->jobs[session->job], rank);
		job_remember(session, &session->jobs[session->job]);
		return (size_t)session->job;
	}
	/* Only a hostile node reports so many jobs: add further ranks to the last job. */
	if (session->job_count >= JOBS_MAXIMUM)
		return session->job_count - 1;
	session->jobs = xrealloc(session->jobs, (session->job_count + 1) * sizeof(struct job));
	session->jobs[session->job_count] = (struct job){ .name = NULL };
	job_describe(&session->jobs[session->job_count], rank);
	return session->job_count++;
}

/* Index of the first rank in session->ranks whose number is at least number. */
static size_t lower_bound(const struct session *session, int number)
{
	size_t low = 0;
	size_t high = session->rank_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (session->ranks[middle]->process.rank < number)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static void job_add_other(struct session *session, struct rank *owned_rank)
{
	ARRAY_GROW(session->others, session->other_count, session->other_capacity);
	session->others[session->other_count++] = owned_rank;
}

void job_insert(struct session *session, struct rank *owned_rank)
{
	int number = owned_rank->process.rank;
	size_t at = lower_bound(session, number);

	ARRAY_GROW(session->ranks, session->rank_count, session->rank_capacity);
	memmove(session->ranks + at + 1, session->ranks + at,
		(session->rank_count - at) * sizeof(struct rank *));
	session->ranks[at] = owned_rank;
	session->rank_count++;
	if (session->choice.is_focus_all)
		rankset_add(&session->choice.focus, number);
}

/* Removes the rank from its list; the caller then owns the rank. */
static void job_take(struct session *session, struct rank *rank)
{
	size_t at = lower_bound(session, rank->process.rank);

	rank->class_index = -1;
	rank->is_outlier = false;
	if (at < session->rank_count && session->ranks[at] == rank) {
		session->rank_count--;
		memmove(session->ranks + at, session->ranks + at + 1,
			(session->rank_count - at) * sizeof(struct rank *));
		if (session->choice.is_focus_all)
			rankset_remove(&session->choice.focus, rank->process.rank);
		return;
	}
	for (size_t i = 0; i < session->other_count; i++) {
		if (session->others[i] != rank)
			continue;
		session->others[i] = session->others[--session->other_count];
		return;
	}
}

static void forget_pids(struct session *session, const struct rank *rank)
{
	session_forget_pid(session, rank);
	for (size_t i = 0; i < rank->child_count; i++)
		forget_pids(session, rank->children[i]);
}

void job_remove(struct session *session, struct rank *rank)
{
	job_take(session, rank);
	forget_pids(session, rank);
	rank_free(rank);
}

void job_end(struct session *session, struct rank *rank)
{
	size_t at = lower_bound(session, rank->process.rank);

	if (at == session->rank_count || session->ranks[at] != rank) {
		job_remove(session, rank);
		return;
	}
	/* Forget the pid: the kernel may reuse it. The children's ends are reported separately. */
	session_forget_pid(session, rank);
}

/*
 * True if rank replaces before: before has ended, or rank is a later process of the same node. Two
 * recordings may have the same rank, and start times of different machines cannot be compared: then
 * before stays.
 */
static bool is_successor(const struct rank *rank, const struct rank *before)
{
	return rank_is_gone(before) || (rank->node == before->node &&
					rank->process.start_time > before->process.start_time);
}

static void job_settle(struct session *session, struct rank *owned_rank, size_t job)
{
	int number = owned_rank->process.rank;
	struct rank *before = session_find_rank(session, number);

	if (session->job != (int)job || !rank_filter_has(session, owned_rank) ||
	    (before && !is_successor(owned_rank, before))) {
		job_add_other(session, owned_rank);
		return;
	}
	if (before)
		job_remove(session, before);
	job_insert(session, owned_rank);
}

/*
 * True if the job is a new run of the chosen job: a job that probetui started is alive (then all
 * ranks are the started job's), or the same user started the same script. If the user chose the job
 * by name, a new run must have the same name.
 */
static bool is_anew(const struct session *session, const struct job *job)
{
	const struct job *before = &session->jobs[session->job];

	if (launching_is_alive(session))
		return true;
	if (session->choice.wanted_job && !is_text_equal(job->name, before->name))
		return false;
	return job->uid == before->uid && is_text_equal(job->script, before->script);
}

/* The screen may be unattended: breakpoints of a finished run must not stop the next run. */
static void disable_breakpoints(struct session *session)
{
	struct breakpoints *list = &session->choice.breakpoints;
	bool is_any = false;

	for (size_t i = 0; i < list->count; i++) {
		is_any |= !list->items[i].breakpoint.is_disabled;
		list->items[i].breakpoint.is_disabled = true;
	}
	if (!is_any)
		return;
	breakpoints_changed(list);
	log_write(LOG_WARNING, "the job was restarted: breakpoints of the previous run are "
			       "disabled (use `enable ID` to enable one)");
}

void job_place(struct session *session, struct rank *owned_rank)
{
	bool was_over = session->job >= 0 && !has_live_rank(session);
	size_t job = job_find_or_add(session, owned_rank);

	session_note_pid(session, owned_rank);
	job_settle(session, owned_rank, job);
	if (!session->is_discovered)
		return;
	if (session->job < 0)
		job_choose(session);
	else if (session->job != (int)job && is_remembered(session, &session->jobs[job]))
		session_choose_job(session, job);
	else if (session->job != (int)job && was_over && is_anew(session, &session->jobs[job])) {
		if (!launching_is_alive(session))
			disable_breakpoints(session);
		session_choose_job(session, job);
	}
}

void session_choose_job(struct session *session, size_t index)
{
	struct rank **candidates;
	size_t count = session->other_count + session->rank_count;

	if (index >= session->job_count || session->job == (int)index)
		return;
	candidates = xcalloc(count + 1, sizeof(*candidates));
	for (size_t i = 0; i < count; i++)
		candidates[i] = i < session->other_count ? session->others[i]
							 : session->ranks[i - session->other_count];
	session->other_count = 0;
	session->rank_count = 0;
	/* The first job keeps a selection that was made before there was any job. */
	if (session->job >= 0) {
		rankset_clear(&session->choice.focus);
		session->choice.is_focus_all = true;
		session->choice.selection = (struct selection){ .rank = -1, .depth = -1 };
	}
	session->job = (int)index;
	job_remember(session, &session->jobs[index]);
	for (size_t i = 0; i < count; i++) {
		if (job_is_live(candidates[i])) {
			job_settle(session, candidates[i], job_find_or_add(session, candidates[i]));
		} else {
			forget_pids(session, candidates[i]);
			rank_free(candidates[i]);
		}
	}
	free(candidates);
	session->revision++;
}

static bool job_is_named(const struct job *job, const char *wanted)
{
	const char *colon = strrchr(job->name, ':');
	char launcher[24];

	snprintf(launcher, sizeof(launcher), "%ld", (long)job->launcher_pid);
	return (wanted[0] != '\0' && strcmp(job->name, wanted) == 0) ||
	       (colon && strcmp(colon + 1, wanted) == 0) ||
	       (job->launcher_pid > 0 && strcmp(launcher, wanted) == 0);
}

bool job_is_wanted(const struct session *session, const struct job *job)
{
	return !session->choice.wanted_job || job_is_named(job, session->choice.wanted_job);
}

size_t job_count_named(const struct session *session, const char *text)
{
	size_t count = 0;

	for (size_t i = 0; i < session->job_count; i++)
		count += job_is_named(&session->jobs[i], text);
	return count;
}

int job_find(const struct session *session, const char *text)
{
	int found = -1;

	for (size_t i = 0; i < session->job_count; i++) {
		if (!job_is_named(&session->jobs[i], text))
			continue;
		if (found >= 0)
			return -1;
		found = (int)i;
	}
	return found;
}

static bool has_wanted_rank(const struct session *session, const struct job *job)
{
	for (size_t i = 0; i < session->other_count; i++) {
		const struct rank *rank = session->others[i];

		if (rank_filter_has(session, rank) && job_has(session, job, rank))
			return true;
	}
	return false;
}

/* Returns the only job that fits --job and --ranks; -1: no job or several jobs fit. */
static int job_find_wanted(const struct session *session)
{
	int found = -1;

	for (size_t i = 0; i < session->job_count; i++) {
		const struct job *job = &session->jobs[i];

		if (!job_is_wanted(session, job))
			continue;
		if (rank_filter_is_part(session) && session->job_count > 1 &&
		    !has_wanted_rank(session, job))
			continue;
		if (found >= 0)
			return -1;
		found = (int)i;
	}
	return found;
}

void job_choose(struct session *session)
{
	int found;

	if (session->job >= 0)
		return;
	found = find_remembered(session);
	/* A job that the user named is chosen even if that job lacks the wanted ranks. */
	if (found < 0 && session->choice.wanted_job)
		found = job_find(session, session->choice.wanted_job);
	if (found < 0)
		found = job_find_wanted(session);
	if (found >= 0)
		session_choose_job(session, (size_t)found);
}

static void job_count_live(struct session *session)
{
	for (size_t i = 0; i < session->job_count; i++)
		session->jobs[i].rank_count = 0;
	for (size_t i = 0; i < session->rank_count; i++) {
		if (job_is_live(session->ranks[i]))
			session->jobs[session->job].rank_count++;
	}
	for (size_t i = 0; i < session->other_count; i++) {
		/* job_find_or_add() may move session->jobs, so call it first. */
		size_t job = job_find_or_add(session, session->others[i]);

		session->jobs[job].rank_count++;
	}
}

static void clear_job(struct job *job)
{
	free(job->name);
	free(job->launcher);
	free(job->script);
	free(job->user);
	free(job->finding.sentence);
}

static void forget_empty(struct session *session)
{
	size_t kept = 0;
	int chosen = -1;

	for (size_t i = 0; i < session->job_count; i++) {
		if (session->jobs[i].rank_count == 0 && session->job != (int)i) {
			clear_job(&session->jobs[i]);
			continue;
		}
		if (session->job == (int)i)
			chosen = (int)kept;
		session->jobs[kept++] = session->jobs[i];
	}
	session->job_count = kept;
	session->job = chosen;
}

static void add_placeholder(struct session *session, int number,
			    const struct expectation *expectation)
{
	const struct job *job = &session->jobs[session->job];
	struct process process;
	struct rank *rank;

	process_init(&process);
	process.rank = number;
	process.uid = job->uid;
	process.world_size = expectation->world_size;
	rank = rank_new(&process);
	process_clear(&process);
	rank->is_missing = rankset_contains(&expectation->numbers, number);
	if (rank_filter_has(session, rank))
		job_insert(session, rank);
	else
		rank_free(rank);
}

/* The reason why a rank that was not found may still exist; NULL: no reason. */
static char *explain_unseen(const struct session *session)
{
	for (size_t i = 0; i < session->node_count; i++) {
		const struct session_node *node = &session->nodes[i];

		if (node->unread)
			return xasprintf("not found, but not all processes could be read: %s",
					 node->unread);
		if (node->hidden > 0)
			return xasprintf(
				"not found, but %zu Python process%s of this user cannot be read",
				node->hidden, node->hidden == 1 ? "" : "es");
	}
	return NULL;
}

static void note_unseen(struct session *session)
{
	char *unseen = explain_unseen(session);

	for (size_t i = 0; i < session->rank_count; i++) {
		struct rank *rank = session->ranks[i];

		if (rank->process.pid != 0)
			continue;
		free(rank->unseen);
		rank->unseen = xstrdup_or_null(unseen);
		rank_update_state(rank);
	}
	free(unseen);
}

void job_fill(struct session *session)
{
	struct expectation expectation;
	const struct rankset *numbers = &session->choice.wanted;
	size_t placeholders = 0; /* number of placeholders in session->ranks */

	if (session->choice.has_wanted_pids)
		return;
	expectation_make(&expectation, session);
	if (numbers->range_count == 0)
		numbers = &expectation.numbers;
	for (size_t i = 0; i < session->rank_count; i++)
		placeholders += session->ranks[i]->process.pid == 0;
	for (int rank = rankset_next(numbers, -1); rank >= 0 && placeholders < PLACEHOLDERS_MAXIMUM;
	     rank = rankset_next(numbers, rank)) {
		if (session_find_rank(session, rank))
			continue;
		add_placeholder(session, rank, &expectation);
		placeholders++;
	}
	expectation_clear(&expectation);
	note_unseen(session);
}

void job_update(struct session *session)
{
	job_count_live(session);
	forget_empty(session);
	if (session->is_discovered)
		job_choose(session); /* if only one of several jobs is left, choose that job */
	if (session->is_discovered && session->job >= 0 && session_is_searched(session))
		job_fill(session);
}

void job_clear_all(struct session *session)
{
	for (size_t i = 0; i < session->job_count; i++)
		clear_job(&session->jobs[i]);
	free(session->jobs);
	session->jobs = NULL;
	session->job_count = 0;
	session->job = -1;
}
