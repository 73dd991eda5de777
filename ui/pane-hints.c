/*
 * The last line: what is typed, what was said, or the keys that make sense
 * here and now.
 */
#include <string.h>

#include "banned.h"
#include "base/array.h"
#include "base/buffer.h"
#include "base/text.h"
#include "model/held.h"
#include "model/session.h"
#include "model/launching.h"
#include "ui/held.h"
#include "ui/keymap.h"
#include "ui/layout.h"
#include "ui/pane.h"
#include "ui/ranklist.h"

#define MESSAGE_ROWS 3

struct hint {
	enum view_kind view;
	const char *lines[2]; /* one or two command lines; their keys show */
	const char *label;
};

/* In order of importance; at most eight a view are shown. */
static const struct hint hints[] = {
	{ VIEW_HOME, { "rank previous", "rank next" }, "rank" },
	{ VIEW_HOME, { "outlier previous", "outlier next" }, "outlier" },
	{ VIEW_HOME, { "merged", NULL }, "merged" },
	{ VIEW_HOME, { "diff", NULL }, "diff" },
	{ VIEW_HOME, { "pause", NULL }, "pause" },
	{ VIEW_HOME, { "here break", NULL }, "break" },
	{ VIEW_MERGED, { "open", NULL }, "source" },
	{ VIEW_MERGED, { "expand", NULL }, "fold" },
	{ VIEW_MERGED, { "toggle", NULL }, "focus these" },
	{ VIEW_MERGED, { "granularity", NULL }, "granularity" },
	{ VIEW_MERGED, { "prompt search", NULL }, "find" },
	{ VIEW_MERGED, { "back", NULL }, "back" },
	{ VIEW_DIFF, { "against", NULL }, "against" },
	{ VIEW_DIFF, { "rank previous", "rank next" }, "rank" },
	{ VIEW_DIFF, { "outlier previous", "outlier next" }, "outlier" },
	{ VIEW_DIFF, { "find previous", "find next" }, "differences" },
	{ VIEW_DIFF, { "back", NULL }, "back" },
	{ VIEW_JOBS, { "open", NULL }, "open" },
	{ VIEW_JOBS, { "cursor up", "cursor down" }, "job" },
	{ VIEW_JOBS, { "back", NULL }, "back" },
	{ VIEW_BREAKPOINTS, { "open", NULL }, "source" },
	{ VIEW_BREAKPOINTS, { "toggle", NULL }, "off, on" },
	{ VIEW_BREAKPOINTS, { "remove", NULL }, "clear" },
	{ VIEW_BREAKPOINTS, { "prompt search", NULL }, "find" },
	{ VIEW_BREAKPOINTS, { "back", NULL }, "back" },
	{ VIEW_HELP, { "cursor page-up", "cursor page-down" }, "page" },
	{ VIEW_HELP, { "prompt search", NULL }, "find" },
	{ VIEW_HELP, { "back", NULL }, "back" },
	{ VIEW_LOG, { "rank previous", "rank next" }, "rank" },
	{ VIEW_LOG, { "outlier previous", "outlier next" }, "outlier" },
	{ VIEW_LOG, { "pane next", NULL }, "output, log" },
	{ VIEW_LOG, { "cursor page-up", "cursor page-down" }, "page" },
	{ VIEW_LOG, { "prompt search", NULL }, "find" },
	{ VIEW_LOG, { "back", NULL }, "back" },
	{ VIEW_TEXT, { "cursor page-up", "cursor page-down" }, "page" },
	{ VIEW_TEXT, { "prompt search", NULL }, "find" },
	{ VIEW_TEXT, { "back", NULL }, "back" },
	{ VIEW_COMPARE, { "open", NULL }, "whole text" },
	{ VIEW_COMPARE, { "toggle", NULL }, "focus these" },
	{ VIEW_COMPARE, { "visit", NULL }, "rank" },
	{ VIEW_COMPARE, { "compare", NULL }, "again" },
	{ VIEW_DIFFERENCE, { "difference", NULL }, "again" },
	{ VIEW_DIFFERENCE, { "prompt tolerance", NULL }, "tolerance" },
	{ VIEW_DIFFERENCE, { "follow", NULL }, "watch" },
	{ VIEW_PARAMETERS, { "open", NULL }, "compare" },
	{ VIEW_PARAMETERS, { "toggle", NULL }, "focus these" },
	{ VIEW_PARAMETERS, { "diff-params", NULL }, "again" },
	{ VIEW_PARAMETERS, { "prompt search", NULL }, "find" },
	{ VIEW_PARAMETERS, { "back", NULL }, "back" },
	{ VIEW_COMPARE, { "back", NULL }, "back" },
	{ VIEW_TENSOR, { "tensor-view", NULL }, "view" },
	{ VIEW_TENSOR, { "tensor-index", NULL }, "index" },
	{ VIEW_TENSOR, { "tensor-find nan", NULL }, "next nan" },
	{ VIEW_TENSOR, { "tensor-export", NULL }, "export" },
	{ VIEW_TENSOR, { "rank previous", "rank next" }, "rank" },
	{ VIEW_TENSOR, { "back", NULL }, "back" },
	{ VIEW_CONSOLE, { "rank previous", "rank next" }, "rank" },
	{ VIEW_CONSOLE, { "open", NULL }, "connect" },
	{ VIEW_CONSOLE, { "cursor page-up", "cursor page-down" }, "page" },
	{ VIEW_CONSOLE, { "back", NULL }, "back" },
	{ VIEW_TERMINAL, { "cursor page-up", "cursor page-down" }, "page" },
	{ VIEW_TERMINAL, { "back", NULL }, "back" },
};

