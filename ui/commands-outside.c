/*
 * commands-outside: what leads out of the screen: the editor, the clipboard,
 * the shell.
 */
#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "base/buffer.h"
#include "base/error.h"
#include "base/text.h"
#include "engine/engine.h"
#include "engine/format.h"
#include "model/stackdiff.h"
#include "protocol/stack.h"
#include "ui/app.h"
#include "ui/clipboard.h"
#include "ui/commands-private.h"
#include "ui/editor.h"
#include "ui/pane-breakpoints.h"
#include "ui/pane-parameters.h"
#include "ui/pane.h"
#include "ui/scratch.h"
#include "ui/screen.h"

/* A line of a file that a rank's stack names. */
struct spot {
	const struct rank *rank;
	const char *file;
	int line;
};

static struct spot spot_of_home(const struct app *app)
{
	const struct session *session = &app->engine->session;
	const struct frame *frame = selected_frame(session);
	struct spot spot = { .rank = session_selected(session) };

	if (frame == NULL)
		return (struct spot){ .rank = NULL };
	spot.file = frame->code->file;
	spot.line = pane_source_line(session, &app->view);
	return spot;
}

static struct spot spot_of_merged(const struct app *app)
{
	const struct session *session = &app->engine->session;
	struct spot spot = { .rank = NULL };
	struct merged merged;
	int depth;

	merged_make(&merged, session, &app->view);
	if (merged.row_count > 0) {
		const struct frame *frame = &merged.rows[merged.cursor].tree.node->frame;

		spot.rank = session_find_rank(
			session,
			merged_rank(session, merged.rows[merged.cursor].tree.node, &depth));
		spot.file = frame->code->file;
		spot.line = frame->lineno;
	}
	merged_clear(&merged);
	return spot;
}

static struct spot spot_of_diff(const struct app *app)
{
	struct spot spot = { .rank = NULL };
	struct diff_sides sides;
	struct stackdiff diff;
	const char *problem;
	size_t at = (size_t)app->view.diff_cursor;

	if (!diff_sides_find(&sides, &app->engine->session, &app->view, &problem))
		return spot;
	stackdiff_make(&diff, sides.a_stack, sides.b_stack);
	if (at < diff.row_count) {
		const struct stackdiff_row *row = &diff.rows[at];
		const struct frame *frame = row->a != NULL ? row->a : row->b;

		spot.rank = row->a != NULL ? sides.a : sides.b;
		spot.file = frame->code->file;
		spot.line = frame->lineno;
	}
	stackdiff_clear(&diff);
	return spot;
}

static struct spot spot_looked_at(const struct app *app)
{
	switch (view_shown(&app->engine->session, &app->view)) {
	case VIEW_HOME:
		return spot_of_home(app);
	case VIEW_MERGED:
		return spot_of_merged(app);
	case VIEW_DIFF:
		return spot_of_diff(app);
	case VIEW_JOBS:
	case VIEW_BREAKPOINTS:
	case VIEW_HELP:
	case VIEW_LOG:
	case VIEW_TEXT:
	case VIEW_CONSOLE:
	case VIEW_TERMINAL:
	case VIEW_REPL:
	case VIEW_TENSOR:
	case VIEW_COMPARE:
	case VIEW_DIFFERENCE:
	case VIEW_PARAMETERS:
	case VIEW_KIND_COUNT:
		break;
	}
	return (struct spot){ .rank = NULL };
}

static int edit_file(struct app *app, const struct spot *spot, const struct source *source,
		     struct error *error)
{
	char *path = editor_find(spot->file, source, error);
	int result = -1;

	if (path != NULL)
		result = app_edit(app, path, spot->line, error);
	free(path);
	return result;
}

static int edit_recorded(struct app *app, const struct spot *spot, const struct source *source,
			 struct error *error)
{
	char *path = scratch_write(spot->file, source, error);
	int result = -1;

	if (path != NULL)
		result = app_edit_scratch(app, path, spot->line, error);
	free(path);
	return result;
}

static int edit_run(struct command_context *context, const struct arguments *arguments,
		    struct error *error)
{
	struct app *app = command_app(context);
	const struct session *session = &app->engine->session;
	struct spot spot = spot_looked_at(app);
	const struct source *source;

	(void)arguments;
	if (spot.rank == NULL)
		return error_set(error, "there is no line of a file here to open in an editor.");
	source = session_find_source(session, spot.rank->node, spot.rank->process.pid, spot.file);
	if (session->is_replay)
		return edit_recorded(app, &spot, source, error);
	return edit_file(app, &spot, source, error);
}

const struct command command_edit = {
	.name = "edit",
	.synopsis = "",
	.help = "the line looked at, in $VISUAL or $EDITOR",
	.flags = COMMAND_SCREEN,
	.run = edit_run,
};

