/*
 * The last line: the typed command, the last message, or the keys that are useful in this view and
 * state.
 */
#include <string.h>

#include "banned.h"
#include "base/array.h"
#include "base/buffer.h"
#include "base/text.h"
#include "model/session.h"
#include "ui/keymap.h"
#include "ui/pane.h"
#include "ui/ranklist.h"
#include "ui/stopped-text.h"
#include "ui/view-type.h"

#define MESSAGE_ROWS 3

/* The last hints of every hint line. */
static const struct hint last_hints[] = {
	{ { "prompt", NULL }, "command" },
	{ { "help", NULL }, "help" },
};

static const struct hint open_hint = { { "open", NULL }, "open" };
static const struct hint quit_hint = { { "quit", NULL }, "quit" };

/* The key bindings of a view. */
struct keys {
	const struct keymap *keymap;
	const char *view;
};

static const char *pane_hints_key_of(const struct keys *keys, const char *line)
{
	return keymap_key_of(keys->keymap, keys->view, line);
}

static bool append_hint_keys(struct buffer *out, const struct hint *hint, const struct keys *keys)
{
	for (int i = 0; i < 2 && hint->lines[i] != NULL; i++) {
		const char *key = pane_hints_key_of(keys, hint->lines[i]);

		if (key == NULL)
			return false;
		buffer_printf(out, "%s%s", i > 0 ? " " : "", key);
	}
	return true;
}

/* Returns the width of a hint in columns; 0 if the hint's keys are not bound. */
static int hint_width(const struct hint *hint, const struct keys *keys)
{
	struct buffer text = BUFFER_INIT;
	int width = 0;

	if (append_hint_keys(&text, hint, keys))
		width = text_width(text.data) + 1 + text_width(hint->label);
	buffer_clear(&text);
	return width;
}

/*
 * Makes a hint a mouse target. A hint with one key is a target for the key; with two keys, the
 * first key's name is a target for the first key, and the label for the second key.
 */
static void note_keys(struct window window, int start, int end, const struct hint *hint,
		      const struct keys *keys)
{
	window_hit_key(window, start, end - start, hint->lines[hint->lines[1] != NULL]);
	if (hint->lines[1] != NULL)
		window_hit_key(window, start, text_width(pane_hints_key_of(keys, hint->lines[0])),
			       hint->lines[0]);
}

/* Draws a hint; returns the column after the hint. */
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

/* Appends "12 of 1,024 ranks": the ranks that pass the filter. */
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

/* Shows the filter as long as it hides ranks. */
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

static const struct hint *hints_of(const struct session *session, const struct view *view)
{
	const struct view_type *type = view_type_of(view->kind);
	const struct hint *chosen =
		type->choose_hints != NULL ? type->choose_hints(session, view) : NULL;

	return chosen != NULL ? chosen : type->hints;
}

