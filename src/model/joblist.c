#include "model/joblist.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "base/alloc.h"
#include "base/buffer.h"
#include "base/json.h"
#include "base/text.h"
#include "model/job.h"
#include "model/session.h"

static void joblist_add_rank(struct job_summary *summary, const struct session *session,
			     const struct rank *rank)
{
	const struct process *process = &rank->process;
	double passed = rank->told_at >= 0 ? session->now - rank->told_at : 0;
	double age = process->age + passed;

	if (rank_is_gone(rank))
		return;
	rankset_add(&summary->ranks, process->rank);
	if (process->world_size > summary->world_size)
		summary->world_size = process->world_size;
	if (process->age > 0 && age > summary->age)
		summary->age = age;
}

void job_summary_make(struct job_summary *summary, const struct session *session, size_t index)
{
	const struct job *job = &session->jobs[index];

	*summary = (struct job_summary){ .age = -1 };
	for (size_t i = 0; i < session->rank_count; i++) {
		if (session->job == (int)index)
			joblist_add_rank(summary, session, session->ranks[i]);
	}
	for (size_t i = 0; i < session->other_count; i++) {
		if (job_has(session, job, session->others[i]))
			joblist_add_rank(summary, session, session->others[i]);
	}
}

void job_summary_clear(struct job_summary *summary)
{
	rankset_clear(&summary->ranks);
}

