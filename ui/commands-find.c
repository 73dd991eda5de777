/*
 * commands-find: searching in the text of the shown pane, and moving between the differences of the
 * diff.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "base/alloc.h"
#include "base/error.h"
#include "engine/arguments.h"
#include "engine/engine.h"
#include "ui/app.h"
#include "ui/commands.h"
#include "ui/list.h"
#include "ui/pane.h"
#include "ui/ranklist.h"
#include "ui/view-type.h"

static void go_to_rank(struct app *app, int line)
{
	struct ranklist_row row = { .kind = RANKLIST_RANK, .at = (size_t)line };
	struct ranklist list;

	ranklist_make(&list, &app->engine->session, &app->view);
	ranklist_select(&list, &app->engine->session, &app->view, &row);
	ranklist_clear(&list);
}

void home_select(struct app *app, int line)
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
		app->view.cursors[VIEW_BREAKPOINTS] = line;
		break;
	case PANE_COUNT:
		break;
	}
	session->revision++;
}

static const struct view_type *commands_find_type_of(const struct app *app)
{
	return view_type_shown(&app->engine->session, &app->view);
}

static void commands_find_go_to(struct app *app, int line)
{
	if (commands_find_type_of(app)->select != NULL)
		commands_find_type_of(app)->select(app, line);
	else
		app->view.cursors[view_shown(&app->engine->session, &app->view)] = line;
}

static struct found commands_find_look_for(const struct app *app, const char *needle, int direction)
{
	struct search_text text;
	struct found found;

	search_text_init(&text, app);
	found = search_text_find(&text, needle, direction);
	search_text_clear(&text);
	return found;
}

static int commands_find_find(struct app *app, int direction, struct error *error)
{
	const struct landmark *landmark = commands_find_type_of(app)->landmark;
	const char *needle = landmark != NULL ? landmark->needle : app->view.search.text;
	struct found found;
	char *said;

	if (needle == NULL || *needle == '\0')
		return error_set(error, "no previous search: search for a text (/)");
	found = commands_find_look_for(app, needle, direction);
	if (found.line < 0 && landmark != NULL)
		return error_set(error, "%s", landmark->none);
	if (found.line < 0)
		return error_set(error, "not found: %.80s", needle);
	commands_find_go_to(app, found.line);
	app->view.search.has_marks = landmark == NULL;
	said = xasprintf("%.40s: %d of %d", landmark != NULL ? landmark->name : needle,
			 found.number, found.count);
	view_say(&app->view, false, said);
	free(said);
	return 0;
}

void search_begin(struct app *app)
{
	struct view *view = &app->view;

	free(view->search.origin.search);
	view->search.origin = (struct search_origin){
		.selection = app->engine->session.choice.selection,
		.group = view->order.group,
		.source_line = view->source_line,
		.locals_cursor = view->locals_cursor,
		.search = xstrdup_or_null(view->search.text),
	};
	memcpy(view->search.origin.cursors, view->cursors, sizeof(view->cursors));
	prompt_open(&view->prompt, PROMPT_SEARCH, "");
}

static void go_to_origin(struct app *app)
{
	struct view *view = &app->view;
	const struct search_origin *origin = &view->search.origin;

	app->engine->session.choice.selection = origin->selection;
	app->engine->session.revision++;
	view->order.group = origin->group;
	view->source_line = origin->source_line;
	view->locals_cursor = origin->locals_cursor;
	memcpy(view->cursors, origin->cursors, sizeof(view->cursors));
	view->search.has_marks = false;
	free(view->search.text);
	view->search.text = xstrdup_or_null(origin->search);
}

/* Moves to the first hit after the search's origin; the prompt's note shows the hit's number and
 * the count of hits. */
static void preview(struct app *app)
{
	struct view *view = &app->view;
	struct prompt *prompt = &view->prompt;
	struct found found;

	prompt->note[0] = '\0';
	if (prompt->text.length == 0 || commands_find_type_of(app)->landmark != NULL)
		return;
	found = commands_find_look_for(app, prompt->text.data, 1);
	if (found.line < 0) {
		snprintf(prompt->note, sizeof(prompt->note), "not found");
		return;
	}
	snprintf(prompt->note, sizeof(prompt->note), "%d of %d", found.number, found.count);
	commands_find_go_to(app, found.line);
	selection_changed(app, &view->search.origin.selection);
	free(view->search.text);
	view->search.text = xstrdup(prompt->text.data);
	view->search.has_marks = true;
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

	/* `search` without a text searches for the last text again. */
	if (arguments->count == 0)
		return commands_find_find(app, 1, error);
	free(app->view.search.text);
	app->view.search.text = arguments_join(arguments, 0, arguments->count);
	return commands_find_find(app, 1, error);
}

const struct command command_search = {
	.name = "search",
	.synopsis = "[TEXT]",
	.help = "search for TEXT in the pane; without TEXT: search for the last text again",
	.flags = COMMAND_REST | COMMAND_SCREEN,
	.run = search_run,
};

static int find_run(struct command_context *context, const struct arguments *arguments,
		    struct error *error)
{
	return commands_find_find(command_app(context), arguments_is(arguments, "next") ? 1 : -1,
				  error);
}

const struct command command_find = {
	.name = "find",
	.synopsis = "next | previous",
	.help = "go to the next or previous match or difference",
	.flags = COMMAND_SCREEN,
	.run = find_run,
};
