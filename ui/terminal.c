#include "ui/terminal.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <vterm.h>

#include "banned.h"
#include "base/alloc.h"
#include "base/array.h"
#include "base/buffer.h"
#include "base/text.h"
#include "ui/sequence.h"

#define ROWS_MINIMUM 2
#define COLUMNS_MINIMUM 8
#define SIZE_MAXIMUM 1000
/* Bytes per write to libvterm: libvterm processes a write as a whole. */
#define PIECE_BYTES 1024
#define REPLACEMENT 0xfffd
/* An RGB colour whose components differ by less is grey. */
#define GREY_DISTANCE 48

struct past_line {
	struct cell *cells; /* without trailing blanks */
	int count;
};

struct terminal {
	VTerm *vterm;
	VTermScreen *screen;
	int row_count;
	int column_count;
	bool is_cursor_visible;
	struct sequence sequence;
	struct past_line past[TERMINAL_HISTORY]; /* ring buffer */
	size_t past_count; /* lines that have ever left the screen at its top */
	void (*answer)(const char *bytes, size_t length, void *data);
	void *answer_data;
};

/* Theme styles for the eight terminal colours, so that every theme stays readable. */
static const enum style colours[8] = {
	STYLE_TEXT,	     STYLE_TERMINAL_RED,     STYLE_TERMINAL_GREEN, STYLE_TERMINAL_YELLOW,
	STYLE_TERMINAL_BLUE, STYLE_TERMINAL_MAGENTA, STYLE_TERMINAL_CYAN,  STYLE_TEXT,
};

static int clamp(int value, int minimum, int maximum)
{
	if (value < minimum)
		return minimum;
	return value > maximum ? maximum : value;
}

/* Returns the nearest of the eight colours: each of red, green and blue is on or off; grey is white
 * (7). */
static int nearest_of_eight(int red, int green, int blue)
{
	int parts[3] = { red, green, blue };
	int least = 255;
	int most = 0;
	int number = 0;

	for (int i = 0; i < 3; i++) {
		least = parts[i] < least ? parts[i] : least;
		most = parts[i] > most ? parts[i] : most;
	}
	if (most - least < GREY_DISTANCE)
		return 7;
	for (int i = 0; i < 3; i++)
		if (parts[i] > (least + most) / 2)
			number |= 1 << i;
	return number;
}

/* Returns the style of a colour; sets *is_bright if the colour is one of the second eight. */
static enum style terminal_style_of(const struct terminal *terminal, VTermColor colour,
				    bool *is_bright)
{
	if (VTERM_COLOR_IS_INDEXED(&colour) && colour.indexed.idx < 16) {
		*is_bright = colour.indexed.idx > 8;
		return colour.indexed.idx == 8 ? STYLE_DIM : colours[colour.indexed.idx % 8];
	}
	vterm_screen_convert_color_to_rgb(terminal->screen, &colour);
	return colours[nearest_of_eight(colour.rgb.red, colour.rgb.green, colour.rgb.blue)];
}

/* Styles have no backgrounds: a background colour is drawn as its style, reversed. */
static void set_colours(const struct terminal *terminal, struct cell *cell,
			const VTermScreenCell *from)
{
	bool is_bright = false;
	bool is_reverse = from->attrs.reverse;

	cell->style = STYLE_TEXT;
	if (!VTERM_COLOR_IS_DEFAULT_FG(&from->fg))
		cell->style = (uint8_t)terminal_style_of(terminal, from->fg, &is_bright);
	if (!VTERM_COLOR_IS_DEFAULT_BG(&from->bg)) {
		bool is_ignored;
		enum style style = terminal_style_of(terminal, from->bg, &is_ignored);

		/* A background of STYLE_TEXT (black or white) is not drawn: such a background is
		 * mostly black. */
		if (style != STYLE_TEXT) {
			cell->style = (uint8_t)style;
			is_reverse = !is_reverse;
		}
	}
	if (from->attrs.bold || is_bright)
		cell->emphasis |= EMPHASIS_BOLD;
	if (is_reverse)
		cell->emphasis |= EMPHASIS_REVERSE;
	if (from->attrs.underline)
		cell->emphasis |= EMPHASIS_UNDERLINE;
	if (from->attrs.italic)
		cell->emphasis |= EMPHASIS_ITALIC;
}

/* Replaces a character to which libvterm gives another width than text_codepoint_width(). */
static struct cell terminal_cell_of(const struct terminal *terminal, const VTermScreenCell *from)
{
	struct cell cell = CELL_BLANK;
	int32_t code = (int32_t)from->chars[0];

