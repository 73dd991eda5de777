#include "ui/view.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "base/alloc.h"
#include "base/array.h"
#include "model/session.h"
#include "ui/held.h"
#include "ui/layout.h"
#include "ui/pane-breakpoints.h"
#include "ui/pane-parameters.h"
#include "ui/pane-tensor.h"
#include "ui/pane.h"

/* One resume told twice, as two clocks say it. */
#define SAME_RESUME_SECONDS 1.5

static const char *const names[VIEW_KIND_COUNT] = {
	[VIEW_COMPARE] = "compare",
	[VIEW_TENSOR] = "tensor",
	[VIEW_DIFFERENCE] = "difference",
	[VIEW_PARAMETERS] = "parameters",
};

const char *view_name(enum view_kind kind)
{
	return names[kind];
}

void view_init(struct view *view)
{
	*view = (struct view){
		.merged_cursor = -1,
		.row_count = 24,
		.column_count = 80,
		.against_seconds = 10,
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
	key_set_clear(&view->folded);
	key_set_clear(&view->opened_runs);
	key_set_clear(&view->order.folded);
	key_set_clear(&view->order.opened);
	free(view->order.filter);
	free(view->text);
	free(view->text_line);
	free(view->search);
	free(view->origin.search);
	free(view->message);
	free(view->question);
	rankset_clear(&view->asked);
	motion_clear(&view->motion);
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

	free(view->message);
	view->message = copy;
	view->is_message_error = is_error;
	free(view->question);
	view->question = NULL;
	view->choices = NULL;
}

void view_ask_which(struct view *view, const char *question, const struct view_choice *choices)
{
	view_say(view, false, question);
	view->choices = choices;
}

void view_ask(struct view *view, const char *question, const char *line,
	      const struct rankset *asked)
{
	char *text = xasprintf("%s (y, n)", question);

	view_say(view, false, text);
	view->question = xstrdup(line);
	rankset_clear(&view->asked);
	if (asked != NULL)
		rankset_copy(&view->asked, asked);
	free(text);
}

/* "back" leads from it to what was there before. */
static bool lies_over(enum view_kind kind)
{
	return kind == VIEW_HELP || kind == VIEW_LOG || kind == VIEW_TEXT || kind == VIEW_CONSOLE ||
	       kind == VIEW_COMPARE || kind == VIEW_REPL || kind == VIEW_TERMINAL ||
	       kind == VIEW_TENSOR || kind == VIEW_DIFFERENCE || kind == VIEW_PARAMETERS;
}

/* It is come back to; the others of them take each other's place. */
static bool stays(enum view_kind kind)
{
	return !lies_over(kind) || kind == VIEW_COMPARE || kind == VIEW_TENSOR ||
	       kind == VIEW_DIFFERENCE || kind == VIEW_PARAMETERS;
}

/* It is open, or "back" leads to it. */
static bool is_there(const struct view *view, enum view_kind kind)
{
	enum view_kind at = view->kind;

	while (at != kind && lies_over(at))
		at = view->behind[at];
	return at == kind;
}

void view_open(struct view *view, enum view_kind kind)
{
	enum view_kind below = view->kind;

	if (lies_over(kind) && !is_there(view, kind)) {
		if (!stays(below))
			below = view->behind[below];
		view->behind[kind] = below;
	}
	view->kind = kind;
	view->text_scroll = kind == VIEW_LOG ? SCROLL_END : 0;
	view->other_scroll = SCROLL_END;
	view->is_log_focused = false;
}

void view_focus_log(struct view *view, bool is_log_focused)
{
	int scroll = view->text_scroll;

	if (view->is_log_focused == is_log_focused)
		return;
	view->text_scroll = view->other_scroll;
	view->other_scroll = scroll;
	view->is_log_focused = is_log_focused;
}

static size_t find_key(const struct key_set *set, uint64_t key)
{
	size_t i = 0;

	while (i < set->count && set->keys[i] != key)
		i++;
	return i;
}

bool key_set_has(const struct key_set *set, uint64_t key)
{
	return find_key(set, key) < set->count;
}

int key_set_pages(const struct key_set *set, uint64_t key)
{
	size_t i = find_key(set, key);

	return i < set->count ? set->pages[i] : 0;
}

void key_set_add_page(struct key_set *set, uint64_t key)
{
	size_t i = find_key(set, key);

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
	size_t i = find_key(set, key);

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

static void draw_body(struct window window, const struct session *session, const struct view *view,
		      const struct layout *layout, const struct keymap *keymap)
{
	struct window body = window_part(window, layout->body.row, 0, layout->body.row_count,
					 window.column_count);

	switch (view->kind) {
	case VIEW_HOME:
		pane_home(window, session, view, layout);
		break;
	case VIEW_MERGED:
		pane_merged(body, session, view);
		break;
	case VIEW_DIFF:
		pane_diff(body, session, view);
		break;
	case VIEW_JOBS:
		break;
	case VIEW_BREAKPOINTS:
		view_breakpoints(body, session, view);
		break;
	case VIEW_LOG:
		pane_log(body, session, view);
		break;
	case VIEW_CONSOLE:
		pane_console(body, session, view);
		break;
	case VIEW_TERMINAL:
		pane_terminal(body, session, view);
		break;
	case VIEW_COMPARE:
		pane_compare(body, session, view);
		break;
	case VIEW_DIFFERENCE:
		pane_difference(body, session, view);
		break;
	case VIEW_PARAMETERS:
		pane_parameters(body, session, view);
		break;
	case VIEW_REPL:
		pane_repl(body, session, view);
		break;
	case VIEW_TENSOR:
		pane_tensor(body, session, view);
		break;
	case VIEW_HELP:
	case VIEW_TEXT:
		pane_text(body, session, view, keymap);
		break;
	case VIEW_KIND_COUNT:
		break;
	}
}

/* What a view says in place of the verdict, if it does. */
static void put_top(struct window window, const struct session *session, const struct view *view)
{
	if (view->kind == VIEW_COMPARE || view->kind == VIEW_DIFFERENCE)
		pane_compare_summary(window, session);
	else if (view->kind == VIEW_PARAMETERS)
		pane_parameters_summary(window, session);
	else if (view->kind != VIEW_TENSOR || !pane_tensor_summary(window, session))
		pane_verdict(window, session);
}

/* Where a search looks: the focused pane, or the whole body. */
static struct window searched(struct window window, const struct view *view,
			      const struct layout *layout)
{
	const struct box *box = &layout->panes[view->pane];

	if (view->kind != VIEW_HOME || layout->is_compact)
		box = &layout->body;
	/* The titles of cards are in their upper border. */
	if (view->kind == VIEW_HOME && layout->grid == GRID_CARDS && view->pane == PANE_GRID)
		return window_part(window, box->row - 1, box->column, box->row_count + 1,
				   box->column_count);
	return window_part(window, box->row, box->column, box->row_count, box->column_count);
}

void view_draw(struct canvas *canvas, const struct session *session, const struct view *view,
	       const struct keymap *keymap)
{
	struct window window;
	struct layout layout;
	bool is_empty = session->rank_count == 0 && view->kind == VIEW_HOME;
	bool lists_jobs = view_lists_jobs(session, view);
	int rows = view->row_count;
	int columns = view->column_count;

	canvas_reset(canvas, rows, columns);
	window = canvas_window(canvas);
	layout_make(&layout, session, view);
	pane_header(window, session, view);
	if (is_empty || lists_jobs) {
		struct window middle = window_part(window, 1, 0, rows - 2, columns);

		if (lists_jobs)
			pane_jobs(middle, session, view);
		else
			pane_nothing(middle, session);
	} else {
		struct window top = window_part(window, 1, 0, layout.verdict_rows, columns);

		put_top(top, session, view);
		draw_body(window, session, view, &layout, keymap);
		if (view->has_marks && view->search != NULL)
			window_mark(searched(window, view, &layout), STYLE_FOUND, view->search);
	}
	if (rows > 2) {
		int hints = pane_hint_rows(session, view, rows, columns);

		pane_hints(window_part(window, rows - hints, 0, hints, columns), session, view,
			   keymap);
	}
	if (view->is_ascii)
		canvas_make_ascii(canvas);
}