/* Instead of home's, of a recording: it can be told nothing. */
static const struct hint replay_hints[] = {
	{ VIEW_HOME, { "rank previous", "rank next" }, "rank" },
	{ VIEW_HOME, { "outlier previous", "outlier next" }, "outlier" },
	{ VIEW_HOME, { "merged", NULL }, "merged" },
	{ VIEW_HOME, { "diff", NULL }, "diff" },
	{ VIEW_HOME, { "up", "down" }, "frame" },
	{ VIEW_HOME, { "pane next", NULL }, "pane" },
};

/* Instead of home's, in a grid of many ranks. */
static const struct hint many_hints[] = {
	{ VIEW_HOME, { "rank previous", "rank next" }, "rank" },
	{ VIEW_HOME, { "outlier previous", "outlier next" }, "outlier" },
	{ VIEW_HOME, { "sort next", NULL }, "sort" },
	{ VIEW_HOME, { "group", NULL }, "group" },
	{ VIEW_HOME, { "prompt filter", NULL }, "filter" },
	{ VIEW_HOME, { "merged", NULL }, "merged" },
};

/* Of tensors. */
static const struct hint tensor_hints[] = {
	{ VIEW_COMPARE, { "open", NULL }, "difference" },
	{ VIEW_COMPARE, { "toggle", NULL }, "focus these" },
	{ VIEW_COMPARE, { "prompt tolerance", NULL }, "tolerance" },
	{ VIEW_COMPARE, { "follow", NULL }, "watch" },
	{ VIEW_COMPARE, { "compare", NULL }, "again" },
	{ VIEW_COMPARE, { "visit", NULL }, "rank" },
	{ VIEW_COMPARE, { "back", NULL }, "back" },
};

/* Of a rank at its debugger's prompt: the stepping comes first. */
static const struct hint stopped_hints[] = {
	{ VIEW_HOME, { "next", NULL }, "next" },
	{ VIEW_HOME, { "step", NULL }, "step" },
	{ VIEW_HOME, { "finish", NULL }, "finish" },
	{ VIEW_HOME, { "continue", NULL }, "continue" },
	{ VIEW_HOME, { "up", "down" }, "frame" },
	{ VIEW_HOME, { "here break", NULL }, "break" },
	{ VIEW_HOME, { "prompt watch", NULL }, "watch" },
	{ VIEW_HOME, { "prompt compare", NULL }, "compare" },
	{ VIEW_HOME, { "prompt focus", NULL }, "focus" },
};

/* Of one that raised: there is nothing to step to. */
static const struct hint raised_hints[] = {
	{ VIEW_HOME, { "up", "down" }, "frame" },
	{ VIEW_HOME, { "continue", NULL }, "let it raise" },
	{ VIEW_HOME, { "rank previous", "rank next" }, "rank" },
	{ VIEW_HOME, { "outlier previous", "outlier next" }, "outlier" },
	{ VIEW_HOME, { "merged", NULL }, "merged" },
	{ VIEW_HOME, { "diff", NULL }, "diff" },
};