static void append_breakpoints(struct buffer *out, const struct session *session)
{
	struct breakpoint_list list;

	breakpoint_list_make(&list, session);
	for (size_t i = 0; i < list.count; i++) {
		breakpoint_append_row(out, &list.items[i]);
		buffer_append_char(out, '\n');
	}
	breakpoint_list_clear(&list);
}

static void append_diff(struct buffer *out, const struct app *app)
{
	struct diff_sides sides;
	struct stackdiff diff;
	const char *problem;

	if (!diff_sides_find(&sides, &app->engine->session, &app->view, &problem))
		return;
	stackdiff_make(&diff, sides.a_stack, sides.b_stack);
	format_text_diff(out, &diff);
	stackdiff_clear(&diff);
}

static void append_parameters(struct buffer *out, const struct session *session)
{
	const struct paramdiff_row *row = parameters_row(session, 0);

	pane_parameters_append_summary(out, session);
	buffer_append_char(out, '\n');
	for (; row != NULL; row = parameters_next(session, row)) {
		parameters_append_row(out, row);
		buffer_append_char(out, '\n');
	}
}

/* What the open view says, as a shell would print it; returns its name. */
static void append_answers(struct buffer *out, const struct session *session)
{
	struct answer_classes classes;

	answer_classes_make(&classes, &session->answers);
	format_text_answers(out, &session->answers, &classes);
	answer_classes_clear(&classes);
}

static const char *append_shown(struct buffer *out, const struct app *app)
{
	const struct session *session = &app->engine->session;
	struct stacktree_node *root;

	switch (view_shown(&app->engine->session, &app->view)) {
	case VIEW_HOME:
		if (session->verdict.sentence != NULL)
			text_escape(out, session->verdict.sentence,
				    strlen(session->verdict.sentence));
		return "The verdict";
	case VIEW_MERGED:
		root = stacktree_new(session, app->view.granularity);
		format_text_tree(out, root, app->view.is_ascii);
		stacktree_free(root);
		return "The merged stacks";
	case VIEW_DIFF:
		append_diff(out, app);
		return "The diff";
	case VIEW_JOBS:
		format_text_jobs(out, session);
		return "The list of jobs";
	case VIEW_BREAKPOINTS:
		append_breakpoints(out, session);
		return "The list of breakpoints";
	case VIEW_COMPARE:
		append_answers(out, session);
		return "What the ranks answered";
	case VIEW_PARAMETERS:
		append_parameters(out, session);
		return "The list of parameters";
	case VIEW_DIFFERENCE:
		pane_difference_append(out, session, &app->view);
		return "The difference";
	case VIEW_HELP:
	case VIEW_LOG:
	case VIEW_TEXT:
	case VIEW_CONSOLE:
	case VIEW_TERMINAL:
	case VIEW_REPL:
	case VIEW_TENSOR:
	case VIEW_KIND_COUNT:
		break;
	}
	pane_text_append(out, &app->engine->session, &app->view, &app->keymap);
	return "This text";
}

static int copy_run(struct command_context *context, const struct arguments *arguments,
		    struct error *error)
{
	struct app *app = command_app(context);
	struct buffer text = BUFFER_INIT;
	struct buffer sequence = BUFFER_INIT;
	struct buffer said = BUFFER_INIT;
	const char *name = append_shown(&text, app);
	int result = -1;

	(void)arguments;
	if (text.length == 0)
		error_set(error, "there is nothing here to copy.");
	else
		result = clipboard_append(&sequence, text.data, getenv("TMUX") != NULL, error);
	if (result == 0) {
		if (app->screen != NULL)
			screen_write(app->screen, sequence.data, sequence.length);
		buffer_printf(&said, "%s went to the terminal's clipboard: ", name);
		text_count(&said, text.length);
		buffer_append_string(&said, " bytes.");
		view_say(&app->view, false, said.data);
	}
	buffer_clear(&said);
	buffer_clear(&sequence);
	buffer_clear(&text);
	return result;
}

const struct command command_copy = {
	.name = "copy",
	.synopsis = "",
	.help = "copy the verdict, or what the view shows",
	.flags = COMMAND_MOVES | COMMAND_SCREEN,
	.run = copy_run,
};

static int suspend_run(struct command_context *context, const struct arguments *arguments,
		       struct error *error)
{
	struct app *app = command_app(context);

	(void)arguments;
	(void)error;
	if (app->screen == NULL)
		return 0;
	screen_suspend(app->screen);
	screen_size(app->screen, &app->view.row_count, &app->view.column_count);
	return 0;
}

const struct command command_suspend = {
	.name = "suspend",
	.synopsis = "",
	.help = "back to the shell; fg returns",
	.flags = COMMAND_MOVES | COMMAND_SCREEN,
	.run = suspend_run,
};
