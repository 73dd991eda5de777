#include "ui/window.h"

#include <stdbool.h>
#include <string.h>

#include "banned.h"
#include "base/buffer.h"
#include "base/text.h"

#define UPPER_HALF 0x2580 /* ▀ */

static struct cell *cell_at(struct canvas *canvas, int row, int column)
{
	return &canvas->cells[(size_t)row * (size_t)canvas->column_count + (size_t)column];
}

struct window canvas_window(struct canvas *canvas)
{
	return (struct window){
		.canvas = canvas,
		.row_count = canvas->row_count,
		.column_count = canvas->column_count,
	};
}

static void window_clip(int *start, int *count, int limit)
{
	if (*start < 0) {
		*count += *start;
		*start = 0;
	}
	if (*start > limit)
		*start = limit;
	if (*count > limit - *start)
		*count = limit - *start;
	if (*count < 0)
		*count = 0;
}

struct window window_part(struct window window, int row, int column, int row_count,
			  int column_count)
{
	window_clip(&row, &row_count, window.row_count);
	window_clip(&column, &column_count, window.column_count);
	return (struct window){
		.canvas = window.canvas,
		.row = window.row + row,
		.column = window.column + column,
		.row_count = row_count,
		.column_count = column_count,
	};
}

/* Returns the cell, or NULL if the place is outside the window. */
static struct cell *window_cell(struct window window, int row, int column)
{
	if (row < 0 || column < 0 || row >= window.row_count || column >= window.column_count)
		return NULL;
	return cell_at(window.canvas, window.row + row, window.column + column);
}

/* Blanks the other half of a wide character, one half of which is about to be overwritten. */
static void unpair(struct canvas *canvas, struct cell *cell)
{
	long index = cell - canvas->cells;

	if (cell->width == 0 && index > 0)
		cell[-1] = CELL_BLANK;
	if (cell->width == 2 && index + 1 < (long)canvas->row_count * canvas->column_count)
		cell[1] = CELL_BLANK;
}

static void set_cell(struct window window, struct cell *cell, int32_t code, int width,
		     enum style style)
{
	unpair(window.canvas, cell);
	*cell = (struct cell){
		.codepoint = code,
		.width = (uint8_t)width,
		.style = (uint8_t)style,
	};
}

/*
 * Draws one code point if the place is inside the window; always returns the code point's width in
 * columns.
 */
static int put_codepoint(struct window window, int row, int column, enum style style, int32_t code)
{
	int width = text_codepoint_width(code);
	struct cell *cell = window_cell(window, row, column);

	if (width == 0) {
		cell = window_cell(window, row, column - 1);
		if (cell != NULL && cell->width == 0)
			cell = window_cell(window, row, column - 2);
		if (cell != NULL && cell->combining == 0)
			cell->combining = code;
		return 0;
	}
	if (cell == NULL)
		return width;
	if (width == 2) {
		struct cell *half = window_cell(window, row, column + 1);

		if (half == NULL) {
			set_cell(window, cell, ' ', 1, style);
			return width;
		}
		set_cell(window, half, ' ', 1, style);
		set_cell(window, cell, code, 2, style);
		half->width = 0;
		return width;
	}
	set_cell(window, cell, code, 1, style);
	return width;
}

void window_put_character(struct window window, int row, int column, enum style style,
			  int32_t codepoint)
{
	put_codepoint(window, row, column, style, codepoint);
}

void window_put_halves(struct window window, int row, int column, enum style upper,
		       enum style lower)
{
	struct cell *cell = window_cell(window, row, column);

	if (cell == NULL)
		return;
	set_cell(window, cell, UPPER_HALF, 1, upper);
	cell->lower = (uint8_t)lower;
}

void window_blank(struct window window)
{
	for (int row = 0; row < window.row_count; row++)
		for (int column = 0; column < window.column_count; column++)
			put_codepoint(window, row, column, STYLE_TEXT, ' ');
}

static int put_plain(struct window window, int row, int column, enum style style, const char *text)
{
	int start = column;
	int32_t code;

	while ((code = text_next(&text)) != 0)
		column += put_codepoint(window, row, column, style, code);
	return column - start;
}

/* Draws escaped text that fits, so that the text ends before column end. */
static int put_ending(struct window window, int row, int end, enum style style,
		      const struct buffer *text)
{
	int used = text_width(text->data);

	put_plain(window, row, end - used, style, text->data);
	return used;
}

/* Appends text, escaped and cut to width columns. */
static void window_append_cut(struct buffer *out, const char *text, int width)
{
	struct buffer safe = BUFFER_INIT;

	/* Do not escape bytes far beyond the width. */
	text_escape(&safe, text, strnlen(text, 4 * (size_t)width + 64));
	text_cut(out, safe.data, width);
	buffer_clear(&safe);
}

int window_put(struct window window, int row, int column, int width, enum style style,
	       const char *text)
{
	struct buffer cut = BUFFER_INIT;
	int used;

	if (width > window.column_count - column)
		width = window.column_count - column;
	if (width <= 0 || text == NULL || row < 0 || row >= window.row_count)
		return 0;
	window_append_cut(&cut, text, width);
	used = put_plain(window, row, column, style, cut.data);
	buffer_clear(&cut);
	return used;
}

int window_put_right(struct window window, int row, int end, int width, enum style style,
		     const char *text)
{
	struct buffer cut = BUFFER_INIT;
	int used;

	if (width > end)
		width = end;
	if (width <= 0)
		return 0;
	window_append_cut(&cut, text, width);
	used = put_ending(window, row, end, style, &cut);
	buffer_clear(&cut);
	return used;
}

