#include "finding.h"

#include <ctype.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "base/array.h"
#include "base/buffer.h"
#include "model/breakpoints.h"
#include "model/debug-state.h"
#include "model/joblist.h"
#include "model/stall.h"
#include "model/stops.h"
#include "model/wait-group.h"
#include "scene.h"

#define NUMBERS_MAXIMUM 3
#define NOTHING "none"

/* Numbers are those of the line. */
struct question {
	const struct session *session;
	int numbers[NUMBERS_MAXIMUM];
};

/* The verdict, judged before */

/* "hung 3": rank 3 is the outlier. */
static void append_finding(struct buffer *out, const struct question *question)
{
	const struct verdict *verdict = &question->session->verdict;

	buffer_append_string(out, verdict_state_name(verdict->state));
	buffer_append_string(out, rankset_count(&verdict->outliers) > 0 ? " " : "");
	rankset_append(out, &verdict->outliers);
}

static void append_state_and_sentence(struct buffer *out, const struct question *question)
{
	append_finding(out, question);
	buffer_printf(out, ": %s", question->session->verdict.sentence);
}

static void append_should_look(struct buffer *out, const struct question *question)
{
	buffer_append_string(out, verdict_is_finding(&question->session->verdict) ? "yes" : "no");
}

static void append_classes(struct buffer *out, const struct question *question)
{
	const struct verdict *verdict = &question->session->verdict;

	for (size_t i = 0; i < verdict->class_count; i++) {
		buffer_append_string(out, i > 0 ? ", " : "");
		rankset_append(out, &verdict->classes[i].ranks);
		buffer_printf(out, " mark %d%s", verdict->classes[i].mark,
			      verdict->majority == (int)i ? " majority" : "");
	}
}

static void append_chosen_job(struct buffer *out, const struct question *question)
{
	const struct session *session = question->session;
	const struct verdict *verdict = &session->verdict;

	if (session->job >= 0)
		buffer_printf(out, "%d, %s, %zu of %d ranks", session->job, verdict->job,
			      verdict->ranks_found, verdict->world_size);
}

static void append_stall(struct buffer *out, const struct question *question)
{
	buffer_printf(out, "%g", stall_seconds(question->session, -1));
}

/* The calls of scenarios are made in 1970. */
static void append_stall_of_old_calls(struct buffer *out, const struct question *question)
{
	buffer_printf(out, "%g", stall_seconds(question->session, question->numbers[0]));
}

/* What was judged before, of one job or all */

static void append_job(struct buffer *out, const struct question *question)
{
	const struct job_finding *finding;

	if ((size_t)question->numbers[0] >= question->session->job_count)
		return;
	finding = &question->session->jobs[question->numbers[0]].finding;
	buffer_printf(out, "%s%s: %s", verdict_state_name(finding->state),
		      finding->has_outliers ? " with outliers" : "",
		      finding->sentence ? finding->sentence : "");
}

static void append_job_summary(struct buffer *out, const struct question *question)
{
	struct job_summary summary;

	if ((size_t)question->numbers[0] >= question->session->job_count)
		return;
	job_summary_make(&summary, question->session, (size_t)question->numbers[0]);
	rankset_append_counted(out, &summary.ranks);
	buffer_printf(out, " of %d, %.1f s", summary.world_size, summary.age);
	job_summary_clear(&summary);
}

/* Pids of all processes that are marked. */
static void append_outlier_pids(struct buffer *out, const struct question *question)
{
	const struct session *session = question->session;
	struct rankset pids = RANKSET_INIT;

	for (size_t i = 0; i < session->rank_count; i++) {
		const struct rank *rank = session->ranks[i];

		if (rank->is_outlier)
			rankset_add(&pids, rank->process.pid);
		for (size_t j = 0; j < rank->child_count; j++) {
			if (rank->children[j]->is_outlier)
				rankset_add(&pids, rank->children[j]->process.pid);
		}
	}
	for (size_t i = 0; i < session->other_count; i++) {
		if (session->others[i]->is_outlier || session->others[i]->class_index != -1)
			rankset_add(&pids, session->others[i]->process.pid);
	}
	rankset_append(out, &pids);
	rankset_clear(&pids);
}

static void append_processes(struct buffer *out, const struct question *question)
{
	const struct session *session = question->session;

	buffer_printf(out, "%zu ranks, %zu others, focus ", session->rank_count,
		      session->other_count);
	rankset_append(out, &session->choice.focus);
}

