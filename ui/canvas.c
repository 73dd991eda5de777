#include "ui/canvas.h"

#include <stdlib.h>

#include "banned.h"
#include "base/alloc.h"
#include "base/array.h"
#include "base/buffer.h"
#include "base/text.h"
#include "ui/window.h"

/* Box-drawing characters, indexed by a bit set of enum line. */
static const int32_t joints[16] = {
	' ',	0x2502, 0x2502, 0x2502, 0x2500, 0x2518, 0x2510, 0x2524,
	0x2500, 0x2514, 0x250c, 0x251c, 0x2500, 0x2534, 0x252c, 0x253c,
};

struct ascii_form {
	int32_t codepoint;
	char ascii;
};

static const struct ascii_form ascii_forms[] = {
	{ 0x25cf, 'o' },  /* ● */
	{ 0x25c6, '*' },  /* ◆ */
	{ 0x25b2, '^' },  /* ▲ */
	{ 0x25bc, 'v' },  /* ▼ */
	{ 0x2605, '+' },  /* ★ */
	{ 0x271a, 'x' },  /* ✚ */
	{ 0x25cb, '.' },  /* ○ */
	{ 0x25c7, ':' },  /* ◇ */
	{ 0x25c9, '@' },  /* ◉ */
	{ 0x25ce, '%' },  /* ◎ */
	{ 0x25b3, '\'' }, /* △ */
	{ 0x25bd, ',' },  /* ▽ */
	{ 0x2606, ';' },  /* ☆ */
	{ 0x271b, '"' },  /* ✛ */
	{ 0x25a1, '_' },  /* □ */
	{ 0x25a0, '#' },  /* ■ */
	{ 0x2717, 'X' },  /* ✗ */
	{ 0x2713, '=' },  /* ✓ */
	{ 0x25b8, '>' },  /* ▸ */
	{ 0x25b6, '>' },  /* ▶ */
	{ 0x2260, '!' },  /* ≠ */
	{ 0x2026, '>' },  /* … */
	{ 0x00b7, '-' },  /* · */
	{ 0x00d7, 'x' },  /* × */
	{ 0x2500, '-' },  /* ─ */
	{ 0x2502, '|' },  /* │ */
	{ 0x2514, '`' },  /* └ */
	{ 0x251c, '|' },  /* ├ */
	{ 0x2580, '"' },  /* ▀ */
	{ 0x2581, '_' },  /* ▁ */
	{ 0x2582, '.' },  /* ▂ */
	{ 0x2583, ',' },  /* ▃ */
	{ 0x2584, '-' },  /* ▄ */
	{ 0x2585, '=' },  /* ▅ */
	{ 0x2586, '+' },  /* ▆ */
	{ 0x2587, '%' },  /* ▇ */
	{ 0x2588, '#' },  /* █ */
};

void canvas_init(struct canvas *canvas, int row_count, int column_count)
{
	*canvas = (struct canvas){ .cells = NULL };
	canvas_reset(canvas, row_count, column_count);
}

void canvas_clear(struct canvas *canvas)
{
	free(canvas->cells);
	mouse_target_list_clear(&canvas->hits);
	*canvas = (struct canvas){ .cells = NULL };
}

void canvas_reset(struct canvas *canvas, int row_count, int column_count)
{
	size_t count;

	if (row_count < 1)
		row_count = 1;
	if (column_count < 1)
		column_count = 1;
	count = (size_t)row_count * (size_t)column_count;
	if (row_count != canvas->row_count || column_count != canvas->column_count) {
		canvas->cells = xrealloc(canvas->cells, count * sizeof(*canvas->cells));
		canvas->row_count = row_count;
		canvas->column_count = column_count;
	}
	for (size_t i = 0; i < count; i++)
		canvas->cells[i] = CELL_BLANK;
	canvas->hits.count = 0;
	canvas->cursor_row = -1;
	canvas->cursor_column = -1;
}

const struct cell *canvas_cell(const struct canvas *canvas, int row, int column)
{
	return &canvas->cells[(size_t)row * (size_t)canvas->column_count + (size_t)column];
}

int32_t cell_character(const struct cell *cell)
{
	return cell->sides != 0 ? joints[cell->sides & 15] : cell->codepoint;
}

static char ascii_of(const struct cell *cell)
{
	int32_t character = cell_character(cell);

	if (character >= ' ' && character < 0x7f)
		return (char)character;
	for (size_t i = 0; i < ARRAY_LENGTH(ascii_forms); i++)
		if (ascii_forms[i].codepoint == character)
			return ascii_forms[i].ascii;
	return cell->sides != 0 ? '+' : '?';
}

void canvas_make_ascii(struct canvas *canvas)
{
	int count = canvas->row_count * canvas->column_count;

	for (int i = 0; i < count; i++) {
		struct cell *cell = &canvas->cells[i];

		cell->codepoint = cell->width == 0 ? '?' : ascii_of(cell);
		cell->combining = 0;
		cell->sides = 0;
		cell->width = 1;
	}
}

void canvas_append(struct buffer *out, const struct canvas *canvas)
{
	for (int row = 0; row < canvas->row_count; row++) {
		size_t end = out->length;

		for (int column = 0; column < canvas->column_count; column++) {
			const struct cell *cell = canvas_cell(canvas, row, column);

			if (cell->width == 0)
				continue;
			text_put_codepoint(out, cell_character(cell));
			if (cell->combining != 0)
				text_put_codepoint(out, cell->combining);
			if (cell_character(cell) != ' ')
				end = out->length;
		}
		buffer_truncate(out, end);
		buffer_append_char(out, '\n');
	}
}

void mouse_target_list_clear(struct mouse_target_list *list)
{
	free(list->items);
	*list = (struct mouse_target_list){ .items = NULL };
}

static void mouse_target_add(struct mouse_target_list *list, struct window part,
			     struct mouse_target hit)
{
	if (part.row_count <= 0 || part.column_count <= 0)
		return;
	hit.row = part.row;
	hit.column = part.column;
	hit.row_count = part.row_count;
	hit.column_count = part.column_count;
	ARRAY_GROW(list->items, list->count, list->capacity);
	list->items[list->count++] = hit;
}

void window_hit(struct window window, int row, int column, int row_count, int column_count,
		enum mouse_target_kind kind, int value)
{
	mouse_target_add(&window.canvas->hits,
			 window_part(window, row, column, row_count, column_count),
			 (struct mouse_target){ .kind = kind, .value = value });
}

void window_hit_key(struct window window, int column, int column_count, const char *static_line)
{
	mouse_target_add(&window.canvas->hits, window_part(window, 0, column, 1, column_count),
			 (struct mouse_target){ .kind = MOUSE_TARGET_KEY, .line = static_line });
}

const struct mouse_target *mouse_target_list_find(const struct mouse_target_list *list, int row,
						  int column, unsigned kinds)
{
	for (size_t i = list->count; i > 0; i--) {
		const struct mouse_target *hit = &list->items[i - 1];

		if ((hit->kind & kinds) != 0 && row >= hit->row &&
		    row < hit->row + hit->row_count && column >= hit->column &&
		    column < hit->column + hit->column_count)
			return hit;
	}
	return NULL;
}
