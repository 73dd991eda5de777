#include <stdio.h>
#include <string.h>

#include "banned.h"
#include "base/buffer.h"
#include "base/text.h"
#include "model/session.h"
#include "model/source.h"
#include "protocol/stack.h"
#include "ui/highlight.h"
#include "ui/pane.h"
#include "ui/views/pane-breakpoints.h"

#define GUTTER 5	    /* minimum columns before the code */
#define CURRENT_MARK 0x25b6 /* ▶ */

static int number_width(const struct source *source)
{
	int width = 3;

	for (size_t count = source->line_count; count >= 1000; count /= 10)
		width++;
	return width;
}

void pane_source_lines(struct window window, const struct source *source, int number, int first)
{
	int width = number_width(source);
	enum highlight_state state = highlight_state_at(source, first);
	int code_column = 1 + width + 1;

	for (int row = 0; row < window.row_count; row++) {
		const char *line = source_line(source, first + row);
		char text[16];

		if (line == NULL)
			break;
		snprintf(text, sizeof(text), "%d", first + row);
		window_put_right(window, row, 1 + width, width,
				 first + row == number ? STYLE_SOURCE_CURRENT : STYLE_DIM, text);
		highlight_draw(window, row, code_column, state, line);
		state = highlight_line(state, line, strlen(line), NULL);
		if (first + row != number)
			continue;
		window_put_character(window, row, 0, STYLE_SOURCE_CURRENT, CURRENT_MARK);
		window_emphasise(window, row, 0, 1, window.column_count, EMPHASIS_BOLD);
	}
}

static uint64_t pane_source_stops_of(const struct session *session)
{
	const struct rank *rank = session_looked_at(session);

	return rank != NULL ? rank->debugger.stops : 0;
}

int pane_source_line(const struct session *session, const struct view *view)
{
	const struct frame *frame = selected_frame(session);

	if (view->source_line > 0 && view->source_stops == pane_source_stops_of(session))
		return view->source_line;
	return frame != NULL ? frame->lineno : 1;
}

void view_point(struct view *view, const struct session *session, int line)
{
	view->source_line = line;
	view->source_stops = pane_source_stops_of(session);
}

/* Returns the first line to show, so that the cursor's line is in the middle if possible. */
static int pane_source_first_line(const struct source *source, int line, int rows)
{
	int last = (int)source->line_count - rows + 1;
	int first = line - rows / 2;

	if (first > last)
		first = last;
	return first < 1 ? 1 : first;
}

const char *pane_source_problem(const struct session *session, const struct rank *rank,
				const struct source *source)
{
	const char *reason = rank_unread_reason(session, rank);

	if (source == NULL)
		return reason != NULL ? reason : "reading the source";
	if (source->content != NULL)
		return NULL;
	return source->error != NULL ? source->error : "no source";
}

/* Writes the mark of a breakpoint, and its state after the line if there is room. */
static void pane_source_put_breakpoint(struct window window, int row, const char *line,
				       const struct breakpoint_summary *breakpoint)
{
	struct buffer state = BUFFER_INIT;
	enum style style;
	int32_t mark = breakpoint_mark(breakpoint, &style);
	int room = window.column_count - GUTTER - text_width(line) - 4;

	window_put_character(window, row, 0, style, mark);
	breakpoint_append_state(&state, breakpoint, true);
	if (text_width(state.data) > room) {
		buffer_reset(&state);
		breakpoint_append_state(&state, breakpoint, false);
	}
	if (text_width(state.data) <= room)
		window_put_right(window, row, window.column_count - 1, room, style, state.data);
	buffer_clear(&state);
}

/* Writes the lines, with a column of marks if there are breakpoints. */
static void put_lines(struct window window, const struct session *session,
		      const struct source *source, const struct frame *frame, int first)
{
	struct breakpoint_list list;

	breakpoint_list_make(&list, session);
	pane_source_lines(
		window_part(window, 0, list.count > 0, window.row_count, window.column_count),
		source, frame->lineno, first);
	for (int row = 0; list.count > 0 && row < window.row_count; row++) {
		const char *line = source_line(source, first + row);
		const struct breakpoint_summary *breakpoint =
			breakpoint_list_at(&list, frame->code->file, first + row);

		if (line != NULL && breakpoint != NULL)
			pane_source_put_breakpoint(window, row, line, breakpoint);
	}
	breakpoint_list_clear(&list);
}

void pane_source(struct window window, const struct session *session, const struct view *view)
{
	const struct rank *rank = session_looked_at(session);
	const struct thread *thread = session_selected_thread(session);
	const struct frame *frame = selected_frame(session);
	const struct source *source = selected_source(session);
	const char *problem;
	int line;
	int first;

	if (frame == NULL) {
		const char *why = "no Python stack";

		if (rank != NULL && rank->error != NULL)
			why = rank->error;
		else if (thread != NULL && thread->sample.error != NULL)
			why = thread->sample.error;
		else if (rank != NULL && rank->state == RANK_UNKNOWN)
			why = "reading the stack";
		window_put_paragraph(window, 0, 1, window.row_count, STYLE_DIM, why);
		return;
	}
	problem = pane_source_problem(session, rank, source);
	if (problem != NULL) {
		window_put_paragraph(window, 0, 1, window.row_count, STYLE_DIM, problem);
		return;
	}
	line = pane_source_line(session, view);
	first = pane_source_first_line(source, line, window.row_count);
	put_lines(window, session, source, frame, first);
	if (view->pane == PANE_SOURCE || line != frame->lineno)
		window_emphasise(window, line - first, 0, 1, window.column_count,
				 EMPHASIS_SELECTED);
}