	if (code > 0 && code != -1) {
		cell.codepoint = code;
		cell.width = from->width == 2 ? 2 : 1;
		if (text_codepoint_width(code) != cell.width)
			cell.codepoint = REPLACEMENT;
		if (cell.codepoint == REPLACEMENT)
			cell.width = 1;
		else if (from->chars[1] != 0 && text_codepoint_width((int32_t)from->chars[1]) == 0)
			cell.combining = (int32_t)from->chars[1];
	}
	set_colours(terminal, &cell, from);
	return cell;
}

static bool is_blank(const struct cell *cell)
{
	return cell->codepoint == ' ' &&
	       (cell->emphasis & (EMPHASIS_REVERSE | EMPHASIS_UNDERLINE)) == 0;
}

static int on_push(int column_count, const VTermScreenCell *cells, void *data)
{
	struct terminal *terminal = data;
	struct past_line *line = &terminal->past[terminal->past_count++ % TERMINAL_HISTORY];
	int count = 0;

	line->cells = xrealloc(line->cells, (size_t)column_count * sizeof(*line->cells));
	for (int i = 0; i < column_count; i++) {
		line->cells[i] = terminal_cell_of(terminal, &cells[i]);
		if (!is_blank(&line->cells[i]))
			count = i + 1;
	}
	line->count = count;
	if (count > 0)
		line->cells = xrealloc(line->cells, (size_t)count * sizeof(*line->cells));
	return 1;
}

static int on_property(VTermProp property, VTermValue *value, void *data)
{
	struct terminal *terminal = data;

	if (property == VTERM_PROP_CURSORVISIBLE)
		terminal->is_cursor_visible = value->boolean != 0;
	return 1;
}

static void terminal_on_answer(const char *bytes, size_t length, void *data)
{
	struct terminal *terminal = data;

	if (terminal->answer != NULL)
		terminal->answer(bytes, length, terminal->answer_data);
}

static const VTermScreenCallbacks callbacks = {
	.settermprop = on_property,
	.sb_pushline = on_push,
};

struct terminal *terminal_new(int row_count, int column_count)
{
	struct terminal *terminal = xcalloc(1, sizeof(*terminal));

	terminal->row_count = clamp(row_count, ROWS_MINIMUM, SIZE_MAXIMUM);
	terminal->column_count = clamp(column_count, COLUMNS_MINIMUM, SIZE_MAXIMUM);
	terminal->is_cursor_visible = true;
	terminal->vterm = vterm_new(terminal->row_count, terminal->column_count);
	vterm_set_utf8(terminal->vterm, 1);
	vterm_output_set_callback(terminal->vterm, terminal_on_answer, terminal);
	terminal->screen = vterm_obtain_screen(terminal->vterm);
	vterm_screen_enable_altscreen(terminal->screen, 1);
	vterm_screen_set_damage_merge(terminal->screen, VTERM_DAMAGE_SCREEN);
	vterm_screen_set_callbacks(terminal->screen, &callbacks, terminal);
	vterm_screen_reset(terminal->screen, 1);
	return terminal;
}

void terminal_free(struct terminal *terminal)
{
	if (terminal == NULL)
		return;
	vterm_free(terminal->vterm);
	for (size_t i = 0; i < TERMINAL_HISTORY; i++)
		free(terminal->past[i].cells);
	free(terminal);
}

void terminal_set_answer(struct terminal *terminal,
			 void (*answer)(const char *bytes, size_t length, void *data), void *data)
{
	terminal->answer = answer;
	terminal->answer_data = data;
}

struct key_code {
	const char *name;
	VTermKey key;
	VTermModifier modifier;
};

static const struct key_code key_codes[] = {
	{ "Enter", VTERM_KEY_ENTER, VTERM_MOD_NONE },
	{ "Tab", VTERM_KEY_TAB, VTERM_MOD_NONE },
	{ "S-Tab", VTERM_KEY_TAB, VTERM_MOD_SHIFT },
	{ "Backspace", VTERM_KEY_BACKSPACE, VTERM_MOD_NONE },
	{ "Esc", VTERM_KEY_ESCAPE, VTERM_MOD_NONE },
	{ "Up", VTERM_KEY_UP, VTERM_MOD_NONE },
	{ "Down", VTERM_KEY_DOWN, VTERM_MOD_NONE },
	{ "Left", VTERM_KEY_LEFT, VTERM_MOD_NONE },
	{ "Right", VTERM_KEY_RIGHT, VTERM_MOD_NONE },
	{ "Insert", VTERM_KEY_INS, VTERM_MOD_NONE },
	{ "Delete", VTERM_KEY_DEL, VTERM_MOD_NONE },
	{ "Home", VTERM_KEY_HOME, VTERM_MOD_NONE },
	{ "End", VTERM_KEY_END, VTERM_MOD_NONE },
	{ "PgUp", VTERM_KEY_PAGEUP, VTERM_MOD_NONE },
	{ "PgDn", VTERM_KEY_PAGEDOWN, VTERM_MOD_NONE },
};

