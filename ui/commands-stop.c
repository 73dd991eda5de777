/*
 * commands-stop: `here` (break or run to the source's cursor), the list of breakpoints, `stay` and
 * `interrupt` on the screen. Command lines of the engine do the work.
 */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "base/alloc.h"
#include "base/buffer.h"
#include "base/error.h"
#include "commands/commands.h"
#include "engine/arguments.h"
#include "engine/control.h"
#include "engine/engine.h"
#include "model/debug-state.h"
#include "model/place.h"
#include "model/source.h"
#include "protocol/stack.h"
#include "ui/app.h"
#include "ui/commands.h"
#include "ui/layout.h"
#include "ui/pane.h"
#include "ui/stopped-text.h"
#include "ui/views/pane-breakpoints.h"

static void run_with_id(struct app *app, const char *command, int id)
{
	char *line = xasprintf("%s %d", command, id);

	commands_run(app, line);
	free(line);
}

static int commands_stop_clear(struct app *app, const struct breakpoint_summary *breakpoint,
			       struct error *error)
{
	if (breakpoint->id <= 0)
		return error_set(error, "the breakpoint was set in pdb: clear it in the "
					"debugger's console (C)");
	run_with_id(app, "clear", breakpoint->id);
	return 0;
}

static void set_here(struct app *app, const char *command, const char *file, int line)
{
	char quote = strchr(file, '"') != NULL ? '\'' : '"';
	char *text = xasprintf("%s %c%s:%d%c", command, quote, file, line, quote);

	commands_run(app, text);
	free(text);
}

/* Sets a breakpoint at the line of the source's cursor, or clears the breakpoint at the line. */
static int break_here(struct app *app, const struct frame *frame, struct error *error)
{
	const struct session *session = &app->engine->session;
	int line = pane_source_line(session, &app->view);
	const struct breakpoint_summary *breakpoint;
	struct breakpoint_list list;
	int result = 0;

	breakpoint_list_make(&list, session);
	breakpoint = breakpoint_list_at(&list, frame->code->file, line);
	if (breakpoint != NULL)
		result = commands_stop_clear(app, breakpoint, error);
	else
		set_here(app, "break", frame->code->file, line);
	breakpoint_list_clear(&list);
	return result;
}

/* True if the line is in the frame's function, after the line that the frame executes. */
static bool is_further_on(const struct source *source, const struct frame *frame, int line)
{
	int first = place_is_module(frame) ? 0 : frame->code->first_lineno;

	return line > frame->lineno && line <= source_function_end(source, first, frame->lineno);
}

/* Returns false if the line is empty or only a comment, so that no rank ever stops there. */
static bool has_code(const struct source *source, int line)
{
	const char *text = source_line(source, line);

	if (text == NULL)
		return false;
	text += strspn(text, " ");
	return *text != '\0' && *text != '#';
}

static int commands_stop_refuse_line(const struct source *source, int line, struct error *error)
{
	int next = line;

	while (source_line(source, next) != NULL && !has_code(source, next))
		next++;
	if (source_line(source, next) == NULL)
		return error_set(
			error, "cannot run to line %d: neither the line nor a later line has code",
			line);
	return error_set(
		error,
		"cannot run to line %d: the line has no code (the next line with code is %d)", line,
		next);
}

static void run_to(struct app *app, const char *file, int line)
{
	struct breakpoints *list = &app->engine->session.choice.breakpoints;
	size_t count = list->count;

	set_here(app, "tbreak", file, line);
	if (list->count > count)
		list->run_to = list->last_id;
}

static void commands_stop_go_to_line(struct app *app, int line)
{
	struct step_group *motion = &app->view.motion;
	uint64_t before = motion->number;
	char *name;

	commands_run(app, "continue");
	if (motion->command == NULL || motion->number == before)
		return;
	name = xasprintf("to line %d", line);
	step_group_name(motion, name);
	free(name);
}

/*
 * Runs to the line of the cursor. At the frame's own line: `until`, which stops at any later line,
 * as in pdb. At a later line of the function: `until LINE`. Elsewhere, or at an earlier line
 * (reached again in a loop or by the next call): a temporary breakpoint, then `continue` for a
 * stopped rank.
 */
