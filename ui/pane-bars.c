#include <string.h>
#include <time.h>

#include "banned.h"
#include "base/array.h"
#include "base/buffer.h"
#include "base/text.h"
#include "model/place.h"
#include "model/session.h"
#include "model/stacktree.h"
#include "protocol/stack.h"
#include "ui/keymap.h"
#include "ui/layout.h"
#include "ui/pane.h"
#include "ui/ranklist.h"

#define FRAME_ROWS_MINIMUM 6
#define MESSAGE_ROWS 3
#define WIDE_COLUMNS 100 /* the header has room for a date */
#define TEXT_COLUMN 3	 /* of the verdict, behind its mark */

void pane_title(struct window window, int row, int column, int width,
		bool is_focused, const char *left, const char *right)
{
	enum style style = is_focused ? STYLE_TITLE_FOCUSED : STYLE_TITLE;
	int right_width = right != NULL ? text_width(right) : 0;
	int used;

	if (right_width > 0 && right_width + 3 <= width) {
		window_put_right(window, row, column + width, right_width,
				 style, right);
		window_put(window, row, column + width - right_width - 1, 1,
			   style, " ");
		width -= right_width + 2;
	}
	used = window_put(window, row, column, width, style, left);
	/* A title that was cut has its end at the corner. */
	if (used > 0 && used < width)
		window_put(window, row, column + used, 1, style, " ");
}

bool pane_has_frame(int row_count)
{
	return row_count >= FRAME_ROWS_MINIMUM;
}

struct window pane_frame(struct window window)
{
	if (!pane_has_frame(window.row_count))
		return window;
	window_box(window, STYLE_BORDER);
	return window_part(window, 1, 1, window.row_count - 2,
			   window.column_count - 2);
}

/* Several recordings may be of one machine. */
static size_t machine_count(const struct session *session)
{
	size_t count = 0;

	for (size_t i = 0; i < session->node_count; i++) {
		size_t j = 0;

		while (strcmp(session->nodes[j].name, session->nodes[i].name))
			j++;
		count += j == i;
	}
	return count;
}

static void append_host(struct buffer *out, const struct session *session)
{
	size_t count = machine_count(session);

	if (count == 1)
		buffer_append_string(out, session->nodes[0].name);
	else
		buffer_printf(out, "%zu machines", count);
}

static void append_job(struct buffer *out, const struct session *session)
{
	const struct job *job = NULL;

	if (session->job >= 0 && (size_t)session->job < session->job_count)
		job = &session->jobs[session->job];
	if (job != NULL && job->script != NULL && *job->script != '\0')
		buffer_printf(out, "%s \u00b7 ", place_file_name(job->script));
	text_count(out, session->rank_count);
	buffer_append_string(out,
			     session->rank_count == 1 ? " rank" : " ranks");
	buffer_append_string(out, " \u00b7 ");
	append_host(out, session);
}

static size_t gone_count(const struct session *session)
{
	size_t count = 0;

	for (size_t i = 0; i < session->node_count; i++)
		count += session->nodes[i].is_gone;
	return count;
}

/* "0:34", "1:02:03" */
static void append_clock(struct buffer *out, double seconds)
{
	long whole = seconds > 0 ? (long)seconds : 0;

	if (whole >= 3600)
		buffer_printf(out, "%ld:%02ld:%02ld", whole / 3600,
			      whole / 60 % 60, whole % 60);
	else
		buffer_printf(out, "%ld:%02ld", whole / 60, whole % 60);
}

static void append_date(struct buffer *out, double wall)
{
	time_t seconds = (time_t)wall;
	char text[40];
	struct tm parts;

	if (!localtime_r(&seconds, &parts))
		return;
	strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S", &parts);
	buffer_printf(out, " \u00b7 %s", text);
}