/* Sorts by rank; of two processes with the same rank the one started later comes first. */
static int compare_ranks(const void *a, const void *b)
{
	const struct rank *const *first = a;
	const struct rank *const *second = b;
	const struct process *x = &(*first)->process;
	const struct process *y = &(*second)->process;

	if (x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1;
	return (x->start_time < y->start_time) - (x->start_time > y->start_time);
}

/* Makes a shallow copy of the session, with the job at index as the chosen job. */
static void view_make(struct session *view, const struct session *session, size_t index)
{
	size_t count = 0;

	*view = *session;
	view->verdict = (struct verdict){ .majority = -1 };
	view->job = (int)index;
	view->choice.focus = (struct rankset)RANKSET_INIT;
	view->choice.is_focus_all = false;
	view->choice.wanted = (struct rankset)RANKSET_INIT;
	view->choice.wanted_select = NULL;
	view->ranks = xcalloc(session->other_count + 1, sizeof(*view->ranks));
	for (size_t i = 0; i < session->other_count; i++) {
		struct rank *rank = session->others[i];

		if (job_has(session, &session->jobs[index], rank))
			view->ranks[count++] = rank;
	}
	qsort(view->ranks, count, sizeof(*view->ranks), compare_ranks);
	view->rank_count = 0;
	for (size_t i = 0; i < count; i++) {
		struct rank *rank = view->ranks[i];
		const struct rank *before =
			view->rank_count > 0 ? view->ranks[view->rank_count - 1] : NULL;

		if (!before || before->process.rank != rank->process.rank)
			view->ranks[view->rank_count++] = rank;
	}
	job_fill(view);
}

/* Frees the placeholders that job_fill() added, and resets the borrowed ranks' classes. */
static void joblist_view_clear(struct session *view)
{
	verdict_clear(&view->verdict);
	for (size_t i = 0; i < view->rank_count; i++) {
		struct rank *rank = view->ranks[i];

		rank->class_index = -1;
		rank->is_outlier = false;
		if (rank->process.pid == 0)
			rank_free(rank);
	}
	free(view->ranks);
}

static void joblist_note(struct job *job, const struct verdict *verdict)
{
	free(job->finding.sentence);
	job->finding = (struct job_finding){
		.sentence = xstrdup(verdict->sentence),
		.state = verdict->state,
		.has_outliers = rankset_count(&verdict->outliers) > 0,
	};
}

void joblist_judge(struct session *session)
{
	for (size_t i = 0; i < session->job_count; i++) {
		struct session view;

		if (session->job == (int)i) {
			joblist_note(&session->jobs[i], &session->verdict);
			continue;
		}
		view_make(&view, session, i);
		verdict_make(&view.verdict, &view);
		joblist_note(&session->jobs[i], &view.verdict);
		joblist_view_clear(&view);
	}
}

void launching_init(struct launching *launching)
{
	*launching = (struct launching){ .node = 0 };
	launched_init(&launching->job);
	buffer_init(&launching->transcript.bytes, 0);
}

void launching_clear(struct launching *launching)
{
	launched_clear(&launching->job);
	buffer_clear(&launching->transcript.bytes);
	launching_init(launching);
}

bool launching_is_alive(const struct session *session)
{
	const struct launching *launching = &session->launching;

	if (launching->job.state == LAUNCHED_NONE || session->nodes[launching->node].is_gone)
		return false;
	return launching->job.state == LAUNCHED_RUNNING || launching->job.has_others;
}

static void append_end(struct buffer *out, const struct launched *job)
{
	if (job->exit_signal > 0)
		buffer_printf(out, " was killed by signal %d (%s)", job->exit_signal,
			      strsignal(job->exit_signal));
	else if (job->exit_code >= 0)
		buffer_printf(out, " exited with code %d", job->exit_code);
	else
		buffer_append_string(out, " has exited");
	if (job->has_others)
		buffer_append_string(out, "; child processes keep running");
}

void launching_append(struct buffer *out, const struct session *session)
{
	const struct launched *job = &session->launching.job;
	const char *program = job->program != NULL ? job->program : "";
	const char *slash = strrchr(program, '/');

	if (job->state == LAUNCHED_NONE)
		return;
	program = slash != NULL ? slash + 1 : program;
	text_escape(out, program, strlen(program));
	switch (job->state) {
	case LAUNCHED_NONE:
		break;
	case LAUNCHED_RUNNING:
		buffer_printf(out, " runs (pid %d)", (int)job->pid);
		break;
	case LAUNCHED_ENDED:
		append_end(out, job);
		break;
	case LAUNCHED_LOST:
		buffer_append_string(out, " has lost its terminal");
		break;
	}
}

int session_apply_job(struct session *session, size_t node, const json_t *body, struct error *error)
{
	struct launched job;

	launched_init(&job);
	if (launched_from_json(&job, body, error) < 0) {
		launched_clear(&job);
		return -1;
	}
	launched_clear(&session->launching.job);
	session->launching.job = job;
	session->launching.node = node;
	session->step++;
	return 0;
}

void session_apply_job_output(struct session *session, const json_t *body)
{
	transcript_add(&session->launching.transcript, json_get_string(body, "output", ""), false);
}

/* The block of consecutive ranks of one machine: base to last. */
struct block {
	int last;
	int base; /* rank minus local rank, equal for all ranks of the machine */
	bool is_consistent;
};

static void expect(struct expectation *expectation, struct block *block,
		   const struct process *process)
{
	int base = process->rank - process->local_rank;

	if (process->rank > block->last)
		block->last = process->rank;
	if (process->world_size > expectation->world_size)
		expectation->world_size = process->world_size;
	if (!job_is_loopback(process->job))
		expectation->is_loopback = false;
	if (process->local_rank < 0 || (block->base >= 0 && block->base != base))
		block->is_consistent = false;
	block->base = base;
}

/* Fills the blocks of all nodes from the ranks of the chosen job. */
static void expect_blocks(const struct session *session, struct block *blocks,
			  struct expectation *expectation)
{
	const struct job *job = &session->jobs[session->job];

	for (size_t i = 0; i < session->node_count; i++)
		blocks[i] = (struct block){ .last = -1, .base = -1, .is_consistent = true };
	for (size_t i = 0; i < session->rank_count; i++) {
		const struct rank *rank = session->ranks[i];

		if (rank->process.pid != 0)
			expect(expectation, &blocks[rank->node], &rank->process);
	}
	for (size_t i = 0; i < session->other_count; i++) {
		const struct rank *rank = session->others[i];

		if (job_has(session, job, rank))
			expect(expectation, &blocks[rank->node], &rank->process);
	}
}

void expectation_make(struct expectation *expectation, const struct session *session)
{
	struct block *blocks = xcalloc(session->node_count + 1, sizeof(*blocks));

	*expectation = (struct expectation){
		.numbers = RANKSET_INIT,
		.is_loopback = true,
	};
	expect_blocks(session, blocks, expectation);
	for (size_t i = 0; i < session->node_count; i++) {
		const struct block *block = &blocks[i];

		if (block->is_consistent && block->base >= 0 && block->base <= block->last)
			rankset_add_range(&expectation->numbers, block->base, block->last);
	}
	free(blocks);
	if (expectation->is_loopback && expectation->world_size > 0)
		rankset_add_range(&expectation->numbers, 0, expectation->world_size - 1);
}

void expectation_clear(struct expectation *expectation)
{
	rankset_clear(&expectation->numbers);
}
