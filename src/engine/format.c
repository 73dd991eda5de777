#include "engine/format.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "base/array.h"
#include "base/buffer.h"
#include "base/json.h"
#include "base/text.h"
#include "model/breakpoints.h"
#include "model/job.h"
#include "model/joblist.h"
#include "model/place.h"
#include "model/session.h"
#include "model/stacktree.h"
#include "protocol/stack.h"
#include "protocol/variable.h"

/*
 * Minimum number of equal consecutive frames of a recursion that are folded to the first and the
 * last.
 */
#define FOLD_MINIMUM 5

bool format_is_chosen(const struct rankset *ranks, const struct rank *rank)
{
	return ranks->range_count == 0 || rankset_contains(ranks, rank->process.rank);
}

void format_text(struct buffer *out, const char *text)
{
	if (!text)
		text = "?";
	text_escape(out, text, strlen(text));
}

void format_clause(char *sentence)
{
	static const char *const words[] = { "The ", "There ", "This ", "That ", "It ",
					     "Its ", "No ",    "A ",	"An " };

	for (size_t i = 0; i < ARRAY_LENGTH(words); i++) {
		if (strncmp(sentence, words[i], strlen(words[i])) == 0)
			sentence[0] += 'a' - 'A';
	}
}

void format_text_frame(struct buffer *out, const struct frame *frame)
{
	format_text(out, frame->code->func);
	buffer_append_string(out, " (");
	place_append(out, frame);
	buffer_append_char(out, ')');
}

/* Appends text, padded with blanks to width columns, then two blanks. */
static void format_text_append_column(struct buffer *out, const char *text, int width)
{
	int used = text_width(text);

	buffer_append_string(out, text);
	buffer_printf(out, "%*s", used < width ? width - used + 2 : 2, "");
}

/* Raises *width to the width of text. */
static void format_text_widen(int *width, const char *text)
{
	int used = text_width(text);

	if (used > *width)
		*width = used;
}

static void append_user_frame(struct buffer *out, const struct rank *rank)
{
	const struct thread *thread = rank_main_thread(rank);
	const struct frame *frame =
		thread ? place_find(&rank->process, thread->sample.stack) : NULL;

	if (frame)
		format_text_frame(out, frame);
}

static const char *activity_name(const struct rank *rank)
{
	const struct thread *thread = rank_main_thread(rank);

	return thread ? thread->activity.name : "";
}

static void cut_blanks(struct buffer *out)
{
	while (out->length > 0 && out->data[out->length - 1] == ' ')
		buffer_truncate(out, out->length - 1);
}

/* Least width of "pid 4711" in a table. */
#define PROCESS_COLUMNS 10

void format_text_process(struct buffer *out, const struct session *session, const struct rank *rank)
{
	if (process_shown_pid(&rank->process) <= 0)
		return;
	if (session->node_count > 1 && rank->node < session->node_count) {
		format_text(out, session->nodes[rank->node].name);
		buffer_printf(out, ":%d", (int)rank->process.pid);
		return;
	}
	buffer_printf(out, "pid %d", (int)rank->process.pid);
}

static void append_rank_line(struct buffer *out, const struct session *session,
			     const struct rank *rank, int process_width)
{
	struct buffer process = BUFFER_INIT;
	struct buffer activity = BUFFER_INIT;

	format_text(&activity, activity_name(rank));
	if (rank->process.role) {
		buffer_append_string(out, "      ");
		format_text(out, rank->process.role);
	} else {
		buffer_printf(out, "%4d%s", rank->process.rank, rank->is_outlier ? " *" : "  ");
	}
	format_text_process(&process, session, rank);
	buffer_append_string(out, "  ");
	format_text_append_column(out, process.data, process_width);
	buffer_clear(&process);
	format_text_append_column(out, rank_state_name(rank->state), 10);
	format_text_append_column(out, activity.data, 16);
	append_user_frame(out, rank);
	cut_blanks(out);
	buffer_append_char(out, '\n');
	buffer_clear(&activity);
}