static void append_selected(struct buffer *out, const struct question *question)
{
	const struct session *session = question->session;
	const struct thread *thread = session_selected_thread(session);

	buffer_printf(out, "rank %d, pid %d, tid %d, frame %d",
		      session_selected(session)->process.rank,
		      session_looked_at(session)->process.pid, thread ? thread->sample.tid : 0,
		      session_selected_depth(session));
}

/* A rank */

static const struct {
	const char *name;
	bool (*is_so)(const struct rank *rank);
} flags[] = {
	{ "moving", rank_is_moving },
	{ "in a debugger", debug_state_is_held },
	{ "traced", ptrace_state_is },
	{ "can be traced", ptrace_state_is_free },
};

static void append_rank(struct buffer *out, const struct question *question)
{
	const struct rank *rank = session_find_rank(question->session, question->numbers[0]);
	const struct thread *thread = rank ? rank_main_thread(rank) : NULL;
	struct buffer word = BUFFER_INIT;

	if (!rank)
		return;
	buffer_append_string(out, rank_state_name(rank->state));
	for (size_t i = 0; i < ARRAY_LENGTH(flags); i++) {
		if (flags[i].is_so(rank))
			buffer_printf(out, ", %s", flags[i].name);
	}
	if (thread && thread->is_busy)
		buffer_append_string(out, ", busy");
	debug_state_append_word(&word, rank);
	if (word.length > 0)
		buffer_printf(out, ", card \"%s\"", word.data);
	if (rank->cpu_share < 0)
		buffer_append_string(out, ", cpu unknown");
	else if (rank->cpu_share > 0)
		buffer_printf(out, ", cpu %g", rank->cpu_share);
	if (rank->error)
		buffer_printf(out, ", error \"%s\"", rank->error);
	buffer_clear(&word);
}

/* Numbers: the rank, the depth of a frame of another rank, that rank. */
static void append_same_frame(struct buffer *out, const struct question *question)
{
	const struct rank *rank = session_find_rank(question->session, question->numbers[0]);
	const struct rank *other = session_find_rank(question->session, question->numbers[2]);

	if (rank && other)
		buffer_printf(out, "%d, of the function %d",
			      debug_state_same_depth(rank, other, question->numbers[1]),
			      debug_state_same_function(rank, other, question->numbers[1]));
}

static void append_watchdog(struct buffer *out, const struct question *question)
{
	buffer_printf(out, "%g", watchdog_seconds(question->session));
}

/* Stops and breakpoints */

static void append_stop_count(struct buffer *out, const struct question *question)
{
	buffer_printf(out, "%d", (int)question->session->stops.count);
}

static void append_stop(struct buffer *out, const struct question *question)
{
	const struct stop *stop =
		stops_find(&question->session->stops, (uint64_t)question->numbers[0]);

	if (!stop)
		return;
	buffer_printf(out, "rank %d, ", stop->rank);
	if (stop->said)
		buffer_printf(out, "breakpoint %d: %s", stop->hits[0], stop->said);
	else if (stop->resumed_for != RESUME_REQUEST)
		buffer_printf(out, "%s: %s", resume_reason_name(stop->resumed_for),
			      stop->description);
	else
		buffer_printf(out, "%s:%d, %s", stop->func ? stop->func : "?", stop->line,
			      stop->description);
}

/* The ids, and the ranks that a breakpoint is for. */
static void append_breakpoints(struct buffer *out, const struct question *question)
{
	const struct session *session = question->session;
	const struct breakpoints *list = &session->choice.breakpoints;

	for (size_t i = 0; i < list->count; i++) {
		struct rankset set = RANKSET_INIT;

		for (size_t j = 0; j < session->rank_count; j++) {
			if (breakpoint_is_for(&list->items[i], session->ranks[j]->process.rank))
				rankset_add(&set, session->ranks[j]->process.rank);
		}
		buffer_printf(out, "%s%d for ", i > 0 ? "; " : "", list->items[i].breakpoint.id);
		rankset_append(out, &set);
		rankset_clear(&set);
	}
}

