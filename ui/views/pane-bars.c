#include <string.h>
#include <time.h>

#include "banned.h"
#include "base/buffer.h"
#include "base/text.h"
#include "model/place.h"
#include "model/session.h"
#include "model/stacktree.h"
#include "ui/pane.h"
#include "ui/stopped-text.h"
#include "ui/view-type.h"

#define FRAME_ROWS_MINIMUM 6
#define WIDE_COLUMNS 100 /* minimum columns of a header with a date */
#define TEXT_COLUMN 3	 /* column of the verdict, after its mark */

void pane_title(struct window window, int row, int column, int width, bool is_focused,
		const char *left, const char *right)
{
	enum style style = is_focused ? STYLE_TITLE_FOCUSED : STYLE_TITLE;
	int right_width = right != NULL ? text_width(right) : 0;
	int used;

	if (right_width > 0 && right_width + 3 <= width) {
		window_put_right(window, row, column + width, right_width, style, right);
		window_put(window, row, column + width - right_width - 1, 1, style, " ");
		width -= right_width + 2;
	}
	used = window_put(window, row, column, width, style, left);
	/* A title that was cut ends at the corner. */
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
	return window_part(window, 1, 1, window.row_count - 2, window.column_count - 2);
}

/* Counts different host names: several recordings can be from one machine. */
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

/*
 * Appends the job. If has_host is false, the host is left out: while ranks are stopped, the focus
 * needs the room.
 */
static void pane_bars_append_job(struct buffer *out, const struct session *session, bool has_host)
{
	const struct job *job = NULL;

	if (session->job >= 0 && (size_t)session->job < session->job_count)
		job = &session->jobs[session->job];
	if (job != NULL && job->script != NULL && *job->script != '\0')
		buffer_printf(out, "%s \u00b7 ", place_file_name(job->script));
	text_count(out, session->rank_count);
	buffer_append_string(out, session->rank_count == 1 ? " rank" : " ranks");
	if (!has_host)
		return;
	buffer_append_string(out, " \u00b7 ");
	append_host(out, session);
}

