/*
 * view-requests: requests to the engine, after each draw, for data that the open view lacks. The
 * panes themselves request nothing.
 */
#include <stdlib.h>

#include "banned.h"
#include "base/alloc.h"
#include "engine/engine.h"
#include "protocol/stack.h"
#include "ui/app.h"
#include "ui/commands-private.h"
#include "ui/names.h"
#include "ui/pane.h"
#include "ui/view-type.h"

#define EVIDENCE_SECONDS 1.0

void want_frame(struct app *app, const struct rank *rank, pid_t tid, const struct stack *stack,
		int depth)
{
	if (rank->process.pid <= 0 || stack == NULL || depth < 0 ||
	    (size_t)depth >= stack->frame_count)
		return;
	engine_want_source(app->engine, rank->node, rank->process.pid,
			   stack->frames[depth].code->file);
	/* The variables of an exited process cannot be read. */
	if (rank->state != RANK_EXITED)
		engine_want_frame(app->engine, rank->node, rank->process.pid, tid, depth);
}

void home_want(struct app *app, bool is_open)
{
	const struct session *session = &app->engine->session;
	const struct rank *rank = session_looked_at(session);
	const struct thread *thread = session_selected_thread(session);
	struct locals_frame frame = locals_frame_selected(session);
	struct locals_row *rows;
	size_t count;

	if (!is_open || rank == NULL || thread == NULL)
		return;
	want_frame(app, rank, thread->sample.tid, thread->sample.stack,
		   session_selected_depth(session));
	rows = pane_locals_rows(session, &app->view, &frame, &count);
	for (size_t i = 0; i < count; i++)
		if (rows[i].is_page && rows[i].address != 0)
			engine_want_children(app->engine, rank->node, rank->process.pid,
					     rows[i].address, rows[i].start);
	free(rows);
}

/*
 * Follows the output of the selected rank while the output is shown, or while the screen has room
 * for output, to know whether there is any.
 */
static void want_output(struct app *app)
{
	const struct rank *rank = session_selected(&app->engine->session);
	const struct view_type *type = view_type_of(app->view.kind);
	bool is_seen = type->shows_output != NULL && type->shows_output(&app->view);

	if (is_seen && rank != NULL && rank->process.pid > 0 && rank->state != RANK_EXITED)
		engine_follow_output(app->engine, rank->node, rank->process.pid);
	else
		engine_follow_output(app->engine, 0, 0);
	/* The node knows the output file of an exited rank: read it once, do not follow. */
	if (is_seen && rank != NULL && rank->process.pid > 0 && rank->state == RANK_EXITED)
		engine_want_output(app->engine, rank->node, rank->process.pid);
}

static void ignore(void *data, const char *text)
{
	(void)data;
	(void)text;
}

/* Requests the variables that Tab needs to complete the typed expression. */
static void want_names(struct app *app)
{
	const struct session *session = &app->engine->session;
	const struct prompt *prompt = &app->view.prompt;
	const struct rank *rank = session_looked_at(session);
	const struct thread *thread = session_selected_thread(session);
	struct names_query query;
	char *head;

	if (!prompt->is_open ||
	    (prompt->kind != PROMPT_COMPARE && prompt->kind != PROMPT_COMMAND) || rank == NULL ||
	    thread == NULL)
		return;
	want_frame(app, rank, thread->sample.tid, thread->sample.stack,
		   session_selected_depth(session));
	head = xstrndup(prompt->text.data, prompt->cursor);
	query = names_find(session, head, ignore, NULL);
	if (query.address != 0)
		engine_want_children(app->engine, rank->node, rank->process.pid, query.address, 0);
	free(head);
}

/* Nodes must be asked about new ranks in time: when a rank has ended, only requested evidence is
 * left. */
static void want_evidence(struct app *app)
{
	double now = engine_now(app->engine);

	if (app->engine->replay != NULL || now < app->evidence_at)
		return;
	app->evidence_at = now + EVIDENCE_SECONDS;
	evidence_follow(app->engine);
}

void app_want(struct app *app)
{
	want_output(app);
	want_names(app);
	want_evidence(app);
	for (int kind = 0; kind < VIEW_KIND_COUNT; kind++) {
		const struct view_type *type = view_type_of((enum view_kind)kind);

		if (type->want != NULL)
			type->want(app, app->view.kind == (enum view_kind)kind);
	}
}