/* "replay 0:02 of 0:34", then "replay 0:34, end". */
static void append_replay(struct buffer *out, const struct session *session,
			  const struct view *view, bool is_wide)
{
	bool is_end = session->now >= view->replay_end;

	buffer_append_string(out, "replay ");
	append_clock(out, session->now - view->replay_first);
	if (!is_end) {
		buffer_append_string(out, " of ");
		append_clock(out, view->replay_end - view->replay_first);
	}
	if (is_wide && view->replay_wall > 0)
		append_date(out, view->replay_wall + session->now);
	if (is_end)
		buffer_append_string(out, ", end");
	else if (view->is_held)
		buffer_append_string(out, ", held");
}

static void append_pace(struct buffer *out, const struct session *session,
			const struct view *view, bool is_wide)
{
	size_t gone = gone_count(session);

	if (gone > 0 && gone == session->node_count) {
		buffer_append_string(out, "node gone");
	} else if (gone > 0) {
		buffer_printf(out, "%zu nodes gone", gone);
	} else if (session->is_replay) {
		append_replay(out, session, view, is_wide);
	} else if (view->is_held) {
		buffer_append_string(out, "held");
	} else if (view->kind != VIEW_JOBS && stacktree_is_last(session)) {
		buffer_append_string(out, "ended");
	} else if (view->period > 1) {
		buffer_printf(out, "live, every %.3g s", view->period);
	} else if (view->period > 0) {
		buffer_printf(out, "live %.0f/s", 1 / view->period);
	}
	if (view->is_recording)
		buffer_append_string(out, " \u00b7 rec");
}

static void append_focus(struct buffer *out, const struct session *session,
			 bool is_counted)
{
	struct rankset all = RANKSET_INIT;
	const struct rankset *focus = &session->choice.focus;

	if (rankset_count(focus) == 0) {
		for (size_t i = 0; i < session->rank_count; i++)
			rankset_add(&all, session->ranks[i]->process.rank);
		focus = &all;
	}
	buffer_append_string(out, "focus ");
	rankset_append(out, focus);
	if (is_counted) {
		buffer_append_string(out, " (");
		text_count(out, rankset_count(focus));
		buffer_append_string(out, ")");
	}
	rankset_clear(&all);
}

static const char *no_ranks(const struct session *session,
			    const struct view *view)
{
	if (view_asks_job(session, view))
		return "no job chosen";
	if (session->node_count > 0 &&
	    gone_count(session) == session->node_count)
		return "node gone";
	return session->is_discovered ? "no ranks" : "looking for ranks";
}

/* What is right of it gives way to the job: first a count, then the focus. */
static void append_right(struct buffer *out, const struct session *session,
			 const struct view *view, int room)
{
	size_t pace;

	append_pace(out, session, view, view->column_count >= WIDE_COLUMNS);
	pace = out->length;
	for (int step = 0; step < 2 && view->column_count >= 60; step++) {
		buffer_append_string(out, "   ");
		append_focus(out, session, step == 0);
		if (text_width(out->data) <= room)
			return;
		buffer_truncate(out, pace);
	}
}

void pane_header(struct window window, const struct session *session,
		 const struct view *view)
{
	struct buffer left = BUFFER_INIT;
	struct buffer right = BUFFER_INIT;
	int columns = window.column_count;
	bool is_wide = columns >= WIDE_COLUMNS;
	int right_width;
	int room;

	if (view->kind == VIEW_JOBS) {
		append_host(&left, session);
		append_pace(&right, session, view, is_wide);
	} else if (session->rank_count == 0) {
		buffer_append_string(&right, no_ranks(session, view));
		if (session->is_replay) {
			buffer_append_string(&right, "   ");
			append_replay(&right, session, view, is_wide);
		}
	} else {
		append_job(&left, session);
		append_right(&right, session, view,
			     columns - 13 - text_width(left.data));
	}
	window_put(window, 0, 1, columns - 1, STYLE_TITLE_FOCUSED, "probetui");
	right_width = text_width(right.data);
	/* Where a recording is, is worth more than whose it is. */
	room = session->is_replay ? columns * 2 / 3 : columns / 2;
	if (right_width > room)
		right_width = room;
	if (columns < 24)
		right_width = 0;
	window_put(window, 0, 11, columns - right_width - 13, STYLE_TEXT,
		   left.data);
	window_put_right(window, 0, columns - 1, right_width, STYLE_DIM,
			 right.data);
	buffer_clear(&right);
	buffer_clear(&left);
}