/* Of one whose debugger waits for somebody. */
static const struct hint waiting_hints[] = {
	{ VIEW_HOME, { "connect", NULL }, "connect" },
	{ VIEW_HOME, { "rank previous", "rank next" }, "rank" },
	{ VIEW_HOME, { "outlier previous", "outlier next" }, "outlier" },
	{ VIEW_HOME, { "merged", NULL }, "merged" },
	{ VIEW_HOME, { "diff", NULL }, "diff" },
	{ VIEW_HOME, { "pane next", NULL }, "pane" },
};

/* These end every hint line. */
static const struct hint last_hints[] = {
	{ VIEW_HOME, { "prompt", NULL }, "command" },
	{ VIEW_HOME, { "help", NULL }, "help" },
};

static const struct hint open_hint = { VIEW_HOME, { "open", NULL }, "open" };
static const struct hint quit_hint = { VIEW_HOME, { "quit", NULL }, "leave" };

/* The keys of a view. */
struct keys {
	const struct keymap *keymap;
	const char *view;
};

static const char *key_of(const struct keys *keys, const char *line)
{
	return keymap_key_of(keys->keymap, keys->view, line);
}

static bool append_hint_keys(struct buffer *out, const struct hint *hint, const struct keys *keys)
{
	for (int i = 0; i < 2 && hint->lines[i] != NULL; i++) {
		const char *key = key_of(keys, hint->lines[i]);

		if (key == NULL)
			return false;
		buffer_printf(out, "%s%s", i > 0 ? " " : "", key);
	}
	return true;
}

/* Returns the columns a hint takes; 0 when its keys are bound no more. */
static int hint_width(const struct hint *hint, const struct keys *keys)
{
	struct buffer text = BUFFER_INIT;
	int width = 0;

	if (append_hint_keys(&text, hint, keys))
		width = text_width(text.data) + 1 + text_width(hint->label);
	buffer_clear(&text);
	return width;
}

/* A hint of one key is that key all over; of two the label is the second. */
static void note_keys(struct window window, int start, int end, const struct hint *hint,
		      const struct keys *keys)
{
	window_hit_key(window, start, end - start, hint->lines[hint->lines[1] != NULL]);
	if (hint->lines[1] != NULL)
		window_hit_key(window, start, text_width(key_of(keys, hint->lines[0])),
			       hint->lines[0]);
}

/* Returns the column behind it. */
static int put_hint(struct window window, int column, const struct hint *hint,
		    const struct keys *keys)
{
	struct buffer text = BUFFER_INIT;
	int start;

	if (!append_hint_keys(&text, hint, keys)) {
		buffer_clear(&text);
		return column;
	}
	if (column > 1)
		column += 2;
	start = column;
	column += window_put(window, 0, column, window.column_count - column, STYLE_HINT_KEY,
			     text.data);
	column++;
	column += window_put(window, 0, column, window.column_count - column, STYLE_HINT,
			     hint->label);
	note_keys(window, start, column, hint, keys);
	buffer_clear(&text);
	return column;
}

/* Appends "12 of 1,024 ranks": how many the filter lets through. */
static void append_matches(struct buffer *out, const struct session *session,
			   const struct view *view)
{
	struct ranklist list;

	ranklist_make(&list, session, view);
	text_count(out, list.rank_count);
	buffer_append_string(out, " of ");
	text_count(out, list.total_count);
	buffer_append_string(out, list.total_count == 1 ? " rank" : " ranks");
	ranklist_clear(&list);
}

/* That ranks are hidden is said as long as they are. */
static int put_filter(struct window window, int column, const struct session *session,
		      const struct view *view)
{
	struct buffer text = BUFFER_INIT;
	int width = window.column_count / 2;

	if (ranklist_filter(view) == NULL || view->kind != VIEW_HOME)
		return column;
	append_matches(&text, session, view);
	buffer_printf(&text, " with '%s'", ranklist_filter(view));
	column += window_put(window, 0, column, width, STYLE_WARNING, text.data);
	buffer_clear(&text);
	return column;
}

static void put_prompt(struct window window, const struct session *session, const struct view *view)
{
	struct buffer text = BUFFER_INIT;
	int width = window.column_count;

	if (view->prompt.kind == PROMPT_FILTER && view->prompt.text.length > 0) {
		append_matches(&text, session, view);
		if (text_width(text.data) * 2 < width)
			width -= 2 + window_put_right(window, 0, width - 1, width / 2, STYLE_HINT,
						      text.data);
		buffer_clear(&text);
	}
	prompt_draw(window_part(window, 0, 1, 1, width - 1), &view->prompt);
}