/* Cuts "distributed_c10d.py:3252" to "distri…0d.py:3252", so that the line number stays visible. */
static void cut_middle(struct buffer *out, const char *text, int width)
{
	const char *tail = text;
	int head = (width - 1) * 2 / 5;

	if (text_width(text) <= width) {
		buffer_append_string(out, text);
		return;
	}
	while (text_width(tail) > width - 1 - head && *tail != '\0')
		text_next(&tail);
	buffer_append(out, text, text_fit(text, head));
	buffer_append_string(out, "\u2026");
	buffer_append_string(out, tail);
}

int window_put_path(struct window window, int row, int end, int width, enum style style,
		    const char *path)
{
	struct buffer safe = BUFFER_INIT;
	struct buffer cut = BUFFER_INIT;
	int used;

	if (width > end)
		width = end;
	if (width <= 0)
		return 0;
	text_escape(&safe, path, strlen(path));
	if (strchr(safe.data, '/') != NULL)
		text_cut_path(&cut, safe.data, width);
	else
		cut_middle(&cut, safe.data, width);
	used = put_ending(window, row, end, style, &cut);
	buffer_clear(&cut);
	buffer_clear(&safe);
	return used;
}

static void window_add_line(struct window window, int row, int column, int lines, enum style style)
{
	struct cell *cell = window_cell(window, row, column);

	if (cell == NULL || lines == 0)
		return;
	lines |= cell->sides;
	set_cell(window, cell, ' ', 1, style);
	cell->sides = (uint8_t)lines;
}

void window_horizontal(struct window window, int row, int column, int length, enum style style)
{
	for (int i = 0; i < length; i++) {
		int lines = (i > 0 ? LINE_LEFT : 0) | (i < length - 1 ? LINE_RIGHT : 0);

		window_add_line(window, row, column + i, lines, style);
	}
}

void window_vertical(struct window window, int row, int column, int length, enum style style)
{
	for (int i = 0; i < length; i++) {
		int lines = (i > 0 ? LINE_UP : 0) | (i < length - 1 ? LINE_DOWN : 0);

		window_add_line(window, row + i, column, lines, style);
	}
}

void window_box(struct window window, enum style style)
{
	int rows = window.row_count;
	int columns = window.column_count;

	window_horizontal(window, 0, 0, columns, style);
	window_horizontal(window, rows - 1, 0, columns, style);
	window_vertical(window, 0, 0, rows, style);
	window_vertical(window, 0, columns - 1, rows, style);
}

void window_emphasise(struct window window, int row, int column, int row_count, int column_count,
		      int emphasis)
{
	for (int y = row; y < row + row_count; y++) {
		for (int x = column; x < column + column_count; x++) {
			struct cell *cell = window_cell(window, y, x);

			if (cell != NULL)
				cell->emphasis |= (uint8_t)emphasis;
		}
	}
}

size_t window_words_fit(const char *text, int width)
{
	size_t fit = text_fit(text, width);
	size_t end = fit;

	if (text[fit] == '\0')
		return fit;
	while (end > 0 && text[end] != ' ')
		end--;
	if (end > 0)
		return end;
	return fit > 0 ? fit : 1;
}

int window_put_paragraph(struct window window, int row, int column, int rows, enum style style,
			 const char *text)
{
	int width = window.column_count - column - 1;
	struct buffer safe = BUFFER_INIT;
	const char *rest;
	int used = 0;

	if (width < 1)
		width = 1;
	text_escape(&safe, text, strlen(text));
	rest = safe.data;
	while (*rest != '\0' && used < rows) {
		bool is_last = used == rows - 1;
		bool is_cut = is_last && text_width(rest) > width;
		size_t length = window_words_fit(rest, is_cut ? width - 2 : width);
		struct buffer line = BUFFER_INIT;

		buffer_append(&line, rest, length);
		if (is_cut)
			buffer_append_string(&line, " \u2026");
		window_put(window, row + used, column, width, style, line.data);
		buffer_clear(&line);
		rest += length;
		while (*rest == ' ')
			rest++;
		used++;
	}
	buffer_clear(&safe);
	return used;
}

static bool says(const struct cell *cell, int32_t codepoint, bool has_case)
{
	int32_t drawn = cell->codepoint;

	return cell->sides == 0 && (has_case ? drawn : text_codepoint_lower(drawn)) == codepoint;
}

/* Returns the column after text if text is drawn at this place; else -1. */
static int match_at(struct window window, int row, int column, const char *text, bool has_case)
{
	while (*text != '\0' && column < window.column_count) {
		const struct cell *cell =
			cell_at(window.canvas, window.row + row, window.column + column);
		int32_t codepoint = text_next(&text);

		/* A combining character has no cell of its own. */
		if (text_codepoint_width(codepoint) == 0)
			continue;
		if (!says(cell, codepoint, has_case))
			return -1;
		column += cell->width > 0 ? cell->width : 1;
	}
	return *text == '\0' ? column : -1;
}

void window_mark(struct window window, enum style style, const char *text)
{
	bool has_case = text_has_capital(text);

	for (int row = 0; row < window.row_count && *text != '\0'; row++) {
		int column = 0;

		while (column < window.column_count) {
			int end = match_at(window, row, column, text, has_case);

			for (int i = column; i < end; i++)
				cell_at(window.canvas, window.row + row, window.column + i)->style =
					(uint8_t)style;
			column = end > column ? end : column + 1;
		}
	}
}
