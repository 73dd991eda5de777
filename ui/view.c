#include "ui/view.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "base/alloc.h"
#include "base/array.h"
#include "base/buffer.h"
#include "engine/collective-query.h"
#include "engine/engine.h"
#include "model/session.h"
#include "protocol/stack.h"
#include "ui/app.h"
#include "ui/commands.h"
#include "ui/complete.h"
#include "ui/layout.h"
#include "ui/pane.h"
#include "ui/stopped-text.h"
#include "ui/view-type.h"

/* Two times of the same resume differ by less than this number of seconds: the times come from two
 * clocks. */
#define SAME_RESUME_SECONDS 1.5

#define VIEW(KIND, row) [VIEW_##KIND] = &view_##row,
static const struct view_type *const types[VIEW_KIND_COUNT] = {
#include "ui/views.def"
};
#undef VIEW

const struct view_type *view_type_of(enum view_kind kind)
{
	return types[kind];
}

const struct view_type *view_type_shown(const struct session *session, const struct view *view)
{
	return types[view_shown(session, view)];
}

void view_init(struct view *view)
{
	*view = (struct view){
		.cursors = { [VIEW_MERGED] = -1 },
		.row_count = 24,
		.column_count = 80,
		.diff = { .seconds = 10 },
		.resume_at = -1,
		.order = { .sort = COLUMN_RANK },
	};
	tensor_choice_init(&view->tensor);
	prompt_init(&view->prompt);
	console_init(&view->console);
	console_init(&view->terminal);
	repl_init(&view->repl);
}

static void key_set_clear(struct key_set *set)
{
	free(set->keys);
	free(set->pages);
	*set = (struct key_set){ .keys = NULL };
}

void view_clear(struct view *view)
{
	key_set_clear(&view->opened);
	key_set_clear(&view->merged.folded);
	key_set_clear(&view->merged.opened_runs);
	key_set_clear(&view->order.folded);
	key_set_clear(&view->order.opened);
	free(view->order.filter);
	free(view->text.content);
	free(view->text.line);
	free(view->search.text);
	free(view->search.origin.search);
	free(view->message.text);
	free(view->message.question);
	rankset_clear(&view->message.asked);
	step_group_clear(&view->motion);
	stepqueue_clear(&view->steps);
	console_clear(&view->console);
	console_clear(&view->terminal);
	repl_clear(&view->repl);
	prompt_clear(&view->prompt);
	view_init(view);
}

void view_say(struct view *view, bool is_error, const char *message)
{
	char *copy = xstrdup_or_null(message);

	free(view->message.text);
	view->message.text = copy;
	view->message.is_error = is_error;
	free(view->message.question);
	view->message.question = NULL;
	view->message.choices = NULL;
}

void view_ask_which(struct view *view, const char *question, const struct view_choice *choices)
{
	view_say(view, false, question);
	view->message.choices = choices;
}

void view_ask(struct view *view, const char *question, const char *line,
	      const struct rankset *asked)
{
	char *text = xasprintf("%s [y/N]", question);

	view_say(view, false, text);
	view->message.question = xstrdup(line);
	rankset_clear(&view->message.asked);
	if (asked != NULL)
		rankset_copy(&view->message.asked, asked);
	free(text);
}

int view_cursor(const struct view *view, enum view_kind kind, size_t count)
{
	int last = (int)count - 1;
	int cursor = view->cursors[kind] < last ? view->cursors[kind] : last;

	return cursor < 0 ? 0 : cursor;
}

/* True if the view is open, or if "back" leads to the view. */
static bool view_is_there(const struct view *view, enum view_kind kind)
{
	enum view_kind at = view->kind;

	while (at != kind && types[at]->is_overlay)
		at = view->behind[at];
	return at == kind;
}

void view_open(struct view *view, enum view_kind kind)
{
	enum view_kind below = view->kind;

	if (types[kind]->is_overlay && !view_is_there(view, kind)) {
		/* The new overlay replaces an open overlay that is not kept (is_kept). */
		if (types[below]->is_overlay && !types[below]->is_kept)
			below = view->behind[below];
		view->behind[kind] = below;
	}
	view->kind = kind;
	if (types[kind]->opened != NULL)
		types[kind]->opened(view);
}

static size_t view_find_key(const struct key_set *set, uint64_t key)
{
	size_t i = 0;

	while (i < set->count && set->keys[i] != key)
		i++;
	return i;
}

bool key_set_has(const struct key_set *set, uint64_t key)
{
	return view_find_key(set, key) < set->count;
}

int key_set_pages(const struct key_set *set, uint64_t key)
{
	size_t i = view_find_key(set, key);

	return i < set->count ? set->pages[i] : 0;
}

void key_set_add_page(struct key_set *set, uint64_t key)
{
	size_t i = view_find_key(set, key);

	if (i < set->count) {
		set->pages[i]++;
		return;
	}
	ARRAY_GROW(set->keys, set->count, set->capacity);
	ARRAY_GROW(set->pages, set->count, set->pages_capacity);
	set->keys[set->count] = key;
	set->pages[set->count++] = 1;
}