size_t session_gone_count(const struct session *session)
{
	size_t count = 0;

	for (size_t i = 0; i < session->node_count; i++)
		count += session->nodes[i].is_gone;
	return count;
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

/* Appends "replay 0:02 of 0:34", or "replay 0:34, end" at the end. */
static void append_replay(struct buffer *out, const struct session *session,
			  const struct view *view, bool is_wide)
{
	bool is_end = session->now >= view->replay.end;

	buffer_append_string(out, "replay ");
	text_clock(out, session->now - view->replay.first);
	if (!is_end) {
		buffer_append_string(out, " of ");
		text_clock(out, view->replay.end - view->replay.first);
	}
	if (is_wide && view->replay.wall > 0)
		append_date(out, view->replay.wall + session->now);
	if (is_end)
		buffer_append_string(out, ", end");
	else if (view->is_held)
		buffer_append_string(out, ", frozen");
}

/* True for a recording: the header shows the replay position. */
static bool has_position(const struct session *session)
{
	return session->is_replay;
}

static size_t count_silent(const struct session *session)
{
	size_t count = 0;

	for (size_t i = 0; i < session->node_count; i++)
		count += session->nodes[i].is_silent && !session->nodes[i].is_gone;
	return count;
}

static void append_pace(struct buffer *out, const struct session *session, const struct view *view,
			bool is_wide)
{
	size_t gone = session_gone_count(session);

	if (gone > 0 && gone == session->node_count) {
		buffer_append_string(out, "node lost");
	} else if (gone > 0 || count_silent(session) > 0) {
		buffer_printf(out, "%zu of %zu machines answer",
			      session->node_count - gone - count_silent(session),
			      session->node_count);
	} else if (has_position(session)) {
		append_replay(out, session, view, is_wide);
	} else if (view->is_held) {
		buffer_append_string(out, "frozen");
	} else if (!view_type_of(view->kind)->is_of_host && stacktree_is_last(session)) {
		buffer_append_string(out, "ended");
	} else if (view->period > 1) {
		buffer_printf(out, "live, every %.3g s", view->period);
	} else if (view->period > 0) {
		buffer_printf(out, "live %.0f/s", 1 / view->period);
	}
	if (view->is_recording)
		buffer_append_string(out, " \u00b7 rec");
}

static void append_focus(struct buffer *out, const struct session *session, bool is_counted)
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

static const char *no_ranks(const struct session *session, const struct view *view)
{
	if (view_asks_job(session, view))
		return "no job selected";
	if (session->node_count > 0 && session_gone_count(session) == session->node_count)
		return "node lost";
	return session->is_discovered ? "no ranks" : "searching for ranks";
}

/* Appends the stopped ranks, or the pace ("live 2/s", "node lost"), or both if there is room. */
static void append_held(struct buffer *out, const struct session *session, const struct view *view)
{
	struct buffer pace = BUFFER_INIT;
	bool is_wide = view->column_count >= WIDE_COLUMNS;

	/* A narrow header of a recording has the replay position instead. */
	if (is_wide || !has_position(session))
		session_append_held(out, session);
	append_pace(&pace, session, view, is_wide && out->length == 0);
	if (out->length == 0 || is_wide) {
		if (out->length > 0 && pace.length > 0)
			buffer_append_string(out, "   ");
		buffer_append_string(out, pace.data);
	}
	buffer_clear(&pace);
}

/*
 * Appends the focus if it fits beside the job. The focus with the count of ranks is tried first,
 * then the focus without the count.
 */
static void append_right(struct buffer *out, const struct session *session, const struct view *view,
			 int room)
{
	size_t pace;

	append_held(out, session, view);
	pace = out->length;
	for (int step = 0; step < 2 && view->column_count >= 60; step++) {
		buffer_append_string(out, "   ");
		append_focus(out, session, step == 0);
		if (text_width(out->data) <= room)
			return;
		buffer_truncate(out, pace);
	}
}

void pane_header(struct window window, const struct session *session, const struct view *view)
{
	struct buffer left = BUFFER_INIT;
	struct buffer right = BUFFER_INIT;
	int columns = window.column_count;
	bool is_wide = columns >= WIDE_COLUMNS;
	int right_width;
	/*
	 * The replay position, and the number of stopped ranks, get more room than the job's name
	 * on the left.
	 */
	int room = has_position(session) || session_held_count(session) > 0 ? columns * 2 / 3
									    : columns / 2;
	int between;

	if (view_type_of(view->kind)->is_of_host) {
		append_host(&left, session);
		append_pace(&right, session, view, is_wide);
	} else if (session->rank_count == 0) {
		buffer_append_string(&right, no_ranks(session, view));
		if (has_position(session)) {
			buffer_append_string(&right, "   ");
			append_replay(&right, session, view, is_wide);
		}
	} else {
		pane_bars_append_job(&left, session, is_wide || session_held_count(session) == 0);
		between = columns - 15 - text_width(left.data);
		append_right(&right, session, view, between < room ? between : room);
	}
	window_put(window, 0, 1, columns - 1, STYLE_TITLE_FOCUSED, "probetui");
	right_width = text_width(right.data);
	if (right_width > room)
		right_width = room;
	if (columns < 24)
		right_width = 0;
	window_put(window, 0, 11, columns - right_width - 13, STYLE_TEXT, left.data);
	window_put_right(window, 0, columns - 1, right_width,
			 session_is_held_long(session) ? STYLE_WARNING : STYLE_DIM, right.data);
	buffer_clear(&right);
	buffer_clear(&left);
}

int32_t mark_of_verdict(enum verdict_state state, bool has_outliers, enum style *style)
{
	static const struct {
		int32_t mark;
		enum style style;
	} forms[] = {
		[VERDICT_UNKNOWN] = { 0x00b7, STYLE_VERDICT_NOTE },	/* · */
		[VERDICT_HUNG] = { 0x2717, STYLE_VERDICT_BAD },		/* ✗ */
		[VERDICT_PROGRESSING] = { 0x2713, STYLE_VERDICT_GOOD }, /* ✓ */
		[VERDICT_CRASHED] = { 0x2717, STYLE_VERDICT_BAD },	/* ✗ */
		[VERDICT_STOPPED] = { 0x25a0, STYLE_STATE_STOPPED },	/* ■ */
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
	int32_t mark =
		mark_of_verdict(verdict->state, rankset_count(&verdict->outliers) > 0, &style);

	if (sentence == NULL || *sentence == '\0')
		sentence = "No rank sampled yet";
	window_put_character(window, 0, 1, style, mark);
	window_put_paragraph(window, 0, TEXT_COLUMN, window.row_count, style, sentence);
}
