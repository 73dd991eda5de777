#include "ui/haystack.h"

#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "base/alloc.h"
#include "base/text.h"
#include "engine/engine.h"
#include "model/displays.h"
#include "model/place.h"
#include "model/source.h"
#include "model/stackdiff.h"
#include "protocol/stack.h"
#include "protocol/variable.h"
#include "ui/answerrows.h"
#include "ui/app.h"
#include "ui/pane-breakpoints.h"
#include "ui/pane-parameters.h"
#include "ui/pane.h"
#include "ui/ranklist.h"

/* As it is drawn: a newline in a name begins no line here. */
static void haystack_add(struct haystack *haystack, const char *line)
{
	text_escape(&haystack->text, line, strlen(line));
	buffer_append_char(&haystack->text, '\n');
	haystack->count++;
}

static void collect_source(struct haystack *haystack, const struct app *app)
{
	const struct session *session = &app->engine->session;
	const struct source *source = selected_source(session);

	for (size_t i = 1; source != NULL && i <= source->line_count; i++)
		haystack_add(haystack, source_line(source, (int)i));
	if (source == NULL)
		return;
	haystack->at = pane_source_line(session, &app->view) - 1;
}

/* The ranks as the grid has them, each with all that its row says. */
static void collect_ranks(struct haystack *haystack, const struct app *app)
{
	const struct session *session = &app->engine->session;
	struct buffer line = BUFFER_INIT;
	struct ranklist list;

	ranklist_make(&list, session, &app->view);
	for (size_t i = 0; i < list.rank_count; i++) {
		buffer_reset(&line);
		for (int column = 0; column < COLUMN_COUNT; column++) {
			column_append(&line, session, &app->view, list.ranks[i],
				      (enum column)column);
			buffer_append_char(&line, ' ');
		}
		haystack_add(haystack, line.data);
	}
	haystack->at = list.at > 0 ? list.at : 0;
	ranklist_clear(&list);
	buffer_clear(&line);
}

static void collect_stack(struct haystack *haystack, const struct app *app)
{
	const struct session *session = &app->engine->session;
	const struct thread *thread = session_selected_thread(session);
	const struct stack *stack = thread != NULL ? thread->sample.stack : NULL;

	for (size_t i = 0; stack != NULL && i < stack->frame_count; i++) {
		struct buffer line = BUFFER_INIT;

		buffer_printf(&line, "%s ", stack->frames[i].code->func);
		place_append(&line, &stack->frames[i]);
		haystack_add(haystack, line.data);
		buffer_clear(&line);
	}
	haystack->at = session_selected_depth(session);
}

static void collect_locals(struct haystack *haystack, const struct app *app)
{
	const struct session *session = &app->engine->session;
	struct locals_frame frame = locals_frame_selected(session);
	size_t count;
	struct locals_row *rows = pane_locals_rows(session, &app->view, &frame, &count);

	for (size_t i = 0; i < count; i++) {
		const struct variable *variable = rows[i].variable;
		struct buffer line = BUFFER_INIT;

		if (variable != NULL)
			buffer_printf(&line, "%s %s", variable->name,
				      variable->value != NULL ? variable->value : "");
		else if (rows[i].display != NULL)
			buffer_append_string(&line, rows[i].display->expression);
		else if (rows[i].text != NULL)
			buffer_append(&line, rows[i].text, strcspn(rows[i].text, "\n"));
		haystack_add(haystack, line.data);
		buffer_clear(&line);
	}
	haystack->at = app->view.locals_cursor;
	free(rows);
}

static void collect_breakpoints(struct haystack *haystack, const struct app *app)
{
	struct buffer line = BUFFER_INIT;
	struct breakpoint_list list;

	breakpoint_list_make(&list, &app->engine->session);
	for (size_t i = 0; i < list.count; i++) {
		buffer_reset(&line);
		breakpoint_append_row(&line, &list.items[i]);
		haystack_add(haystack, line.data);
	}
	haystack->at = breakpoint_list_cursor(&list, &app->view);
	breakpoint_list_clear(&list);
	buffer_clear(&line);
}

static void collect_home(struct haystack *haystack, const struct app *app)
{
	switch (app->view.pane) {
	case PANE_GRID:
		collect_ranks(haystack, app);
		break;
	case PANE_SOURCE:
		collect_source(haystack, app);
		break;
	case PANE_STACK:
		collect_stack(haystack, app);
		break;
	case PANE_LOCALS:
		collect_locals(haystack, app);
		break;
	case PANE_BREAKPOINTS:
		collect_breakpoints(haystack, app);
		break;
	case PANE_COUNT:
		break;
	}
}

static void collect_merged(struct haystack *haystack, const struct app *app)
{
	struct merged merged;

	merged_make(&merged, &app->engine->session, &app->view);
	for (size_t i = 0; i < merged.row_count; i++) {
		const struct frame *frame = &merged.rows[i].tree.node->frame;
		char *line = xasprintf("%s %s", frame->code->func, frame->code->file);

		haystack_add(haystack, line);
		free(line);
	}
	haystack->at = merged.cursor;
	merged_clear(&merged);
}