static void measure_process(int *width, const struct session *session, const struct rank *rank)
{
	struct buffer text = BUFFER_INIT;

	format_text_process(&text, session, rank);
	format_text_widen(width, text.data);
	buffer_clear(&text);
}

void format_text_ranks(struct buffer *out, const struct session *session,
		       const struct rankset *ranks)
{
	int width = PROCESS_COLUMNS;

	for (size_t i = 0; i < session->rank_count; i++) {
		const struct rank *rank = session->ranks[i];

		if (!format_is_chosen(ranks, rank))
			continue;
		measure_process(&width, session, rank);
		for (size_t j = 0; j < rank->child_count; j++)
			measure_process(&width, session, rank->children[j]);
	}
	for (size_t i = 0; i < session->rank_count; i++) {
		const struct rank *rank = session->ranks[i];

		if (!format_is_chosen(ranks, rank))
			continue;
		append_rank_line(out, session, rank, width);
		for (size_t j = 0; j < rank->child_count; j++)
			append_rank_line(out, session, rank->children[j], width);
	}
}

struct widths {
	int ranks;
	int activity;
};

static void measure_class(struct widths *widths, const struct rank_class *class)
{
	struct buffer text = BUFFER_INIT;

	rankset_append(&text, &class->ranks);
	format_text_widen(&widths->ranks, text.data);
	buffer_reset(&text);
	format_text(&text, class->activity.name);
	format_text_widen(&widths->activity, text.data);
	buffer_clear(&text);
}

/* Returns the place in the rank's last known stack, borrowed; NULL if no stack is known. */
static const struct frame *last_frame(const struct session *session, int number)
{
	const struct rank *rank = session_find_rank(session, number);

	return rank ? place_find(&rank->process, rank_last_stack(rank)) : NULL;
}

/*
 * Appends the place where the ranks were last sampled. Ranks that have exited share a class, even
 * if their last places differ.
 */
static void append_last(struct buffer *out, const struct session *session,
			const struct rank_class *class)
{
	int first = rankset_first(&class->ranks);
	const struct frame *frame = last_frame(session, first);

	for (int i = first; frame && i >= 0; i = rankset_next(&class->ranks, i)) {
		const struct frame *other = last_frame(session, i);

		if (other && other->code == frame->code && other->lineno == frame->lineno)
			continue;
		buffer_append_string(out, "last seen at several places");
		return;
	}
	if (!frame) {
		buffer_append_string(out, "no stack");
		return;
	}
	buffer_append_string(out, "last seen in ");
	format_text_frame(out, frame);
}

/* Appends "  7  0-2,4-7  all_reduce  train (train.py:17)". */
static void format_text_append_class(struct buffer *out, const struct session *session,
				     const struct rank_class *class, const struct widths *widths)
{
	struct buffer text = BUFFER_INIT;

	buffer_printf(out, "%3zu  ", rankset_count(&class->ranks));
	rankset_append(&text, &class->ranks);
	format_text_append_column(out, text.data, widths->ranks);
	buffer_reset(&text);
	format_text(&text, class->activity.name);
	format_text_append_column(out, text.data, widths->activity);
	if (class->stack && class->user_frame < class->stack->frame_count)
		format_text_frame(out, &class->stack->frames[class->user_frame]);
	else if (!class->stack || class->stack->frame_count == 0)
		append_last(out, session, class);
	cut_blanks(out);
	buffer_append_char(out, '\n');
	buffer_clear(&text);
}

void format_text_verdict(struct buffer *out, const struct session *session)
{
	const struct verdict *verdict = &session->verdict;
	struct widths widths = { 0 };

	format_text(out, verdict->sentence);
	buffer_append_char(out, '\n');
	for (size_t i = 0; i < verdict->class_count; i++)
		measure_class(&widths, &verdict->classes[i]);
	for (size_t i = 0; i < verdict->class_count; i++)
		format_text_append_class(out, session, &verdict->classes[i], &widths);
}