static int run_here(struct app *app, const struct frame *frame, struct error *error)
{
	const struct session *session = &app->engine->session;
	const struct source *source = selected_source(session);
	const struct rank *rank = session_looked_at(session);
	int line = pane_source_line(session, &app->view);
	bool is_stopped = debug_state_is_stopped(rank);

	if (command_check_job(app->engine, "here until", error) < 0)
		return -1;
	if (is_stopped && line == frame->lineno) {
		commands_run(app, "until");
		return 0;
	}
	if (!has_code(source, line))
		return commands_stop_refuse_line(source, line, error);
	if (is_stopped && is_further_on(source, frame, line)) {
		run_with_id(app, "until", line);
		return 0;
	}
	run_to(app, frame->code->file, line);
	if (is_stopped && !app->view.message.is_error)
		commands_stop_go_to_line(app, line);
	return 0;
}

static int here_run(struct command_context *context, const struct arguments *arguments,
		    struct error *error)
{
	struct app *app = command_app(context);
	const struct frame *frame = selected_frame(&app->engine->session);
	bool is_break = arguments_is(arguments, "break");

	if (app->view.kind != VIEW_HOME)
		return error_set(
			error,
			"the open view has no source cursor: go back to the home view (Esc)");
	if (frame == NULL || selected_source(&app->engine->session) == NULL)
		return error_set(error, "no source line is selected");
	return is_break ? break_here(app, frame, error) : run_here(app, frame, error);
}

const struct command command_here = {
	.name = "here",
	.synopsis = "break | until",
	.help = "toggle a breakpoint at the source cursor, or run to the cursor",
	.flags = COMMAND_SCREEN,
	.run = here_run,
};

static int breakpoints_run(struct command_context *context, const struct arguments *arguments,
			   struct error *error)
{
	struct view *view = &command_app(context)->view;

	(void)arguments;
	(void)error;
	view_open(view, view->kind == VIEW_BREAKPOINTS ? VIEW_HOME : VIEW_BREAKPOINTS);
	return 0;
}

const struct command command_breakpoints = {
	.name = "breakpoints",
	.synopsis = "",
	.help = "open the list of breakpoints",
	.flags = COMMAND_SCREEN,
	.run = breakpoints_run,
};

bool is_on_breakpoints(const struct app *app)
{
	struct layout layout;

	if (app->view.kind != VIEW_HOME || app->view.pane != PANE_BREAKPOINTS)
		return app->view.kind == VIEW_BREAKPOINTS;
	/* The pane closes with the last breakpoint, or if the screen has no room for the pane. */
	layout_make(&layout, &app->engine->session, &app->view);
	return layout.panes[PANE_BREAKPOINTS].row_count > 0;
}

/*
 * Calls act() with the breakpoint under the list's cursor. Returns -1 and sets the error if there
 * is no breakpoint.
 */
static int with_cursor(struct app *app,
		       int (*act)(struct app *app, const struct breakpoint_summary *breakpoint,
				  struct error *error),
		       struct error *error)
{
	struct breakpoint_list list;
	int cursor;
	int result;

	breakpoint_list_make(&list, &app->engine->session);
	cursor = breakpoint_list_cursor(&list, &app->view);
	if (cursor < 0)
		result = error_set(error, "no breakpoint is set: set one at the source cursor (b)");
	else
		result = act(app, &list.items[cursor], error);
	breakpoint_list_clear(&list);
	return result;
}

static int commands_stop_toggle(struct app *app, const struct breakpoint_summary *breakpoint,
				struct error *error)
{
	if (breakpoint->id <= 0)
		return error_set(error, "the breakpoint was set in pdb: enable or disable it in "
					"the debugger's console (C)");
	run_with_id(app, breakpoint->is_disabled ? "enable" : "disable", breakpoint->id);
	return 0;
}

int toggle_breakpoint(struct app *app, struct error *error)
{
	return with_cursor(app, commands_stop_toggle, error);
}

/* Returns the depth of the selected thread's innermost frame in the file; -1 if there is no such
 * frame. */
static int find_depth(const struct session *session, const char *path)
{
	const struct thread *thread = session_selected_thread(session);
	const struct stack *stack = thread != NULL ? thread->sample.stack : NULL;

	for (size_t i = 0; stack != NULL && i < stack->frame_count; i++)
		if (strcmp(stack->frames[i].code->file, path) == 0 ||
		    (strchr(path, '/') == NULL &&
		     strcmp(place_file_name(stack->frames[i].code->file), path) == 0))
			return (int)i;
	return -1;
}

static int commands_stop_show(struct app *app, const struct breakpoint_summary *breakpoint,
			      struct error *error)
{
	struct session *session = &app->engine->session;
	int depth;