/* NULL: what is looked at has no debugger that could do something. */
static const struct hint *debugger_hints(const struct session *session, const struct view *view,
					 size_t *count)
{
	const struct rank *rank = session_looked_at(session);

	/* A recording can be told nothing. */
	if (rank == NULL || session->is_replay)
		return NULL;
	if (view->pane == PANE_GRID && held_is_waiting(rank)) {
		*count = ARRAY_LENGTH(waiting_hints);
		return waiting_hints;
	}
	if (rank->debugger.state != DEBUGGER_STOPPED || !held_is_stopped(rank))
		return NULL;
	if (rank->debugger.is_post_mortem) {
		*count = ARRAY_LENGTH(raised_hints);
		return raised_hints;
	}
	*count = ARRAY_LENGTH(stopped_hints);
	return stopped_hints;
}

static bool compares_tensors(const struct session *session)
{
	for (size_t i = 0; i < session->answers.count; i++)
		if (session->answers.items[i].tensor != NULL)
			return true;
	return false;
}

static const struct hint *hints_of(const struct session *session, const struct view *view,
				   size_t *count)
{
	const struct hint *own = NULL;
	struct layout layout;

	if (view->kind == VIEW_HOME)
		own = debugger_hints(session, view, count);
	if (own != NULL)
		return own;
	if (view->kind == VIEW_COMPARE && compares_tensors(session)) {
		*count = ARRAY_LENGTH(tensor_hints);
		return tensor_hints;
	}
	layout_make(&layout, session, view);
	if (view->kind == VIEW_HOME && view->pane == PANE_GRID && layout.grid != GRID_CARDS) {
		*count = ARRAY_LENGTH(many_hints);
		return many_hints;
	}
	if (view->kind == VIEW_HOME && session->is_replay) {
		*count = ARRAY_LENGTH(replay_hints);
		return replay_hints;
	}
	*count = ARRAY_LENGTH(hints);
	return hints;
}

static void put_hints(struct window window, const struct session *session, const struct view *view,
		      const struct keys *keys)
{
	int reserved = 0;
	int column = put_filter(window, 1, session, view);
	size_t count;

	for (size_t i = 0; i < ARRAY_LENGTH(last_hints); i++)
		reserved += 2 + hint_width(&last_hints[i], keys);
	if (view_is_at_root(session, view)) {
		if (view_lists_jobs(session, view))
			column = put_hint(window, column, &open_hint, keys);
		column = put_hint(window, column, &quit_hint, keys);
	} else {
		const struct hint *list = hints_of(session, view, &count);

		for (size_t i = 0; i < count; i++) {
			int width = hint_width(&list[i], keys);

			if (list[i].view != view->kind || width == 0)
				continue;
			if (column + 2 + width + reserved > window.column_count)
				break;
			column = put_hint(window, column, &list[i], keys);
		}
	}
	for (size_t i = 0; i < ARRAY_LENGTH(last_hints); i++)
		if (column + hint_width(&last_hints[i], keys) < window.column_count)
			column = put_hint(window, column, &last_hints[i], keys);
}

bool pane_message_fits(const struct view *view, const char *text)
{
	int width = view->column_count - 1;

	if (pane_has_frame(view->row_count))
		width = MESSAGE_ROWS * view->column_count * 4 / 5;
	return text_width(text) <= width;
}

/* What was said gives way, but not what went wrong, or asks. */
static bool asks_to_stay(const struct session *session, const struct view *view)
{
	return !view->prompt.is_open && !view->is_message_error && view->question == NULL &&
	       view->choices == NULL && view_asks_to_stay(session, view);
}

int pane_hint_rows(const struct session *session, const struct view *view, int row_count,
		   int column_count)
{
	bool is_said =
		view->message != NULL && !view->prompt.is_open && !asks_to_stay(session, view);
	int width = is_said ? text_width(view->message) : 0;
	int rows = 2;

	if (width <= column_count - 1 || !pane_has_frame(row_count))
		return 1;
	/* Words leave some of a line empty. */
	while (rows < MESSAGE_ROWS && width > rows * column_count * 4 / 5)
		rows++;
	return rows;
}

