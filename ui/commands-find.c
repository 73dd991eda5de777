/*
 * commands-find: searching in the pane that shows text, and going from one
 * difference to the next in the diff.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "base/alloc.h"
#include "base/buffer.h"
#include "base/error.h"
#include "engine/engine.h"
#include "model/place.h"
#include "model/source.h"
#include "model/stackdiff.h"
#include "protocol/stack.h"
#include "protocol/variable.h"
#include "ui/app.h"
#include "ui/commands-private.h"
#include "ui/commands.h"
#include "ui/pane.h"
#include "ui/ranklist.h"

/* The lines that are searched, and where among them the person is. */
struct haystack {
	struct buffer text; /* one line each */
	int at;
	int count;
};

static void haystack_add(struct haystack *haystack, const char *line)
{
	buffer_append_string(&haystack->text, line);
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
	haystack->at = selected_frame(session)->lineno - 1;
	if (app->view.source_found > 0)
		haystack->at = app->view.source_found - 1;
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

static void go_to_rank(struct app *app, int line)
{
	struct ranklist_row row = { .kind = RANKLIST_RANK, .at = (size_t)line };
	struct ranklist list;

	ranklist_make(&list, &app->engine->session, &app->view);
	ranklist_select(&list, &app->engine->session, &app->view, &row);
	ranklist_clear(&list);
}

static void collect_stack(struct haystack *haystack, const struct app *app)
{
	const struct session *session = &app->engine->session;
	const struct thread *thread = session_selected_thread(session);
	const struct stack *stack =
		thread != NULL ? thread->sample.stack : NULL;

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
	struct locals_row *rows =
		pane_locals_rows(session, &app->view, &frame, &count);

	for (size_t i = 0; i < count; i++) {
		const struct variable *variable = rows[i].variable;
		struct buffer line = BUFFER_INIT;

		if (variable != NULL)
			buffer_printf(&line, "%s %s", variable->name,
				      variable->value != NULL ? variable->value
							      : "");
		haystack_add(haystack, line.data);
		buffer_clear(&line);
	}
	haystack->at = app->view.locals_cursor;
	free(rows);
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
		char *line = xasprintf("%s %s", frame->code->func,
				       frame->code->file);

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

		buffer_printf(&line, "%s %s %s %d %s %s", job->script,
			      job->name, job->launcher, (int)job->launcher_pid,
			      job->user != NULL ? job->user : "",
			      job->finding.sentence != NULL
				      ? job->finding.sentence
				      : "");
		haystack_add(haystack, line.data);
		buffer_clear(&line);
	}
	haystack->at = view_job_cursor(session, &app->view);
}

static void collect_text(struct haystack *haystack, const struct app *app)
{
	pane_text_append(&haystack->text, &app->engine->session, &app->view,
			 &app->keymap);
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

	if (!diff_sides_find(&sides, &app->engine->session, &app->view,
			     &problem))
		return;
	stackdiff_make(&diff, sides.a_stack, sides.b_stack);
	for (size_t i = 0; i < diff.row_count; i++)
		haystack_add(haystack, diff.rows[i].op == '=' ? "" : "!");
	haystack->at = app->view.diff_cursor;
	stackdiff_clear(&diff);
}

static void collect(struct haystack *haystack, const struct app *app)
{
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
	case VIEW_HELP:
	case VIEW_LOG:
	case VIEW_TEXT:
		collect_text(haystack, app);
		break;
	case VIEW_KIND_COUNT:
		break;
	}
}

static void go_to_home(struct app *app, int line)
{
	struct session *session = &app->engine->session;

	switch (app->view.pane) {
	case PANE_GRID:
		go_to_rank(app, line);
		break;
	case PANE_SOURCE:
		app->view.source_found = line + 1;
		app->view.source_scroll =
			line + 1 - selected_frame(session)->lineno;
		break;
	case PANE_STACK:
		session->choice.selection.rank =
			session_selected(session)->process.rank;
		session->choice.selection.depth = line;
		break;
	case PANE_LOCALS:
		app->view.locals_cursor = line;
		break;
	case PANE_COUNT:
		break;
	}
	session->revision++;
}

static void go_to(struct app *app, int line)
{
	switch (view_shown(&app->engine->session, &app->view)) {
	case VIEW_HOME:
		go_to_home(app, line);
		break;
	case VIEW_MERGED:
		app->view.merged_cursor = line;
		break;
	case VIEW_DIFF:
		app->view.diff_cursor = line;
		break;
	case VIEW_JOBS:
		app->view.job_cursor = line;
		break;
	case VIEW_HELP:
	case VIEW_LOG:
	case VIEW_TEXT:
		app->view.text_scroll = line;
		break;
	case VIEW_KIND_COUNT:
		break;
	}
}