/* Clears the summary. */
static void append_breakpoint(struct buffer *out, struct breakpoint_summary *summary)
{
	buffer_printf(out, "%d", summary->id);
	if (summary->id == 0)
		buffer_printf(out, ", pdb's %d", summary->number);
	buffer_append_string(out, ", ");
	breakpoint_append_place(out, summary);
	buffer_printf(out, ", hits %d, set in %zu of %zu", (int)summary->hits,
		      rankset_count(&summary->set), rankset_count(&summary->ranks));
	buffer_append_string(out, rankset_count(&summary->set) > 0 ? " " : "");
	breakpoint_append_backends(out, summary);
	breakpoint_summary_clear(summary);
}

static void append_breakpoint_of_index(struct buffer *out, const struct question *question)
{
	struct breakpoint_summary summary;

	if (breakpoint_summary_make(&summary, question->session, (size_t)question->numbers[0]))
		append_breakpoint(out, &summary);
}

static void append_breakpoint_of_id(struct buffer *out, const struct question *question)
{
	struct breakpoint_summary summary;

	if (breakpoint_summary_find(&summary, question->session, question->numbers[0]))
		append_breakpoint(out, &summary);
}

static void append_breakpoint_at_line(struct buffer *out, const struct question *question)
{
	struct breakpoint_summary summary;

	if (breakpoint_summary_at(&summary, question->session, "/job/train.py",
				  question->numbers[0]))
		append_breakpoint(out, &summary);
}

static const struct {
	const char *name; /* "#" is a number */
	void (*append)(struct buffer *out, const struct question *question);
	bool is_judged; /* the session is judged before */
} findings[] = {
	{ "finding", append_finding, true },
	{ "verdict", append_state_and_sentence, true },
	{ "the user should look", append_should_look, true },
	{ "classes", append_classes, true },
	{ "chosen job", append_chosen_job, true },
	{ "stall", append_stall, true }, /* seconds */
	{ "stall, calls # s before", append_stall_of_old_calls, true },
	{ "job #", append_job, false },
	{ "summary of job #", append_job_summary, false },
	{ "pids of outliers", append_outlier_pids, false },
	{ "processes", append_processes, false },
	{ "selected", append_selected, false },
	{ "rank #", append_rank, false },
	{ "frame of rank # like frame # of rank #", append_same_frame, false },
	{ "watchdog", append_watchdog, false }, /* seconds */
	{ "stops", append_stop_count, false },
	{ "stop #", append_stop, false },
	{ "breakpoints", append_breakpoints, false },
	{ "breakpoint of index #", append_breakpoint_of_index, false },
	{ "breakpoint of id #", append_breakpoint_of_id, false },
	{ "breakpoint at line #", append_breakpoint_at_line, false },
};

/* NaN, which no comparison is true of: text is no number. */
static double read_number(const char *text)
{
	char *end;
	double number = strtod(text, &end);

	return end > text && *end == '\0' ? number : NAN;
}

/* Compares with at, the line behind the finding's name. */
static bool is_found(const char *at, const char *found)
{
	if (strncmp(at, " = ", 3) == 0)
		return strcmp(found, at + 3) == 0;
	if (strncmp(at, " < ", 3) == 0)
		return read_number(found) < read_number(at + 3);
	if (strncmp(at, " >= ", 4) == 0)
		return read_number(found) >= read_number(at + 4);
	if (strncmp(at, " has ", 5) == 0)
		return strstr(found, at + 5) != NULL;
	return strncmp(at, " lacks ", 7) == 0 && strcmp(found, NOTHING) != 0 &&
	       !strstr(found, at + 7);
}

/* Returns line behind the name, whose numbers are read; NULL: it has another name. */
static const char *match(const char *name, const char *line, int *numbers)
{
	for (; *name; name++) {
		char *end;

		if (*name != '#' && *name != *line)
			return NULL;
		if (*name != '#') {
			line++;
			continue;
		}
		if (!isdigit((unsigned char)*line))
			return NULL;
		*numbers++ = (int)strtol(line, &end, 10);
		line = end;
	}
	return line;
}

enum finding_result finding_check(struct scene *scene, const char *line, struct buffer *found)
{
	for (size_t i = 0; i < ARRAY_LENGTH(findings); i++) {
		struct question question = { .session = &scene->session };
		const char *rest = match(findings[i].name, line, question.numbers);

		if (!rest || *rest != ' ')
			continue;
		if (findings[i].is_judged)
			session_judge(&scene->session);
		findings[i].append(found, &question);
		if (found->length == 0)
			buffer_append_string(found, NOTHING);
		return is_found(rest, found->data) ? FINDING_SAME : FINDING_OTHER;
	}
	return FINDING_NO_NAME;
}