/* A long sentence lies over what is above it until the next key. */
static void put_message(struct window window, const struct view *view)
{
	enum style style = view->is_message_error ? STYLE_ERROR : STYLE_HINT;

	for (int row = 0; row < window.row_count; row++)
		for (int i = 0; i < window.column_count; i++)
			window_put_character(window, row, i, style, ' ');
	if (window.row_count > 1)
		window_put_paragraph(window, 0, 1, window.row_count, style, view->message);
	else
		window_put(window, 0, 1, window.column_count - 1, style, view->message);
}

/* Offers to resume the ranks that the others may wait for. */
static const struct hint release_hint = { VIEW_HOME, { "release", NULL }, "resumes the others" };

/* False: no rank that was told to run does so any more. */
static bool put_motion(struct window window, const struct session *session, const struct view *view,
		       const struct keys *keys)
{
	struct buffer text = BUFFER_INIT;
	bool is_under_way;
	int column = 1;

	if (!view->motion.is_silent || view->steps.count > 0)
		motion_append(&text, &view->motion, session);
	if (view->steps.count > 0) {
		buffer_append_string(&text, "; then ");
		stepqueue_append(&text, &view->steps);
		buffer_append_string(&text, " (Esc drops)");
	}
	is_under_way = text.length > 0;
	column += window_put(window, 0, column, window.column_count - 1, STYLE_HINT, text.data);
	buffer_clear(&text);
	if (is_under_way && motion_is_stuck(&view->motion, session))
		put_hint(window, column, &release_hint, keys);
	return is_under_way;
}

/* Keys that type something do not answer: NULL, or the key to press before. */
static const char *leaving_key(const struct session *session, const struct view *view)
{
	if (view->kind == VIEW_REPL)
		return "Esc";
	if ((view->kind == VIEW_TERMINAL && launching_is_alive(session)) ||
	    (view->kind == VIEW_CONSOLE && console_is_connected(session)))
		return "^]";
	return NULL;
}

/* "Rank 0 resumes in 6 s, before the job times out. Stay stopped? (Y; Esc: no)"
 */
static void put_question(struct window window, const struct session *session,
			 const struct view *view, const struct keys *keys)
{
	struct rankset ranks = RANKSET_INIT;
	struct buffer text = BUFFER_INIT;
	double seconds = session_resume_seconds(session);
	const char *leaving = leaving_key(session, view);
	const char *key = key_of(keys, "stay");
	int width = window.column_count - 1;

	session_add_limited(&ranks, session);
	held_append_resume(&text, &ranks, seconds, true);
	buffer_append_string(&text, ". Stay stopped? (");
	if (leaving != NULL)
		buffer_printf(&text, "%s, then ", leaving);
	buffer_append_string(&text, key != NULL ? key : ":stay");
	if (leaving == NULL)
		buffer_append_string(&text, "; Esc: no");
	if (text_width(text.data) + 1 > width) {
		buffer_reset(&text);
		held_append_resume(&text, &ranks, seconds, false);
		buffer_printf(&text, ". Stay? (%s", key != NULL ? key : ":stay");
	}
	buffer_append_char(&text, ')');
	window_put(window, 0, 1, width, STYLE_WARNING, text.data);
	if (leaving == NULL)
		window_hit_key(window, 1, text_width(text.data), "stay");
	rankset_clear(&ranks);
	buffer_clear(&text);
}

void pane_hints(struct window window, const struct session *session, const struct view *view,
		const struct keymap *keymap)
{
	struct keys keys = { keymap, view_name(view->kind) };

	if (view->prompt.is_open)
		put_prompt(window, session, view);
	else if (asks_to_stay(session, view))
		put_question(window, session, view, &keys);
	else if (view->message != NULL)
		put_message(window, view);
	else if (session->node_count > 0 && session_gone_count(session) == session->node_count)
		window_put(window, 0, 1, window.column_count - 1, STYLE_ERROR,
			   "probetui-node is gone, the job runs on: q leaves, then start probetui "
			   "again.");
	else if (view->kind == VIEW_TERMINAL && launching_is_alive(session))
		pane_console_hints(window);
	else if (view->kind == VIEW_CONSOLE && console_is_connected(session))
		pane_console_hints(window);
	else if (view->kind == VIEW_REPL)
		pane_repl_hints(window);
	else if (!put_motion(window, session, view, &keys))
		put_hints(window, session, view, &keys);
}