void format_text_rank(struct buffer *out, const struct session *session, const struct rank *rank)
{
	if (rank->process.role) {
		buffer_append_string(out, rank->parent ? "  child " : "process ");
		format_text(out, rank->process.role);
	} else {
		buffer_printf(out, "rank %d", rank->process.rank);
	}
	if (process_shown_pid(&rank->process) > 0) {
		buffer_append_string(out, "  ");
		format_text_process(out, session, rank);
	}
	buffer_printf(out, "  %s", rank_state_name(rank->state));
	if (rank->error && rank->error[0] != '\0') {
		buffer_append_string(out, "  ");
		format_text(out, rank->error);
	}
	buffer_append_char(out, '\n');
}

void format_text_thread(struct buffer *out, const struct thread *thread)
{
	const struct thread_sample *sample = &thread->sample;

	if (sample->tid > 0)
		buffer_printf(out, "  thread %d", (int)sample->tid);
	if (sample->name) {
		buffer_append_string(out, sample->tid > 0 ? " " : "  ");
		format_text(out, sample->name);
	}
	if (sample->tid < 0)
		buffer_printf(out, " (%d)", (int)sample->tid);
	buffer_printf(out, "  %s", thread_state_name(sample->state));
	if (sample->is_gil_known && sample->has_gil)
		buffer_append_string(out, ", holds the GIL");
	if (sample->exactness != EXACT)
		buffer_printf(out, ", %s", exactness_name(sample->exactness));
	if (thread->activity.name[0] != '\0') {
		buffer_append_string(out, "  ");
		format_text(out, thread->activity.name);
	}
	if (sample->error) {
		buffer_append_string(out, "  ");
		format_text(out, sample->error);
	}
	if (sample->missing) {
		buffer_append_string(out, "  ");
		format_text(out, sample->missing);
	}
	buffer_append_char(out, '\n');
}

/* Appends prefix; if is_ascii, box-drawing characters are replaced by "|", "`" and "+". */
static void append_prefix(struct buffer *out, const char *prefix, bool is_ascii)
{
	while (*prefix != '\0') {
		const char *start = prefix;
		int32_t codepoint = text_next(&prefix);

		if (!is_ascii || codepoint < 0x80)
			buffer_append(out, start, (size_t)(prefix - start));
		else if (codepoint == 0x2502) /* │ */
			buffer_append_char(out, '|');
		else if (codepoint == 0x2514) /* └ */
			buffer_append_char(out, '`');
		else
			buffer_append_char(out, '+');
	}
}

static void append_tree_row(struct buffer *out, const struct stacktree_row *row, int ranks_width,
			    bool is_ascii)
{
	const struct stacktree_node *node = row->node;
	struct buffer ranks = BUFFER_INIT;
	const char *mark = is_ascii ? "*" : "◆";

	rankset_append(&ranks, &node->ranks);
	buffer_printf(out, "%4zu  ", node->rank_count);
	format_text_append_column(out, ranks.data, ranks_width);
	format_text_append_column(out, node->is_outlier ? mark : " ", 1);
	append_prefix(out, row->prefix, is_ascii);
	format_text(out, node->frame.code->func);
	if (node->frame.lineno > 0) {
		buffer_append_string(out, " (");
		place_append(out, &node->frame);
		buffer_append_char(out, ')');
	}
	buffer_append_char(out, '\n');
	buffer_clear(&ranks);
}

/* True if row is the only child of before and has the same code, line and ranks as before. */
static bool is_repeated(const struct stacktree_row *row, const struct stacktree_row *before)
{
	return before->node->child_count == 1 && before->node->children[0] == row->node &&
	       before->node->frame.code == row->node->frame.code &&
	       before->node->frame.lineno == row->node->frame.lineno &&
	       rankset_is_equal(&before->node->ranks, &row->node->ranks);
}

