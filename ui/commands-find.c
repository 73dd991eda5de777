/*
 * commands-find: searching in the pane that shows text, and going from one
 * difference to the next in the diff.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "base/alloc.h"
#include "base/error.h"
#include "engine/arguments.h"
#include "engine/engine.h"
#include "protocol/stack.h"
#include "ui/app.h"
#include "ui/commands-private.h"
#include "ui/commands.h"
#include "ui/haystack.h"
#include "ui/pane.h"
#include "ui/ranklist.h"

static void go_to_rank(struct app *app, int line)
{
	struct ranklist_row row = { .kind = RANKLIST_RANK, .at = (size_t)line };
	struct ranklist list;

	ranklist_make(&list, &app->engine->session, &app->view);
	ranklist_select(&list, &app->engine->session, &app->view, &row);
	ranklist_clear(&list);
}

static void go_to_home(struct app *app, int line)
{
	struct session *session = &app->engine->session;

	switch (app->view.pane) {
	case PANE_GRID:
		go_to_rank(app, line);
		break;
	case PANE_SOURCE:
		view_point(&app->view, session, line + 1);
		break;
	case PANE_STACK:
		session->choice.selection.rank = session_selected(session)->process.rank;
		session->choice.selection.depth = line;
		break;
	case PANE_LOCALS:
		app->view.locals_cursor = line;
		break;
	case PANE_BREAKPOINTS:
		app->view.breakpoint_cursor = line;
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
	case VIEW_BREAKPOINTS:
		app->view.breakpoint_cursor = line;
		break;
	case VIEW_HELP:
	case VIEW_LOG:
	case VIEW_TEXT:
		app->view.text_scroll = line;
		break;
	case VIEW_COMPARE:
		app->view.compare_cursor = line;
		break;
	case VIEW_PARAMETERS:
		app->view.parameters_cursor = line;
		break;
	case VIEW_CONSOLE:
	case VIEW_TERMINAL:
	case VIEW_REPL:
	case VIEW_TENSOR:
	case VIEW_DIFFERENCE:
		break;
	case VIEW_KIND_COUNT:
		break;
	}
}

static struct found look_for(const struct app *app, const char *needle, int direction)
{
	struct haystack haystack;
	struct found found;

	haystack_init(&haystack, app);
	found = haystack_find(&haystack, needle, direction);
	haystack_clear(&haystack);
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
	said = xasprintf("%.40s: %d of %d", is_diff ? "difference" : needle, found.number,
			 found.count);
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
		.source_line = view->source_line,
		.breakpoint_cursor = view->breakpoint_cursor,
		.locals_cursor = view->locals_cursor,
		.merged_cursor = view->merged_cursor,
		.diff_cursor = view->diff_cursor,
		.job_cursor = view->job_cursor,
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
	view->source_line = origin->source_line;
	view->breakpoint_cursor = origin->breakpoint_cursor;
	view->locals_cursor = origin->locals_cursor;
	view->merged_cursor = origin->merged_cursor;
	view->diff_cursor = origin->diff_cursor;
	view->job_cursor = origin->job_cursor;
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
	snprintf(prompt->note, sizeof(prompt->note), "%d of %d", found.number, found.count);
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

static int search_run(struct command_context *context, const struct arguments *arguments,
		      struct error *error)
{
	struct app *app = command_app(context);

	/* Without a text it is the last one again. */
	if (arguments->count == 0)
		return find(app, 1, error);
	free(app->view.search);
	app->view.search = arguments_join(arguments, 0, arguments->count);
	return find(app, 1, error);
}

const struct command command_search = {
	.name = "search",
	.synopsis = "[TEXT]",
	.help = "find text in the pane; alone: again",
	.flags = COMMAND_REST | COMMAND_SCREEN,
	.run = search_run,
};

static int find_run(struct command_context *context, const struct arguments *arguments,
		    struct error *error)
{
	return find(command_app(context), arguments_is(arguments, "next") ? 1 : -1, error);
}

const struct command command_find = {
	.name = "find",
	.synopsis = "next | previous",
	.help = "another hit, or difference",
	.flags = COMMAND_SCREEN,
	.run = find_run,
};
