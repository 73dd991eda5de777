/*
 * commands-stop: where ranks are to stop: at the line under the source's
 * cursor, and what is done with the list of breakpoints. What tells debuggers
 * so is the engine's; its command lines are run here.
 */
#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "base/alloc.h"
#include "base/error.h"
#include "engine/engine.h"
#include "model/place.h"
#include "protocol/stack.h"
#include "ui/app.h"
#include "ui/commands-private.h"
#include "ui/commands.h"
#include "ui/layout.h"
#include "ui/pane-breakpoints.h"
#include "ui/pane.h"

static void run_with_id(struct app *app, const char *command, int id)
{
	char *line = xasprintf("%s %d", command, id);

	commands_run(app, line);
	free(line);
}

static int clear(struct app *app, const struct breakpoint_summary *breakpoint,
		 struct error *error)
{
	if (breakpoint->id <= 0)
		return error_set(error,
				 "this breakpoint was set in pdb itself, and "
				 "is cleared there: C opens its console.");
	run_with_id(app, "clear", breakpoint->id);
	return 0;
}

static void set_here(struct app *app, const char *file, int line)
{
	char quote = strchr(file, '"') != NULL ? '\'' : '"';
	char *command = xasprintf("break %c%s:%d%c", quote, file, line, quote);

	commands_run(app, command);
	free(command);
}

/* Sets one where there is none, else takes it away. */
static int break_here(struct app *app, const struct frame *frame,
		      struct error *error)
{
	const struct session *session = &app->engine->session;
	int line = pane_source_line(session, &app->view);
	const struct breakpoint_summary *breakpoint;
	struct breakpoint_list list;
	int result = 0;

	breakpoint_list_make(&list, session);
	breakpoint = breakpoint_list_at(&list, frame->code->file, line);
	if (breakpoint != NULL)
		result = clear(app, breakpoint, error);
	else
		set_here(app, frame->code->file, line);
	breakpoint_list_clear(&list);
	return result;
}

/* Where the cursor was not moved, any later line will do, as in pdb. */
static int run_here(struct app *app, const struct frame *frame)
{
	int line = pane_source_line(&app->engine->session, &app->view);

	if (line == frame->lineno)
		commands_run(app, "until");
	else
		run_with_id(app, "until", line);
	return 0;
}

int ui_here(struct command_context *context, int argc, char **argv,
	    struct error *error)
{
	struct app *app = command_app(context);
	const struct frame *frame = selected_frame(&app->engine->session);
	bool is_break = argc == 2 && strcmp(argv[1], "break") == 0;

	if (argc != 2 || (!is_break && strcmp(argv[1], "until") != 0))
		return command_usage(error, "here", "break or until");
	if (app->view.kind != VIEW_HOME)
		return error_set(error, "the line is that under the cursor of "
					"the source at home; Esc leads there.");
	if (frame == NULL || selected_source(&app->engine->session) == NULL)
		return error_set(error, "there is no source to break in.");
	return is_break ? break_here(app, frame, error) : run_here(app, frame);
}

int ui_breakpoints(struct command_context *context, int argc, char **argv,
		   struct error *error)
{
	struct view *view = &command_app(context)->view;

	(void)argc;
	(void)argv;
	(void)error;
	view_open(view, view->kind == VIEW_BREAKPOINTS ? VIEW_HOME
						       : VIEW_BREAKPOINTS);
	return 0;
}

bool is_on_breakpoints(const struct app *app)
{
	struct layout layout;

	if (app->view.kind != VIEW_HOME || app->view.pane != PANE_BREAKPOINTS)
		return app->view.kind == VIEW_BREAKPOINTS;
	/* With the last of them, or the room for it, the pane goes. */
	layout_make(&layout, &app->engine->session, &app->view);
	return layout.panes[PANE_BREAKPOINTS].row_count > 0;
}

/* What is under the cursor of the list; -1 and a sentence: nothing is. */
static int with_cursor(struct app *app,
		       int (*act)(struct app *app,
				  const struct breakpoint_summary *breakpoint,
				  struct error *error),
		       struct error *error)
{
	struct breakpoint_list list;
	int cursor;
	int result;

	breakpoint_list_make(&list, &app->engine->session);
	cursor = breakpoint_list_cursor(&list, &app->view);
	if (cursor < 0)
		result = error_set(error, "there is no breakpoint.");
	else
		result = act(app, &list.items[cursor], error);
	breakpoint_list_clear(&list);
	return result;
}

static int toggle(struct app *app, const struct breakpoint_summary *breakpoint,
		  struct error *error)
{
	if (breakpoint->id <= 0)
		return error_set(error,
				 "this breakpoint was set in pdb itself, and "
				 "is changed there: C opens its console.");
	run_with_id(app, breakpoint->is_disabled ? "enable" : "disable",
		    breakpoint->id);
	return 0;
}

int toggle_breakpoint(struct app *app, struct error *error)
{
	return with_cursor(app, toggle, error);
}

/* The frame of the thread looked at that is in this file; -1: none is. */
static int find_depth(const struct session *session, const char *path)
{
	const struct thread *thread = session_selected_thread(session);
	const struct stack *stack =
		thread != NULL ? thread->sample.stack : NULL;

	for (size_t i = 0; stack != NULL && i < stack->frame_count; i++)
		if (strcmp(stack->frames[i].code->file, path) == 0 ||
		    (strchr(path, '/') == NULL &&
		     strcmp(place_file_name(stack->frames[i].code->file),
			    path) == 0))
			return (int)i;
	return -1;
}

static int show(struct app *app, const struct breakpoint_summary *breakpoint,
		struct error *error)
{
	struct session *session = &app->engine->session;
	int depth;

	if (breakpoint->path == NULL || breakpoint->line <= 0)
		return error_set(error, "where it will be is not known before "
					"a debugger has set it.");
	depth = find_depth(session, breakpoint->path);
	if (depth < 0)
		return error_set(error,
				 "the stack looked at is not in %.80s; [ and ] "
				 "look at another rank.",
				 place_file_name(breakpoint->path));
	select_depth(session, depth);
	view_open(&app->view, VIEW_HOME);
	app->view.pane = PANE_SOURCE;
	view_point(&app->view, session, breakpoint->line);
	return 0;
}

int open_breakpoint(struct app *app, struct error *error)
{
	return with_cursor(app, show, error);
}

int ui_remove(struct command_context *context, int argc, char **argv,
	      struct error *error)
{
	struct app *app = command_app(context);

	(void)argc;
	(void)argv;
	if (!is_on_breakpoints(app))
		return error_set(error, "only a breakpoint can be removed: B "
					"lists them.");
	return with_cursor(app, clear, error);
}