void key_set_remove(struct key_set *set, uint64_t key)
{
	size_t i = view_find_key(set, key);

	if (i == set->count)
		return;
	set->count--;
	set->keys[i] = set->keys[set->count];
	set->pages[i] = set->pages[set->count];
}

bool view_asks_to_stay(const struct session *session, const struct view *view)
{
	double at = session_resume_at(session);

	return session_resume_seconds(session) >= 0 &&
	       (view->resume_at < 0 || fabs(at - view->resume_at) > SAME_RESUME_SECONDS);
}

bool view_asks_job(const struct session *session, const struct view *view)
{
	return view->kind == VIEW_HOME && session->rank_count == 0 && session->job < 0 &&
	       session->job_count > 1;
}

enum view_kind view_shown(const struct session *session, const struct view *view)
{
	return view_asks_job(session, view) ? VIEW_JOBS : view->kind;
}

bool view_lists_jobs(const struct session *session, const struct view *view)
{
	return view_shown(session, view) == VIEW_JOBS;
}

bool view_is_at_root(const struct session *session, const struct view *view)
{
	if (view->kind == VIEW_JOBS)
		return view->is_in_job;
	return view->kind == VIEW_HOME && session->rank_count == 0;
}

static void draw_top(const struct scene *scene, const struct view_type *type)
{
	struct window top = window_part(scene->screen, 1, 0, scene->layout->verdict_rows,
					scene->screen.column_count);

	if (type->put_top == NULL || !type->put_top(top, scene->session))
		pane_verdict(top, scene->session);
}

static void draw_hits(const struct scene *scene, const struct view_type *type, struct window body)
{
	const struct view_search *search = &scene->view->search;

	if (search->has_marks && search->text != NULL)
		window_mark(type->searched != NULL ? type->searched(scene) : body, STYLE_FOUND,
			    search->text);
}

/*
 * Draws frame and title, unless the view draws them itself; scene->body becomes the inside of the
 * frame.
 */
static void draw_frame(struct scene *scene, const struct view_type *type)
{
	struct window window = scene->body;
	struct buffer left = BUFFER_INIT;
	struct buffer right = BUFFER_INIT;

	if (type->append_title == NULL)
		return;
	scene->body = pane_frame(window);
	type->append_title(&left, &right, scene->session, scene->view);
	if (pane_has_frame(window.row_count))
		pane_title(window, 0, 1, window.column_count - 2, true, left.data, right.data);
	buffer_clear(&right);
	buffer_clear(&left);
}

/* Draws the rows between header and hint line. */
static void draw_middle(struct scene *scene, const struct view_type *type)
{
	bool is_empty = scene->session->rank_count == 0 && scene->view->kind == VIEW_HOME;
	const struct box *body = &scene->layout->body;
	struct window middle = window_part(scene->screen, 1, 0, scene->view->row_count - 2,
					   scene->view->column_count);

	if (type->is_of_host) {
		scene->body = middle;
		type->draw(scene);
	} else if (is_empty) {
		pane_nothing(middle, scene->session);
	} else {
		middle = window_part(scene->screen, body->row, 0, body->row_count,
				     scene->view->column_count);
		scene->body = middle;
		draw_top(scene, type);
		draw_frame(scene, type);
		type->draw(scene);
		draw_hits(scene, type, middle);
	}
}

void view_draw(struct canvas *canvas, const struct app *app)
{
	const struct session *session = &app->engine->session;
	const struct view *view = &app->view;
	struct window window;
	struct layout layout;
	struct scene scene = { .layout = &layout, .app = app, .session = session, .view = view };
	int rows = view->row_count;
	int columns = view->column_count;

	canvas_reset(canvas, rows, columns);
	window = canvas_window(canvas);
	scene.screen = window;
	layout_make(&layout, session, view);
	pane_header(window, session, view);
	draw_middle(&scene, view_type_shown(session, view));
	if (rows > 2) {
		int hints = pane_hint_rows(session, view, rows, columns);

		pane_hints(window_part(window, rows - hints, 0, hints, columns), session, view,
			   &app->keymap);
	}
	if (view->is_ascii)
		canvas_make_ascii(canvas);
}

/*
 * Requests to the engine, after each draw, for data that the open view lacks. The
 * panes themselves request nothing.
 */

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
 * for output, so that the layout knows whether the rank has any output.
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

/* Number of starts and ends of ranks so far. */
static size_t count_turns(const struct session *session)
{
	size_t count = session->rank_count;

	for (size_t i = 0; i < session->rank_count; i++)
		count += session->ranks[i]->process.state == PROCESS_EXITED;
	return count;
}

/* Requests evidence about new ranks in time: when a rank has ended, only evidence that was
 * requested before is left. It is requested once more then. */
static void want_evidence(struct app *app)
{
	size_t turns = count_turns(&app->engine->session);
	double now = engine_now(app->engine);

	if (app->engine->replay != NULL || (now < app->evidence_at && turns == app->evidence_turns))
		return;
	app->evidence_turns = turns;
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
	collectives_follow(app->engine, false);
}