static void put_hints(struct window window, const struct session *session, const struct view *view,
		      const struct keys *keys)
{
	int reserved = 0;
	int column = put_filter(window, 1, session, view);

	for (size_t i = 0; i < ARRAY_LENGTH(last_hints); i++)
		reserved += 2 + hint_width(&last_hints[i], keys);
	if (view_is_at_root(session, view)) {
		if (view_lists_jobs(session, view))
			column = put_hint(window, column, &open_hint, keys);
		column = put_hint(window, column, &quit_hint, keys);
	} else {
		const struct hint *hint = hints_of(session, view);

		for (; hint != NULL && hint->label != NULL; hint++) {
			int width = hint_width(hint, keys);

			if (width == 0)
				continue;
			if (column + 2 + width + reserved > window.column_count)
				break;
			column = put_hint(window, column, hint, keys);
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

/*
 * True if the question to stay stopped replaces the message. Errors and other questions are never
 * replaced.
 */
static bool asks_to_stay(const struct session *session, const struct view *view)
{
	return !view->prompt.is_open && !view->message.is_error && view->message.question == NULL &&
	       view->message.choices == NULL && view_asks_to_stay(session, view);
}

int pane_hint_rows(const struct session *session, const struct view *view, int row_count,
		   int column_count)
{
	bool is_said =
		view->message.text != NULL && !view->prompt.is_open && !asks_to_stay(session, view);
	int width = is_said ? text_width(view->message.text) : 0;
	int rows = 2;

	if (width <= column_count - 1 || !pane_has_frame(row_count))
		return 1;
	/* Lines break at words, so a row is on average 4/5 full. */
	while (rows < MESSAGE_ROWS && width > rows * column_count * 4 / 5)
		rows++;
	return rows;
}

/* A long message covers the rows above until the next key. */
static void put_message(struct window window, const struct view *view)
{
	enum style style = view->message.is_error ? STYLE_ERROR : STYLE_HINT;

	for (int row = 0; row < window.row_count; row++)
		for (int i = 0; i < window.column_count; i++)
			window_put_character(window, row, i, style, ' ');
	if (window.row_count > 1)
		window_put_paragraph(window, 0, 1, window.row_count, style, view->message.text);
	else
		window_put(window, 0, 1, window.column_count - 1, style, view->message.text);
}

/* Offers to resume the stopped ranks, as the running ranks may wait for them. */
static const struct hint release_hint = { { "release", NULL }, "resumes the stopped ranks" };

/* Writes the progress of a step. Returns false if no rank is stepping any more. */
static bool put_motion(struct window window, const struct session *session, const struct view *view,
		       const struct keys *keys)
{
	struct buffer text = BUFFER_INIT;
	bool is_under_way;
	int column = 1;

	if (!view->motion.is_silent || view->steps.count > 0)
		step_group_append(&text, &view->motion, session);
	if (view->steps.count > 0) {
		buffer_append_string(&text, "; then ");
		stepqueue_append(&text, &view->steps);
		buffer_append_string(&text, " (Esc cancels)");
	}
	is_under_way = text.length > 0;
	column += window_put(window, 0, column, window.column_count - 1, STYLE_HINT, text.data);
	buffer_clear(&text);
	if (is_under_way && step_group_is_stuck(&view->motion, session))
		put_hint(window, column, &release_hint, keys);
	return is_under_way;
}

static bool pane_hints_is_typed_to(const struct session *session, const struct view_type *type)
{
	return type->is_typed_to != NULL && type->is_typed_to(session);
}

/* Writes "Rank 0 resumes in 6 s, before the job times out. Stay stopped? (Y; Esc: no)". */
static void pane_hints_put_question(struct window window, const struct session *session,
				    const struct view *view, const struct keys *keys)
{
	struct rankset ranks = RANKSET_INIT;
	struct buffer text = BUFFER_INIT;
	double seconds = session_resume_seconds(session);
	const struct view_type *type = view_type_of(view->kind);
	/*
	 * Keys that are typed to a terminal or prompt cannot answer the question: the key that
	 * leaves the terminal or prompt is named first.
	 */
	const char *leaving =
		pane_hints_is_typed_to(session, type) ? type->typing_hints->key : NULL;
	const char *key = pane_hints_key_of(keys, "stay");
	int width = window.column_count - 1;

	session_add_limited(&ranks, session);
	stopped_text_append_resume(&text, &ranks, seconds, true);
	buffer_append_string(&text, ". Stay stopped? (");
	if (leaving != NULL)
		buffer_printf(&text, "%s, then ", leaving);
	buffer_append_string(&text, key != NULL ? key : ":stay");
	if (leaving == NULL)
		buffer_append_string(&text, "; Esc: no");
	if (text_width(text.data) + 1 > width) {
		buffer_reset(&text);
		stopped_text_append_resume(&text, &ranks, seconds, false);
		buffer_printf(&text, ". Stay? (%s", key != NULL ? key : ":stay");
	}
	buffer_append_char(&text, ')');
	window_put(window, 0, 1, width, STYLE_WARNING, text.data);
	if (leaving == NULL)
		window_hit_key(window, 1, text_width(text.data), "stay");
	rankset_clear(&ranks);
	buffer_clear(&text);
}

static void put_typing_hints(struct window window, const struct typing_hint *hint)
{
	int column = 1;

	for (; hint->key != NULL; hint++) {
		int start = column;

		if (hint->key[0] != '\0')
			column += 1 + text_width(hint->key);
		if (column + text_width(hint->label) > window.column_count)
			return;
		window_put(window, 0, start, column - start, STYLE_HINT_KEY, hint->key);
		column += window_put(window, 0, column, window.column_count - column, STYLE_HINT,
				     hint->label);
		if (hint->line != NULL)
			window_hit_key(window, start, column - start, hint->line);
		column += 2;
	}
}

void pane_hints(struct window window, const struct session *session, const struct view *view,
		const struct keymap *keymap)
{
	const struct view_type *type = view_type_of(view->kind);
	struct keys keys = { keymap, type->name };

	if (view->prompt.is_open)
		put_prompt(window, session, view);
	else if (asks_to_stay(session, view))
		pane_hints_put_question(window, session, view, &keys);
	else if (view->message.text != NULL)
		put_message(window, view);
	else if (session->node_count > 0 && session_gone_count(session) == session->node_count)
		window_put(window, 0, 1, window.column_count - 1, STYLE_ERROR,
			   "probetui-node lost; the job keeps running: quit (q) and start probetui "
			   "again");
	else if (pane_hints_is_typed_to(session, type))
		put_typing_hints(window, type->typing_hints);
	else if (!put_motion(window, session, view, &keys))
		put_hints(window, session, view, &keys);
}