int32_t mark_of_verdict(enum verdict_state state, bool has_outliers,
			enum style *style)
{
	static const struct {
		int32_t mark;
		enum style style;
	} forms[] = {
		[VERDICT_UNKNOWN] = { 0x00b7, STYLE_VERDICT_NOTE }, /* · */
		[VERDICT_HUNG] = { 0x2717, STYLE_VERDICT_BAD },	    /* ✗ */
		[VERDICT_PROGRESSING] = { 0x2713, STYLE_VERDICT_GOOD }, /* ✓ */
		[VERDICT_CRASHED] = { 0x2717, STYLE_VERDICT_BAD },   /* ✗ */
		[VERDICT_STOPPED] = { 0x25a0, STYLE_STATE_STOPPED }, /* ■ */
	};

	if (has_outliers && state != VERDICT_STOPPED)
		state = VERDICT_HUNG;
	*style = forms[state].style;
	return forms[state].mark;
}

void pane_verdict(struct window window, const struct session *session)
{
	const struct verdict *verdict = &session->verdict;
	const char *sentence = verdict->sentence;
	enum style style;
	int32_t mark = mark_of_verdict(
		verdict->state, rankset_count(&verdict->outliers) > 0, &style);

	if (sentence == NULL || *sentence == '\0')
		sentence = "Nothing is known of the ranks yet.";
	window_put_character(window, 0, 1, style, mark);
	window_put_paragraph(window, 0, TEXT_COLUMN, window.row_count, style,
			     sentence);
}

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
	{ VIEW_HOME, { "up", "down" }, "frame" },
	{ VIEW_HOME, { "pane next", NULL }, "pane" },
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

/* These end every hint line. */
static const struct hint last_hints[] = {
	{ VIEW_HOME, { "prompt", NULL }, "command" },
	{ VIEW_HOME, { "help", NULL }, "help" },
};

static const struct hint open_hint = { VIEW_HOME, { "open", NULL }, "open" };
static const struct hint quit_hint = { VIEW_HOME, { "quit", NULL }, "leave" };

static bool append_hint_keys(struct buffer *out, const struct hint *hint,
			     const struct keymap *keymap)
{
	for (int i = 0; i < 2 && hint->lines[i] != NULL; i++) {
		const char *key = keymap_key_of(keymap, hint->lines[i]);

		if (key == NULL)
			return false;
		buffer_printf(out, "%s%s", i > 0 ? " " : "", key);
	}
	return true;
}

/* Returns the columns a hint takes; 0 when its keys are bound no more. */
static int hint_width(const struct hint *hint, const struct keymap *keymap)
{
	struct buffer keys = BUFFER_INIT;
	int width = 0;

	if (append_hint_keys(&keys, hint, keymap))
		width = text_width(keys.data) + 1 + text_width(hint->label);
	buffer_clear(&keys);
	return width;
}

/* A hint of one key is that key all over; of two the label is the second. */
static void note_keys(struct window window, int start, int end,
		      const struct hint *hint, const struct keymap *keymap)
{
	window_hit_key(window, start, end - start,
		       hint->lines[hint->lines[1] != NULL]);
	if (hint->lines[1] != NULL)
		window_hit_key(
			window, start,
			text_width(keymap_key_of(keymap, hint->lines[0])),
			hint->lines[0]);
}