static bool type_named(struct terminal *terminal, const char *key)
{
	for (size_t i = 0; i < ARRAY_LENGTH(key_codes); i++) {
		if (strcmp(key_codes[i].name, key) != 0)
			continue;
		vterm_keyboard_key(terminal->vterm, key_codes[i].key, key_codes[i].modifier);
		return true;
	}
	if (key[0] != 'F' || key[1] < '1' || key[1] > '9')
		return false;
	vterm_keyboard_key(terminal->vterm, (VTermKey)VTERM_KEY_FUNCTION(strtol(key + 1, NULL, 10)),
			   VTERM_MOD_NONE);
	return true;
}

void terminal_type(struct terminal *terminal, const char *key)
{
	const char *at = key;
	int32_t code;

	if (type_named(terminal, key))
		return;
	if (strcmp(key, "Space") == 0) {
		vterm_keyboard_unichar(terminal->vterm, ' ', VTERM_MOD_NONE);
		return;
	}
	if (strncmp(key, "C-", 2) == 0 && key[2] != '\0') {
		char byte = (char)(key[2] & 0x1f);

		terminal_on_answer(&byte, 1, terminal);
		return;
	}
	code = text_next(&at);
	/* A longer name belongs to a key that programs on a terminal do not know. */
	if (code > 0 && *at == '\0')
		vterm_keyboard_unichar(terminal->vterm, (uint32_t)code, VTERM_MOD_NONE);
}

void terminal_write(struct terminal *terminal, const char *bytes, size_t length)
{
	struct buffer out = BUFFER_INIT;

	while (length > 0) {
		size_t piece = length < PIECE_BYTES ? length : PIECE_BYTES;

		buffer_reset(&out);
		sequence_pass(&terminal->sequence, &out, bytes, piece);
		vterm_input_write(terminal->vterm, out.data, out.length);
		bytes += piece;
		length -= piece;
	}
	vterm_screen_flush_damage(terminal->screen);
	buffer_clear(&out);
}

bool terminal_has_other_size(const struct terminal *terminal, int row_count, int column_count)
{
	return terminal->row_count != clamp(row_count, ROWS_MINIMUM, SIZE_MAXIMUM) ||
	       terminal->column_count != clamp(column_count, COLUMNS_MINIMUM, SIZE_MAXIMUM);
}

int terminal_history(const struct terminal *terminal)
{
	return terminal->past_count < TERMINAL_HISTORY ? (int)terminal->past_count
						       : TERMINAL_HISTORY;
}

static void terminal_draw_cell(struct window window, int row, int column, const struct cell *cell)
{
	enum style style = (enum style)cell->style;

	window_put_character(window, row, column, style, cell->codepoint);
	if (cell->combining != 0)
		window_put_character(window, row, column + cell->width, style, cell->combining);
	if (cell->emphasis != 0)
		window_emphasise(window, row, column, 1, cell->width, cell->emphasis);
}

static void draw_past(struct window window, int row, const struct past_line *line)
{
	int column = 0;

	while (column < line->count) {
		terminal_draw_cell(window, row, column, &line->cells[column]);
		column += line->cells[column].width;
	}
}

static void terminal_draw_row(struct window window, int row, const struct terminal *terminal,
			      int at)
{
	int column = 0;

	while (column < terminal->column_count) {
		VTermPos place = { .row = at, .col = column };
		VTermScreenCell from;
		struct cell cell;

		vterm_screen_get_cell(terminal->screen, place, &from);
		cell = terminal_cell_of(terminal, &from);
		terminal_draw_cell(window, row, column, &cell);
		column += cell.width;
	}
}

/*
 * Returns the number of rows to skip, so that the cursor's row is the last row of a window that is
 * too low.
 */
static int rows_above(const struct terminal *terminal, int row_count)
{
	VTermPos at;

	vterm_state_get_cursorpos(vterm_obtain_state(terminal->vterm), &at);
	return clamp(at.row + 1 - row_count, 0,
		     clamp(terminal->row_count - row_count, 0, SIZE_MAXIMUM));
}

void terminal_draw(struct window window, const struct terminal *terminal, int back)
{
	int history = terminal_history(terminal);
	size_t first = terminal->past_count - (size_t)history;
	int start = history - clamp(back, 0, history) + rows_above(terminal, window.row_count);

	for (int row = 0; row < window.row_count; row++) {
		int at = start + row;

		if (at < history)
			draw_past(window, row,
				  &terminal->past[(first + (size_t)at) % TERMINAL_HISTORY]);
		else if (at - history < terminal->row_count)
			terminal_draw_row(window, row, terminal, at - history);
	}
}

void terminal_cursor(const struct terminal *terminal, int *row, int *column)
{
	VTermPos at;

	vterm_state_get_cursorpos(vterm_obtain_state(terminal->vterm), &at);
	*row = terminal->is_cursor_visible ? at.row : -1;
	*column = at.col;
}
