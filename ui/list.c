#include "ui/list.h"

#include "banned.h"
#include "engine/engine.h"
#include "ui/app.h"
#include "ui/layout.h"
#include "ui/pane.h"
#include "ui/search-text.h"

#define CURSOR_MARK 0x25b8 /* ▸ */

static void list_put_cursor(struct window window, int line, const struct list *list)
{
	if (list->has_mark)
		window_put_character(window, line, list->mark_column, STYLE_TITLE_FOCUSED,
				     CURSOR_MARK);
	window_emphasise(window, line, 0, 1, window.column_count,
			 list->has_mark ? EMPHASIS_BOLD : EMPHASIS_SELECTED);
}

int list_first(int cursor, int row_count)
{
	return cursor >= row_count ? cursor - row_count + 1 : 0;
}

int list_put(struct window window, const struct list *list, const void *data)
{
	int height = list->height > 0 ? list->height : 1;
	int shown = window.row_count / height;
	int first = list_first(list->cursor, shown);
	int row = first;

	for (; row < list->count && row - first < shown; row++) {
		int line = (row - first) * height;

		list->put_row(window, line, row, data);
		if (list->hit != MOUSE_TARGET_NONE)
			window_hit(window, line, 0, height, window.column_count, list->hit, row);
		if (row == list->cursor)
			list_put_cursor(window, line, list);
	}
	return row - first;
}

int view_page(const struct layout *layout)
{
	int page = layout->body.row_count;

	return pane_has_frame(page) ? page - 2 : page;
}

void list_move(struct app *app, int page, enum move move)
{
	enum view_kind kind = view_shown(&app->engine->session, &app->view);
	struct search_text rows;

	search_text_init(&rows, app);
	if (rows.count > 0)
		app->view.cursors[kind] = grid_move_in(rows.at, rows.count, 1, page, move);
	search_text_clear(&rows);
}

int text_move(struct app *app, int page, enum move move)
{
	int *first = &app->view.cursors[app->view.kind];
	struct search_text text;
	int last;

	search_text_init(&text, app);
	last = text.count - (page > 0 ? page : 1);
	if (last < 0)
		last = 0;
	search_text_clear(&text);
	*first = grid_move_in(*first < last ? *first : last, last + 1, 1, page, move);
	return last;
}