/* Number of rows, from the first row on, that repeat one line of a recursion. */
static size_t count_repeated(const struct stacktree_row *rows, size_t count)
{
	size_t i = 1;

	while (i < count && is_repeated(&rows[i], &rows[i - 1]))
		i++;
	return i;
}

static void append_fold(struct buffer *out, const struct stacktree_row *row, int ranks_width,
			size_t hidden_count, bool is_ascii)
{
	buffer_printf(out, "%*s", 4 + 2 + ranks_width + 2 + 1 + 2, "");
	for (int i = 0; i < text_width(row->prefix); i++)
		buffer_append_char(out, ' ');
	buffer_append_string(out, is_ascii ? "... " : "… ");
	text_count(out, hidden_count);
	buffer_append_string(out, " more of ");
	format_text(out, row->node->frame.code->func);
	buffer_append_char(out, '\n');
}

void format_text_tree(struct buffer *out, const struct stacktree_node *root, bool is_ascii)
{
	size_t count = 0;
	struct stacktree_row *rows = stacktree_rows(root, &count);
	int width = 0;

	for (size_t i = 0; i < count; i++) {
		struct buffer ranks = BUFFER_INIT;

		rankset_append(&ranks, &rows[i].node->ranks);
		format_text_widen(&width, ranks.data);
		buffer_clear(&ranks);
	}
	for (size_t i = 0; i < count; i++) {
		size_t same = count_repeated(&rows[i], count - i);

		append_tree_row(out, &rows[i], width, is_ascii);
		if (same < FOLD_MINIMUM)
			continue;
		append_fold(out, &rows[i + 1], width, same - 2, is_ascii);
		i += same - 2;
	}
	free(rows);
}

void format_text_diff(struct buffer *out, const struct stackdiff *diff)
{
	for (size_t i = 0; i < diff->row_count; i++) {
		const struct stackdiff_row *row = &diff->rows[i];

		buffer_printf(out, "%c  ", row->op);
		format_text_frame(out, row->a ? row->a : row->b);
		if (row->op == '~') {
			buffer_append_string(out, " | ");
			place_append(out, row->b);
		}
		buffer_append_char(out, '\n');
	}
}

void format_text_variables(struct buffer *out, const struct variable_list *list, const char *indent)
{
	int width = 0;

	for (size_t i = 0; i < list->count; i++) {
		int used = text_width(list->items[i].name);

		if (used > width && used <= 24)
			width = used;
	}
	for (size_t i = 0; i < list->count; i++) {
		const struct variable *variable = &list->items[i];
		struct buffer name = BUFFER_INIT;

		format_text(&name, variable->name);
		buffer_append_string(out, indent);
		format_text_append_column(out, name.data, width);
		format_text(out, variable->value);
		buffer_append_char(out, '\n');
		buffer_clear(&name);
	}
}

/* The jobs of this machine, as JSON and text. */

static json_t *format_jobs_text_or_null(const char *text)
{
	return text && text[0] != '\0' ? json_string(text) : json_null();
}

static json_t *job_to_json(const struct job *job, const struct job_summary *summary)
{
	json_t *json = json_object();
	double tenths = floor(summary->age * 10) / 10;

	json_object_set_new(json, "job", format_jobs_text_or_null(job->name));
	json_object_set_new(json, "launcher", format_jobs_text_or_null(job->launcher));
	json_object_set_new(json, "launcher_pid",
			    job->launcher_pid > 0 ? json_integer(job->launcher_pid) : json_null());
	json_object_set_new(json, "script", format_jobs_text_or_null(job->script));
	json_object_set_new(json, "ranks", format_json_set(&summary->ranks));
	json_object_set_new(json, "world_size",
			    summary->world_size > 0 ? json_integer(summary->world_size)
						    : json_null());
	json_object_set_new(json, "user", format_jobs_text_or_null(job->user));
	json_object_set_new(json, "verdict", format_jobs_text_or_null(job->finding.sentence));
	json_object_set_new(json, "age_s", summary->age >= 0 ? json_real(tenths) : json_null());
	return json;
}