	if (breakpoint->watch != NULL)
		return error_set(error, "cannot show a source line: the watchpoint has none");
	if (breakpoint->path == NULL || breakpoint->line <= 0)
		return error_set(error, "cannot show the line of the breakpoint: no debugger has "
					"set the breakpoint yet");
	depth = find_depth(session, breakpoint->path);
	if (depth < 0)
		return error_set(error,
				 "the selected stack has no frame in %.80s: select another rank "
				 "([ or ])",
				 place_file_name(breakpoint->path));
	select_depth(session, depth);
	view_open(&app->view, VIEW_HOME);
	app->view.pane = PANE_SOURCE;
	view_point(&app->view, session, breakpoint->line);
	return 0;
}

int open_breakpoint(struct command_context *context, struct error *error)
{
	return with_cursor(command_app(context), commands_stop_show, error);
}

static int remove_run(struct command_context *context, const struct arguments *arguments,
		      struct error *error)
{
	struct app *app = command_app(context);

	(void)arguments;
	if (!is_on_breakpoints(app))
		return error_set(error, "no breakpoint under the cursor: list the breakpoints (B)");
	return with_cursor(app, commands_stop_clear, error);
}

const struct command command_remove = {
	.name = "remove",
	.synopsis = "",
	.help = "remove the breakpoint under the cursor",
	.flags = COMMAND_SCREEN,
	.run = remove_run,
};

/* Keeps ranks stopped that the node would soon resume; applies only to the present stop. */
static int stay_run(struct command_context *context, const struct arguments *arguments,
		    struct error *error)
{
	struct app *app = command_app(context);
	const struct session *session = &app->engine->session;
	struct rankset ranks = RANKSET_INIT;
	struct buffer text = BUFFER_INIT;

	(void)arguments;
	if (session_resume_at(session) < 0)
		return error_set(error, "no stopped rank is about to be resumed");
	session_add_limited(&ranks, session);
	request_post_all(app->engine, "set", json_pack("{s:s}", "stay", "once"));
	rankset_append_named(&text, &ranks);
	buffer_printf(&text,
		      " %s stopped: a collective that waits for %s may time out and end the job",
		      rankset_count(&ranks) == 1 ? "stays" : "stay",
		      rankset_count(&ranks) == 1 ? "it" : "them");
	view_say(&app->view, false, text.data);
	app->view.resume_at = session_resume_at(session);
	rankset_clear(&ranks);
	buffer_clear(&text);
	return 0;
}

const struct command command_stay = {
	.name = "stay",
	.synopsis = "",
	.help = "keep ranks stopped even if a collective may time out",
	.flags = COMMAND_SCREEN | COMMAND_JOB,
	.run = stay_run,
};

/* True if probetui is connected to the debugger of a rank in the set. */
static bool is_any_told(const struct session *session, const struct rankset *ranks)
{
	int number = -1;

	while ((number = rankset_next(ranks, number)) >= 0) {
		const struct rank *rank = session_find_rank(session, number);

		if (rank != NULL && debugger_is_ours(&rank->debugger))
			return true;
	}
	return false;
}

/*
 * Asks before pausing ranks, unless probetui is connected to the debugger of one of the ranks: C-c
 * may be pressed by habit.
 */
static int confirm_pause(const struct control *control, struct command_context *context,
			 struct error *error)
{
	struct buffer question = BUFFER_INIT;

	if (is_any_told(&context->engine->session, &control->chosen))
		return 1;
	buffer_append_string(&question, "Pause ");
	rankset_append_named(&question, &control->chosen);
	buffer_append_string(&question, " (running)?");
	return control_confirm(control, context, buffer_take(&question), error);
}

/*
 * Closes the open view like Esc; in the home view, pauses the focused ranks, after a question if
 * probetui is not connected to a debugger of one of these ranks.
 */
static int interrupt_run(struct command_context *context, const struct arguments *arguments,
			 struct error *error)
{
	struct app *app = command_app(context);
	struct control control = { .command = "pause", .need = CONTROL_RUNNING };
	struct error unfit = ERROR_INIT;
	bool is_home = app->view.kind == VIEW_HOME && !app->view.is_zoomed;
	bool can_pause = control_choose(&control, context, &unfit) == 0;
	bool is_told = can_pause && is_any_told(&app->engine->session, &control.chosen);
	int result = 0;

	if (!context->is_confirmed && !(is_home && is_told) && step_back(app))
		can_pause = false;
	if (can_pause)
		result = confirm_pause(&control, context, error);
	if (result > 0)
		result = command_pause.run(context, arguments, error);
	control_clear(&control);
	return result;
}

const struct command command_interrupt = {
	.name = "interrupt",
	.synopsis = "[--yes] [ranks SET]",
	.help = "close the open view; in the home view: pause the focused ranks",
	.flags = COMMAND_SCREEN | COMMAND_RANKS | COMMAND_ASKS,
	.run = interrupt_run,
};
