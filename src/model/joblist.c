#include "model/joblist.h"

#include <stdlib.h>

#include "banned.h"
#include "base/alloc.h"
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

/* Makes a shallow copy of the session in which job index is chosen. */
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