static void collect_jobs(struct haystack *haystack, const struct app *app)
{
	const struct session *session = &app->engine->session;

	for (size_t i = 0; i < session->job_count; i++) {
		const struct job *job = &session->jobs[i];
		struct buffer line = BUFFER_INIT;

		buffer_printf(&line, "%s %s %s %d %s %s", job->script, job->name, job->launcher,
			      (int)job->launcher_pid, job->user != NULL ? job->user : "",
			      job->finding.sentence != NULL ? job->finding.sentence : "");
		haystack_add(haystack, line.data);
		buffer_clear(&line);
	}
	haystack->at = view_job_cursor(session, &app->view);
}

static void collect_answers(struct haystack *haystack, const struct app *app)
{
	struct answer_rows rows;

	answer_rows_make(&rows, &app->engine->session);
	for (size_t i = 0; i < rows.count; i++) {
		struct buffer line = BUFFER_INIT;

		rankset_append(&line, answer_rows_ranks(&rows, i));
		buffer_append_char(&line, ' ');
		answer_rows_append(&line, &rows, i);
		haystack_add(haystack, line.data);
		buffer_clear(&line);
	}
	haystack->at = answer_rows_cursor(&rows, &app->view);
	answer_rows_clear(&rows);
}

static void collect_parameters(struct haystack *haystack, const struct app *app)
{
	const struct session *session = &app->engine->session;
	const struct paramdiff_row *row = parameters_row(session, 0);

	for (; row != NULL; row = parameters_next(session, row)) {
		struct buffer line = BUFFER_INIT;

		parameters_append_row(&line, row);
		haystack_add(haystack, line.data);
		buffer_clear(&line);
	}
	haystack->at = parameters_cursor(session, &app->view);
}

static void collect_text(struct haystack *haystack, const struct app *app)
{
	pane_text_append(&haystack->text, &app->engine->session, &app->view, &app->keymap);
	for (size_t i = 0; i < haystack->text.length; i++)
		haystack->count += haystack->text.data[i] == '\n';
	haystack->at = app->view.text_scroll;
}

/* Differing rows are lines with a mark, so that a search finds them. */
static void collect_diff(struct haystack *haystack, const struct app *app)
{
	struct diff_sides sides;
	struct stackdiff diff;
	const char *problem;

	if (!diff_sides_find(&sides, &app->engine->session, &app->view, &problem))
		return;
	stackdiff_make(&diff, sides.a_stack, sides.b_stack);
	for (size_t i = 0; i < diff.row_count; i++)
		haystack_add(haystack, diff.rows[i].op == '=' ? "" : "!");
	haystack->at = app->view.diff_cursor;
	stackdiff_clear(&diff);
}

void haystack_init(struct haystack *haystack, const struct app *app)
{
	*haystack = (struct haystack){ .text = BUFFER_INIT };
	switch (view_shown(&app->engine->session, &app->view)) {
	case VIEW_HOME:
		collect_home(haystack, app);
		break;
	case VIEW_MERGED:
		collect_merged(haystack, app);
		break;
	case VIEW_DIFF:
		collect_diff(haystack, app);
		break;
	case VIEW_JOBS:
		collect_jobs(haystack, app);
		break;
	case VIEW_BREAKPOINTS:
		collect_breakpoints(haystack, app);
		break;
	case VIEW_HELP:
	case VIEW_LOG:
	case VIEW_TEXT:
		collect_text(haystack, app);
		break;
	case VIEW_COMPARE:
		collect_answers(haystack, app);
		break;
	case VIEW_PARAMETERS:
		collect_parameters(haystack, app);
		break;
	case VIEW_CONSOLE:
	case VIEW_TERMINAL:
	case VIEW_REPL:
	case VIEW_TENSOR:
	case VIEW_DIFFERENCE:
	case VIEW_KIND_COUNT:
		break;
	}
}

void haystack_clear(struct haystack *haystack)
{
	buffer_clear(&haystack->text);
	*haystack = (struct haystack){ .text = BUFFER_INIT };
}

/* The start of each line of text; its newlines become NULs. */
static char **split_lines(struct buffer *text, int count)
{
	char **lines = xcalloc((size_t)count + 1, sizeof(*lines));
	char *at = text->data;

	for (int i = 0; i < count; i++) {
		size_t length = strcspn(at, "\n");

		lines[i] = at;
		at[length] = '\0';
		at += length + 1;
	}
	return lines;
}

static struct found find_line(char *const *lines, int count, int at, const char *needle,
			      int direction)
{
	struct found found = { .line = -1 };

	for (int i = 1; i <= count && found.line < 0; i++) {
		int index = (at + direction * i) % count;

		if (index < 0)
			index += count;
		if (strstr(lines[index], needle) != NULL)
			found.line = index;
	}
	for (int i = 0; i < count && found.line >= 0; i++) {
		if (strstr(lines[i], needle) == NULL)
			continue;
		found.count++;
		if (i <= found.line)
			found.number++;
	}
	return found;
}

struct found haystack_find(const struct haystack *haystack, const char *needle, int direction)
{
	int count = haystack->count;
	/* A scroll may be beyond the end, to stay there. */
	int at = haystack->at < count ? haystack->at : count - 1;
	struct buffer text = BUFFER_INIT;
	struct found found;
	char **lines;

	if (text_has_capital(needle))
		buffer_append(&text, haystack->text.data, haystack->text.length);
	else
		text_lower(&text, haystack->text.data);
	lines = split_lines(&text, count);
	found = find_line(lines, count, at, needle, direction);
	free(lines);
	buffer_clear(&text);
	return found;
}
