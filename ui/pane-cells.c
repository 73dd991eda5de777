#include <string.h>

#include "banned.h"
#include "base/buffer.h"
#include "base/text.h"
#include "model/place.h"
#include "model/session.h"
#include "protocol/stack.h"
#include "ui/pane.h"

#define NUMBER_WIDTH 6 /* of the first rank in a row, with a blank */
#define LEGEND_MAXIMUM 8
#define AGE_WIDTH 7

int pane_cells_across(int column_count)
{
	int room = column_count - NUMBER_WIDTH - 1;
	int across = 8;

	while (across * 2 <= room && across < 64)
		across *= 2;
	return across;
}

/* How long all of them have been there: as long as the last that came. */
static void append_class_age(struct buffer *out, const struct session *session,
			     const struct rank_class *class)
{
	double since = -1;

	for (int number = rankset_first(&class->ranks); number >= 0;
	     number = rankset_next(&class->ranks, number)) {
		const struct rank *rank = session_find_rank(session, number);
		const struct thread *main =
			rank != NULL ? rank_main_thread(rank) : NULL;

		if (main == NULL || main->sample_count < 2)
			return;
		if (main->since > since)
			since = main->since;
	}
	if (since >= 0 && class->stack != NULL)
		text_duration(out, session->now - since);
}

static void put_class(struct window window, int row,
		      const struct session *session,
		      const struct rank_class *class)
{
	struct buffer text = BUFFER_INIT;
	int width = window.column_count;
	int set_width = width / 3;
	int column = 2;
	const struct stack *stack = class->stack;
	enum style style;
	int32_t mark = mark_of_class(session, class, &style);

	window_put_character(window, row, 0, style, mark);
	rankset_append(&text, &class->ranks);
	buffer_append_string(&text, " (");
	text_count(&text, rankset_count(&class->ranks));
	buffer_append_char(&text, ')');
	window_put(window, row, column, set_width, style, text.data);
	column += set_width + 1;
	window_put(window, row, column, width / 5, STYLE_TEXT,
		   class->activity.name);
	column += width / 5 + 1;
	if (stack != NULL && class->user_frame < stack->frame_count) {
		const struct frame *frame = &stack->frames[class->user_frame];

		window_put(window, row, column, width / 7, STYLE_TEXT,
			   frame->code->func);
		column += width / 7 + 1;
		buffer_reset(&text);
		append_class_age(&text, session, class);
		window_put_right(window, row, width - 1, AGE_WIDTH, STYLE_TEXT,
				 text.data);
		width -= AGE_WIDTH + 1;
		buffer_reset(&text);
		place_append(&text, frame);
		window_put_path(window, row, width, width - column, STYLE_TEXT,
				text.data);
	}
	buffer_clear(&text);
}

static void put_legend(struct window window, const struct session *session)
{
	const struct verdict *verdict = &session->verdict;

	size_t rows = (size_t)window.row_count;
	size_t shown = verdict->class_count;
	struct buffer text = BUFFER_INIT;

	if (shown > rows)
		shown = rows - 1;
	for (size_t i = 0; i < shown; i++)
		put_class(window, (int)i, session, &verdict->classes[i]);
	if (shown == verdict->class_count)
		return;
	buffer_append_string(&text, "\u2026 ");
	text_count(&text, verdict->class_count - shown);
	buffer_append_string(&text, " more");
	window_put(window, (int)shown, 2, window.column_count - 2, STYLE_DIM,
		   text.data);
	buffer_clear(&text);
}

static void put_cells(struct window window, const struct session *session,
		      int across)
{
	int selected = -1;
	int first = 0;

	for (size_t i = 0; i < session->rank_count; i++)
		if (session->ranks[i] == session_selected(session))
			selected = (int)i;
	if (selected / across >= window.row_count)
		first = selected / across - window.row_count + 1;
	for (int i = first * across; i < (int)session->rank_count; i++) {
		const struct rank *rank = session->ranks[i];
		struct buffer number = BUFFER_INIT;
		int row = i / across - first;
		int column = NUMBER_WIDTH + i % across;
		enum style style;
		int32_t mark = mark_of_rank(session, rank, &style);

		if (row >= window.row_count)
			break;
		if (i % across == 0) {
			buffer_printf(&number, "%d", rank->process.rank);
			window_put_right(window, row, NUMBER_WIDTH - 1,
					 NUMBER_WIDTH, STYLE_DIM, number.data);
			buffer_clear(&number);
		}
		window_put_character(window, row, column, style, mark);
		window_hit(window, row, column, 1, 1, HIT_RANK,
			   rank->process.rank);
		if (i == selected)
			window_emphasise(window, row, column, 1, 1,
					 EMPHASIS_SELECTED | EMPHASIS_BOLD);
	}
}

void pane_cells(struct window window, const struct session *session,
		const struct view *view)
{
	size_t classes = session->verdict.class_count;
	int across = pane_cells_across(window.column_count);
	int legend = (int)(classes < LEGEND_MAXIMUM ? classes : LEGEND_MAXIMUM);
	int rows = window.row_count - legend - 1;
	struct window outer = window;

	(void)view;
	if (rows < 1 || legend < 1) {
		put_cells(window, session, across);
		return;
	}
	put_cells(window_part(window, 0, 0, rows, window.column_count), session,
		  across);
	outer.column--;
	outer.column_count += 2;
	window_horizontal(outer, rows, 0, outer.column_count, STYLE_BORDER);
	/* Joins the sides, which are one line already. */
	pane_title(window, rows, 0, window.column_count, false, "Classes",
		   NULL);
	put_legend(
		window_part(window, rows + 1, 0, legend, window.column_count),
		session);
}