static void format_jobs_append_column(struct buffer *out, const char *text, int width)
{
	struct buffer safe = BUFFER_INIT;

	format_text(&safe, text);
	buffer_append_string(out, safe.data);
	for (int i = text_width(safe.data); i < width; i++)
		buffer_append_char(out, ' ');
	buffer_append_string(out, "  ");
	buffer_clear(&safe);
}

/* Appends "train.py  0-7 (8)  127.0.0.1:29500  torchrun (pid 90)  ana  4m". */
static void format_jobs_append_job(struct buffer *out, const struct job *job,
				   const struct job_summary *summary)
{
	struct buffer text = BUFFER_INIT;

	format_jobs_append_column(out, job->script[0] != '\0' ? job->script : "?", 16);
	rankset_append_counted(&text, &summary->ranks);
	format_jobs_append_column(out, text.data, 12);
	format_jobs_append_column(out, job->name[0] != '\0' ? job->name : "-", 15);
	buffer_reset(&text);
	if (job->launcher_pid > 0)
		buffer_printf(&text, "%s (pid %d)", job->launcher, (int)job->launcher_pid);
	format_jobs_append_column(out, text.data, 20);
	buffer_reset(&text);
	if (job->user)
		buffer_append_string(&text, job->user);
	else
		buffer_printf(&text, "%lu", (unsigned long)job->uid);
	format_jobs_append_column(out, text.data, 8);
	buffer_reset(&text);
	if (summary->age >= 0)
		text_age(&text, summary->age);
	buffer_printf(out, "%s\n", text.data);
	buffer_clear(&text);
}

json_t *format_json_jobs(const struct session *session)
{
	json_t *jobs = json_array();

	for (size_t i = 0; i < session->job_count; i++) {
		struct job_summary summary;

		if (!job_is_wanted(session, &session->jobs[i]))
			continue;
		job_summary_make(&summary, session, i);
		json_array_append_new(jobs, job_to_json(&session->jobs[i], &summary));
		job_summary_clear(&summary);
	}
	return jobs;
}

/* A job's verdict follows on a line of its own. */
void format_text_jobs(struct buffer *out, const struct session *session)
{
	for (size_t i = 0; i < session->job_count; i++) {
		const struct job *job = &session->jobs[i];
		struct job_summary summary;

		if (!job_is_wanted(session, job))
			continue;
		job_summary_make(&summary, session, i);
		format_jobs_append_job(out, job, &summary);
		job_summary_clear(&summary);
		if (!job->finding.sentence)
			continue;
		buffer_append_string(out, "    ");
		format_text(out, job->finding.sentence);
		buffer_append_char(out, '\n');
	}
}

/* The state of a breakpoint over all ranks, as JSON and text. */

/* The backends that stop the ranks, with the ranks of each. */
static json_t *backends_to_json(const struct breakpoint_summary *summary)
{
	json_t *backends = json_array();

	for (int i = 0; i < BREAKPOINT_BACKEND_COUNT; i++) {
		bool has_slots = i == BREAKPOINT_BY_PTRACE && summary->slots > 0;
		json_t *one;

		if (summary->by[i].range_count == 0)
			continue;
		one = json_object();
		json_set_text(one, "backend", breakpoint_backend_name((enum breakpoint_backend)i));
		json_object_set_new(one, "ranks", format_json_set(&summary->by[i]));
		json_object_set_new(one, "slots",
				    has_slots ? json_integer(summary->slots) : json_null());
		json_object_set_new(one, "slots_free",
				    has_slots ? json_integer(summary->slots_free) : json_null());
		json_array_append_new(backends, one);
	}
	return backends;
}

