/*
 * want: what the open view lacks, asked of the engine after each draw. The
 * panes themselves ask nothing.
 */
#include <stdlib.h>

#include "banned.h"
#include "base/alloc.h"
#include "engine/differing.h"
#include "engine/engine.h"
#include "model/stackdiff.h"
#include "protocol/stack.h"
#include "ui/app.h"
#include "ui/commands-private.h"
#include "ui/layout.h"
#include "ui/names.h"
#include "ui/pane.h"

#define EVIDENCE_SECONDS 1.0
#define SMALL_BYTES (8 << 20)

static void want_frame(struct app *app, const struct rank *rank, pid_t tid,
		       const struct stack *stack, int depth)
{
	if (rank->process.pid <= 0 || stack == NULL || depth < 0 ||
	    (size_t)depth >= stack->frame_count)
		return;
	engine_want_source(app->engine, rank->node, rank->process.pid,
			   stack->frames[depth].code->file);
	/* A process that is gone cannot be asked about. */
	if (rank->state != RANK_EXITED)
		engine_want_frame(app->engine, rank->node, rank->process.pid, tid, depth);
}

static void want_home(struct app *app)
{
	const struct session *session = &app->engine->session;
	const struct rank *rank = session_looked_at(session);
	const struct thread *thread = session_selected_thread(session);
	struct locals_frame frame = locals_frame_selected(session);
	struct locals_row *rows;
	size_t count;

	if (rank == NULL || thread == NULL)
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

static void want_merged(struct app *app)
{
	const struct session *session = &app->engine->session;
	struct merged merged;
	const struct rank *rank;
	const struct thread *main;
	int depth;

	merged_make(&merged, session, &app->view);
	if (merged.row_count > 0) {
		rank = session_find_rank(
			session,
			merged_rank(session, merged.rows[merged.cursor].tree.node, &depth));
		main = rank != NULL ? rank_main_thread(rank) : NULL;
		if (main != NULL)
			want_frame(app, rank, main->sample.tid, main->sample.stack, depth);
	}
	merged_clear(&merged);
}

static void want_diff(struct app *app)
{
	const struct session *session = &app->engine->session;
	struct diff_sides sides;
	struct stackdiff diff;
	const struct rank *other;
	const char *problem;

	if (!diff_sides_find(&sides, session, &app->view, &problem))
		return;
	stackdiff_make(&diff, sides.a_stack, sides.b_stack);
	if (diff.fork >= 0) {
		const struct stackdiff_row *row = &diff.rows[diff.fork];

		want_frame(app, sides.a, rank_main_thread(sides.a)->sample.tid, sides.a_stack,
			   (int)row->a_depth);
		for (size_t i = 0; (other = diff_other(session, &sides, i)) != NULL; i++)
			want_frame(app, other, rank_main_thread(other)->sample.tid, sides.b_stack,
				   (int)row->b_depth);
	}
	stackdiff_clear(&diff);
}

/*
 * What the selected rank prints is followed while it can be seen, and where
 * there would be room for it, to know whether there is any.
 */
static void want_output(struct app *app)
{
	const struct rank *rank = session_selected(&app->engine->session);
	bool is_seen = app->view.kind == VIEW_LOG ||
		       (app->view.kind == VIEW_HOME && !app->view.is_zoomed &&
			layout_can_show_output(&app->view));

	if (is_seen && rank != NULL && rank->process.pid > 0 && rank->state != RANK_EXITED)
		engine_follow_output(app->engine, rank->node, rank->process.pid);
	else
		engine_follow_output(app->engine, 0, 0);
	/* Its node knows where it printed to, and asks it no more. */
	if (is_seen && rank != NULL && rank->process.pid > 0 && rank->state == RANK_EXITED)
		engine_want_output(app->engine, rank->node, rank->process.pid);
}

static void ignore(void *data, const char *text)
{
	(void)data;
	(void)text;
}

/* What Tab would complete the expression that is typed with. */
static void want_names(struct app *app)
{
	const struct session *session = &app->engine->session;
	const struct prompt *prompt = &app->view.prompt;
	const struct rank *rank = session_looked_at(session);
	const struct thread *thread = session_selected_thread(session);
	struct names_wish wish;
	char *head;

	if (!prompt->is_open ||
	    (prompt->kind != PROMPT_COMPARE && prompt->kind != PROMPT_COMMAND) || rank == NULL ||
	    thread == NULL)
		return;
	want_frame(app, rank, thread->sample.tid, thread->sample.stack,
		   session_selected_depth(session));
	head = xstrndup(prompt->text.data, prompt->cursor);
	wish = names_find(session, head, ignore, NULL);
	if (wish.address != 0)
		engine_want_children(app->engine, rank->node, rank->process.pid, wish.address, 0);
	free(head);
}

/* How small tensors differ is read at once, as it costs nothing. */
static void want_differences(struct app *app)
{
	const struct answers *answers = &app->engine->session.answers;

	if (app->view.kind != VIEW_COMPARE || answers->question == NULL ||
	    answers->kind != ANSWERS_COMPARE || app->engine->replay != NULL ||
	    app->differences_of == answers->number || answers_come(answers) < answers->count)
		return;
	app->differences_of = answers->number;
	for (size_t i = 0; i < answers->count; i++)
		if (answers->items[i].tensor != NULL &&
		    answers->items[i].tensor->byte_count > SMALL_BYTES)
			return;
	differing_begin_all(app->engine);
}

/* A debugger's session is followed while it is seen. */
static void want_console(struct app *app)
{
	const struct rank *rank = session_looked_at(&app->engine->session);

	if (app->view.kind == VIEW_CONSOLE && rank != NULL && debugger_is_ours(&rank->debugger))
		engine_follow_console(app->engine, rank->node, rank->process.pid);
	else
		engine_follow_console(app->engine, 0, 0);
}

/* What is left of ranks that end is what nodes were asked about before. */
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
	want_console(app);
	want_names(app);
	want_differences(app);
	want_evidence(app);
	if (app->view.kind != VIEW_TENSOR)
		tensor_rest(app->engine);
	switch (app->view.kind) {
	case VIEW_HOME:
		want_home(app);
		break;
	case VIEW_MERGED:
		want_merged(app);
		break;
	case VIEW_DIFF:
		want_diff(app);
		break;
	case VIEW_TENSOR:
		want_tensor(app);
		break;
	case VIEW_JOBS:
	case VIEW_BREAKPOINTS:
	case VIEW_HELP:
	case VIEW_LOG:
	case VIEW_TEXT:
	case VIEW_CONSOLE:
	case VIEW_TERMINAL:
	case VIEW_REPL:
	case VIEW_COMPARE:
	case VIEW_DIFFERENCE:
	case VIEW_PARAMETERS:
	case VIEW_KIND_COUNT:
		break;
	}
}