/* Puts the start of each line into lines[]; the newlines become NULs. */
static char **split_lines(struct haystack *haystack)
{
	char **lines = xcalloc((size_t)haystack->count + 1, sizeof(*lines));
	char *at = haystack->text.data;

	for (int i = 0; i < haystack->count; i++) {
		size_t length = strcspn(at, "\n");

		lines[i] = at;
		at[length] = '\0';
		at += length + 1;
	}
	return lines;
}

/* A line that was found, and how many there are like it. */
struct found {
	int line; /* -1: none */
	int number;
	int count;
};

/* The next line, around the end, that holds needle. */
static struct found find_line(struct haystack *haystack, const char *needle,
			      int direction)
{
	int count = haystack->count;
	char **lines = split_lines(haystack);
	struct found found = { .line = -1 };
	/* A scroll may be beyond the end, to stay there. */
	int at = haystack->at < count ? haystack->at : count - 1;

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
	free(lines);
	return found;
}

static struct found look_for(const struct app *app, const char *needle,
			     int direction)
{
	struct haystack haystack = { .text = BUFFER_INIT };
	struct found found;

	collect(&haystack, app);
	found = find_line(&haystack, needle, direction);
	buffer_clear(&haystack.text);
	return found;
}

static int find(struct app *app, int direction, struct error *error)
{
	bool is_diff = app->view.kind == VIEW_DIFF;
	const char *needle = is_diff ? "!" : app->view.search;
	struct found found;
	char *said;

	if (needle == NULL || *needle == '\0')
		return error_set(error, "nothing was searched for yet.");
	found = look_for(app, needle, direction);
	if (found.line < 0 && is_diff)
		return error_set(error, "the two stacks do not differ.");
	if (found.line < 0)
		return error_set(error, "'%.80s' is not in this pane.", needle);
	go_to(app, found.line);
	app->view.has_marks = !is_diff;
	said = xasprintf("%.40s: %d of %d", is_diff ? "difference" : needle,
			 found.number, found.count);
	view_say(&app->view, false, said);
	free(said);
	return 0;
}

void search_begin(struct app *app)
{
	struct view *view = &app->view;

	free(view->origin.search);
	view->origin = (struct search_origin){
		.selection = app->engine->session.choice.selection,
		.group = view->order.group,
		.source_scroll = view->source_scroll,
		.source_found = view->source_found,
		.locals_cursor = view->locals_cursor,
		.merged_cursor = view->merged_cursor,
		.diff_cursor = view->diff_cursor,
		.text_scroll = view->text_scroll,
		.search = xstrdup_or_null(view->search),
	};
	prompt_open(&view->prompt, PROMPT_SEARCH, "");
}

static void go_to_origin(struct app *app)
{
	struct view *view = &app->view;
	const struct search_origin *origin = &view->origin;

	app->engine->session.choice.selection = origin->selection;
	app->engine->session.revision++;
	view->order.group = origin->group;
	view->source_scroll = origin->source_scroll;
	view->source_found = origin->source_found;
	view->locals_cursor = origin->locals_cursor;
	view->merged_cursor = origin->merged_cursor;
	view->diff_cursor = origin->diff_cursor;
	view->text_scroll = origin->text_scroll;
	view->has_marks = false;
	free(view->search);
	view->search = xstrdup_or_null(origin->search);
}

/* The first hit behind where the search began, and how many there are. */
static void preview(struct app *app)
{
	struct view *view = &app->view;
	struct prompt *prompt = &view->prompt;
	struct found found;

	prompt->note[0] = '\0';
	if (prompt->text.length == 0 || view->kind == VIEW_DIFF)
		return;
	found = look_for(app, prompt->text.data, 1);
	if (found.line < 0) {
		snprintf(prompt->note, sizeof(prompt->note), "no hit");
		return;
	}
	snprintf(prompt->note, sizeof(prompt->note), "%d of %d", found.number,
		 found.count);
	go_to(app, found.line);
	selection_changed(app, &view->origin.selection);
	free(view->search);
	view->search = xstrdup(prompt->text.data);
	view->has_marks = true;
}

void commands_search(struct app *app, enum prompt_result result)
{
	go_to_origin(app);
	if (result == PROMPT_EDITED)
		preview(app);
}

int ui_search(struct command_context *context, int argc, char **argv,
	      struct error *error)
{
	struct app *app = command_app(context);

	/* Without a text it is the last one again. */
	if (argc < 2)
		return find(app, 1, error);
	free(app->view.search);
	app->view.search = command_join(argc, argv, 1);
	return find(app, 1, error);
}

int ui_find(struct command_context *context, int argc, char **argv,
	    struct error *error)
{
	struct app *app = command_app(context);

	if (argc == 2 && strcmp(argv[1], "next") == 0)
		return find(app, 1, error);
	if (argc == 2 && strcmp(argv[1], "previous") == 0)
		return find(app, -1, error);
	return command_usage(error, "find", "next or previous");
}