/* Returns the column behind it. */
static int put_hint(struct window window, int column, const struct hint *hint,
		    const struct keymap *keymap)
{
	struct buffer keys = BUFFER_INIT;
	int start;

	if (!append_hint_keys(&keys, hint, keymap)) {
		buffer_clear(&keys);
		return column;
	}
	if (column > 1)
		column += 2;
	start = column;
	column += window_put(window, 0, column, window.column_count - column,
			     STYLE_HINT_KEY, keys.data);
	column++;
	column += window_put(window, 0, column, window.column_count - column,
			     STYLE_HINT, hint->label);
	note_keys(window, start, column, hint, keymap);
	buffer_clear(&keys);
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
static int put_filter(struct window window, int column,
		      const struct session *session, const struct view *view)
{
	struct buffer text = BUFFER_INIT;
	int width = window.column_count / 2;

	if (ranklist_filter(view) == NULL || view->kind != VIEW_HOME)
		return column;
	append_matches(&text, session, view);
	buffer_printf(&text, " with '%s'", ranklist_filter(view));
	column +=
		window_put(window, 0, column, width, STYLE_WARNING, text.data);
	buffer_clear(&text);
	return column;
}

static void put_prompt(struct window window, const struct session *session,
		       const struct view *view)
{
	struct buffer text = BUFFER_INIT;
	int width = window.column_count;

	if (view->prompt.kind == PROMPT_FILTER &&
	    view->prompt.text.length > 0) {
		append_matches(&text, session, view);
		if (text_width(text.data) * 2 < width)
			width -= 2 + window_put_right(window, 0, width - 1,
						      width / 2, STYLE_HINT,
						      text.data);
		buffer_clear(&text);
	}
	prompt_draw(window_part(window, 0, 0, 1, width), &view->prompt);
}

static const struct hint *hints_of(const struct session *session,
				   const struct view *view, size_t *count)
{
	struct layout layout;

	*count = ARRAY_LENGTH(hints);
	if (view->kind != VIEW_HOME || view->pane != PANE_GRID)
		return hints;
	layout_make(&layout, session, view);
	if (layout.grid == GRID_CARDS)
		return hints;
	*count = ARRAY_LENGTH(many_hints);
	return many_hints;
}

static void put_hints(struct window window, const struct session *session,
		      const struct view *view, const struct keymap *keymap)
{
	int reserved = 0;
	int column = put_filter(window, 1, session, view);
	size_t count;

	for (size_t i = 0; i < ARRAY_LENGTH(last_hints); i++)
		reserved += 2 + hint_width(&last_hints[i], keymap);
	if (view_is_at_root(session, view)) {
		if (view_lists_jobs(session, view))
			column = put_hint(window, column, &open_hint, keymap);
		column = put_hint(window, column, &quit_hint, keymap);
	} else {
		const struct hint *list = hints_of(session, view, &count);

		for (size_t i = 0; i < count; i++) {
			int width = hint_width(&list[i], keymap);

			if (list[i].view != view->kind || width == 0)
				continue;
			if (column + 2 + width + reserved > window.column_count)
				break;
			column = put_hint(window, column, &list[i], keymap);
		}
	}
	for (size_t i = 0; i < ARRAY_LENGTH(last_hints); i++)
		if (column + hint_width(&last_hints[i], keymap) <
		    window.column_count)
			column = put_hint(window, column, &last_hints[i],
					  keymap);
}

int pane_hint_rows(const struct view *view, int row_count, int column_count)
{
	int width = view->message != NULL && !view->prompt.is_open
			    ? text_width(view->message)
			    : 0;
	int rows = 2;

	if (width <= column_count - 1 || row_count < FRAME_ROWS_MINIMUM)
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
		window_put_paragraph(window, 0, 1, window.row_count, style,
				     view->message);
	else
		window_put(window, 0, 1, window.column_count - 1, style,
			   view->message);
}

void pane_hints(struct window window, const struct session *session,
		const struct view *view, const struct keymap *keymap)
{
	if (view->prompt.is_open)
		put_prompt(window, session, view);
	else if (view->message != NULL)
		put_message(window, view);
	else if (session->node_count > 0 &&
		 gone_count(session) == session->node_count)
		window_put(window, 0, 1, window.column_count - 1, STYLE_ERROR,
			   "probetui-node is gone: q leaves, then start "
			   "probetui again.");
	else
		put_hints(window, session, view, keymap);
}