json_t *format_json_breakpoint(const struct breakpoint_summary *summary)
{
	const struct breakpoint *own = summary->own;
	json_t *json = json_object();

	json_object_set_new(json, "id", json_integer(summary->id));
	json_set_text(json, "path", summary->path);
	json_object_set_new(json, "line",
			    summary->line > 0 ? json_integer(summary->line) : json_null());
	json_set_text(json, "function", own ? own->function : NULL);
	json_set_text(json, "watch", summary->watch);
	json_set_text(json, "condition", summary->condition);
	json_set_text(json, "log", summary->log);
	json_object_set_new(json, "ignore", json_integer(own ? own->ignore : 0));
	json_object_set_new(json, "enabled", json_boolean(!summary->is_disabled));
	json_object_set_new(json, "temporary", json_boolean(summary->is_temporary));
	json_object_set_new(json, "ranks", format_json_set(&summary->ranks));
	json_object_set_new(json, "set", format_json_set(&summary->set));
	json_object_set_new(json, "backends", backends_to_json(summary));
	json_object_set_new(json, "hits", json_integer(summary->hits));
	json_set_text(json, "message", summary->message);
	return json;
}

static void format_breakpoints_append_number(struct buffer *out,
					     const struct breakpoint_summary *summary)
{
	if (summary->id > 0)
		buffer_printf(out, "%s %d: ", summary->watch ? "watch" : "breakpoint", summary->id);
	else
		buffer_printf(out, "pdb breakpoint %d: ", summary->number);
}

/* Appends ", not set in ranks 2-3: it runs …" or ", pending: not loaded yet". */
static void format_breakpoints_append_missing(struct buffer *out,
					      const struct breakpoint_summary *summary)
{
	static const char pending[] = "pending: ";
	const char *message = summary->message;
	struct rankset missing = RANKSET_INIT;

	if (summary->is_over) {
		buffer_append_string(out, ", over: ");
		format_text(out, message);
		return;
	}
	rankset_copy(&missing, &summary->ranks);
	rankset_subtract(&missing, &summary->set);
	if (missing.range_count > 0) {
		if (message && strncmp(message, pending, strlen(pending)) == 0) {
			message += strlen(pending);
			buffer_append_string(out, ", pending");
		} else {
			buffer_append_string(out, ", not set");
		}
		if (summary->set.range_count > 0) {
			buffer_append_string(out, " in ");
			rankset_append_named(out, &missing);
		}
	}
	/*
	 * A breakpoint that is set may have a message, too, if a part of the request could not be
	 * applied.
	 */
	if (message) {
		buffer_append_string(out, ": ");
		format_text(out, message);
	}
	rankset_clear(&missing);
}

void format_text_breakpoint(struct buffer *out, const struct breakpoint_summary *summary,
			    bool is_told)
{
	format_breakpoints_append_number(out, summary);
	breakpoint_append_place(out, summary);
	if (summary->condition) {
		buffer_append_string(out, " if ");
		format_text(out, summary->condition);
	}
	if (summary->log) {
		buffer_append_string(out, " log ");
		format_text(out, summary->log);
	}
	if (summary->is_temporary)
		buffer_append_string(out, ", once");
	if (summary->is_disabled)
		buffer_append_string(out, ", disabled");
	if (summary->own && summary->own->ignore > 0)
		buffer_printf(out, ", ignore the next %d hits", summary->own->ignore);
	if (summary->ranks.range_count > 0) {
		buffer_append_string(out, ", ranks ");
		rankset_append_counted(out, &summary->ranks);
	}
	if (summary->hits > 0) {
		buffer_append_string(out, ", ");
		breakpoint_append_hits(out, summary);
	}
	if (is_told && summary->set.range_count > 0) {
		buffer_append_string(out, ", ");
		breakpoint_append_backends(out, summary);
	}
	if (is_told || summary->message)
		format_breakpoints_append_missing(out, summary);
}
