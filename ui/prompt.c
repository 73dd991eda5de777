#include "ui/prompt.h"

#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "base/alloc.h"
#include "base/array.h"
#include "base/error.h"
#include "base/log.h"
#include "base/text.h"
#include "ui/window.h"

#define PROMPT_TEXT_MAXIMUM 4096

struct prompt_form {
	const char *label;
	const char *command; /* prefix that makes the typed text a command line */
};

static const struct prompt_form forms[] = {
	[PROMPT_COMMAND] = { ":", "" },
	[PROMPT_RANK] = { "rank ", "rank " },
	[PROMPT_SEARCH] = { "/", "search " },
	[PROMPT_FOCUS] = { "focus @ ", "focus " },
	[PROMPT_FILTER] = { "\\", "filter " },
	[PROMPT_EVAL] = { "", "" },
	[PROMPT_COMPARE] = { "= ", "compare " },
	[PROMPT_WATCH] = { "watch ", "watch " },
	[PROMPT_TENSOR] = { "tensor ", "tensor " },
	[PROMPT_TENSOR_INDEX] = { "index ", "tensor-index " },
	[PROMPT_TOLERANCE] = { "tolerance ", "set tolerance " },
	[PROMPT_TENSOR_EXPORT] = { "export to ", "tensor-export " },
	[PROMPT_ASSIGN] = { "assign ", "assign " },
	[PROMPT_CONSOLE] = { "", "" },
};

void prompt_init(struct prompt *prompt)
{
	*prompt = (struct prompt){ .is_open = false };
	buffer_init(&prompt->text, PROMPT_TEXT_MAXIMUM);
	for (size_t i = 0; i < PROMPT_KIND_COUNT; i++)
		history_init(&prompt->histories[i]);
}

/* Frees the state that belongs to the line that is being typed. */
static void forget_typing(struct prompt *prompt)
{
	free(prompt->typed);
	free(prompt->needle);
	prompt->typed = NULL;
	prompt->needle = NULL;
	prompt->note[0] = '\0';
	candidates_clear(&prompt->candidates);
}

void prompt_clear(struct prompt *prompt)
{
	forget_typing(prompt);
	for (size_t i = 0; i < PROMPT_KIND_COUNT; i++)
		history_clear(&prompt->histories[i]);
	buffer_clear(&prompt->text);
	prompt_init(prompt);
}

static void prompt_set_text(struct prompt *prompt, const char *text)
{
	buffer_reset(&prompt->text);
	buffer_append_string(&prompt->text, text);
	prompt->cursor = prompt->text.length;
}

static struct history *history_of(struct prompt *prompt)
{
	return &prompt->histories[prompt->kind];
}

void prompt_open(struct prompt *prompt, enum prompt_kind kind, const char *text)
{
	prompt->is_open = true;
	prompt->kind = kind;
	prompt->history_at = history_of(prompt)->count;
	forget_typing(prompt);
	prompt_set_text(prompt, text);
}

static size_t before(const char *text, size_t at)
{
	if (at > 0)
		at--;
	while (at > 0 && ((unsigned char)text[at] & 0xc0) == 0x80)
		at--;
	return at;
}

static size_t behind(const char *text, size_t at)
{
	const char *next = text + at;

	text_next(&next);
	return (size_t)(next - text);
}

static void prompt_cut(struct prompt *prompt, size_t start, size_t end)
{
	char *tail = xstrdup(prompt->text.data + end);

	buffer_truncate(&prompt->text, start);
	buffer_append_string(&prompt->text, tail);
	free(tail);
	prompt->cursor = start;
}

static void prompt_insert(struct prompt *prompt, const char *text)
{
	char *tail = xstrdup(prompt->text.data + prompt->cursor);

	buffer_truncate(&prompt->text, prompt->cursor);
	if (buffer_append_string(&prompt->text, text) == 0)
		prompt->cursor = prompt->text.length;
	buffer_append_string(&prompt->text, tail);
	free(tail);
}

static void go_left(struct prompt *prompt)
{
	prompt->cursor = before(prompt->text.data, prompt->cursor);
}

static void go_right(struct prompt *prompt)
{
	prompt->cursor = behind(prompt->text.data, prompt->cursor);
}

static void go_first(struct prompt *prompt)
{
	prompt->cursor = 0;
}

static void go_last(struct prompt *prompt)
{
	prompt->cursor = prompt->text.length;
}

static void erase_before(struct prompt *prompt)
{
	prompt_cut(prompt, before(prompt->text.data, prompt->cursor), prompt->cursor);
}

static void erase_here(struct prompt *prompt)
{
	prompt_cut(prompt, prompt->cursor, behind(prompt->text.data, prompt->cursor));
}

static void erase_line(struct prompt *prompt)
{
	prompt_cut(prompt, 0, prompt->cursor);
}

static void erase_word(struct prompt *prompt)
{
	const char *text = prompt->text.data;
	size_t start = prompt->cursor;

	while (start > 0 && text[start - 1] == ' ')
		start--;
	while (start > 0 && text[start - 1] != ' ')
		start--;
	prompt_cut(prompt, start, prompt->cursor);
}

static void erase_to_end(struct prompt *prompt)
{
	buffer_truncate(&prompt->text, prompt->cursor);
}

/* Shows a line of the history; the typed line is kept in prompt->typed. */
static void prompt_go_to_line(struct prompt *prompt, size_t at)
{
	size_t count = history_of(prompt)->count;

	if (at > count)
		return;
	if (prompt->history_at >= count && at < count) {
		free(prompt->typed);
		prompt->typed = xstrdup(prompt->text.data);
	}
	prompt->history_at = at;
	if (at < count)
		prompt_set_text(prompt, history_of(prompt)->lines[at]);
	else
		prompt_set_text(prompt, prompt->typed != NULL ? prompt->typed : "");
}

static void go_older(struct prompt *prompt)
{
	if (prompt->history_at > 0)
		prompt_go_to_line(prompt, prompt->history_at - 1);
}

static void go_newer(struct prompt *prompt)
{
	if (prompt->history_at < history_of(prompt)->count)
		prompt_go_to_line(prompt, prompt->history_at + 1);
}

/* Shows the next older line that contains the typed text. */
static void go_to_match(struct prompt *prompt)
{
	size_t at = prompt->history_at;

	if (prompt->needle == NULL)
		prompt->needle = xstrdup(prompt->text.data);
	while (at > 0)
		if (strstr(history_of(prompt)->lines[--at], prompt->needle)) {
			prompt_go_to_line(prompt, at);
			return;
		}
}

struct edit_key {
	const char *key;
	void (*edit)(struct prompt *prompt);
};

static const struct edit_key edit_keys[] = {
	{ "Left", go_left },   { "C-b", go_left },	{ "Right", go_right },
	{ "C-f", go_right },   { "Home", go_first },	{ "C-a", go_first },
	{ "End", go_last },    { "C-e", go_last },	{ "Delete", erase_here },
	{ "C-d", erase_here }, { "C-u", erase_line },	{ "C-w", erase_word },
	{ "Up", go_older },    { "C-p", go_older },	{ "Down", go_newer },
	{ "C-n", go_newer },   { "C-k", erase_to_end }, { "C-r", go_to_match },
};

static bool is_character(const char *key)
{
	return *key != '\0' && key[behind(key, 0)] == '\0' && (unsigned char)*key >= ' ';
}

enum prompt_result prompt_key(struct prompt *prompt, const char *key)
{
	candidates_clear(&prompt->candidates);
	if (strcmp(key, "C-r") != 0) {
		free(prompt->needle);
		prompt->needle = NULL;
	}
	if (strcmp(key, "Enter") == 0)
		return PROMPT_DONE;
	if (strcmp(key, "Esc") == 0 || strcmp(key, "C-c") == 0) {
		prompt->is_open = false;
		return PROMPT_CANCELLED;
	}
	if (strcmp(key, "Backspace") == 0) {
		if (prompt->text.length == 0) {
			prompt->is_open = false;
			return PROMPT_CANCELLED;
		}
		erase_before(prompt);
		return PROMPT_EDITED;
	}
	for (size_t i = 0; i < ARRAY_LENGTH(edit_keys); i++) {
		if (strcmp(edit_keys[i].key, key) == 0) {
			edit_keys[i].edit(prompt);
			return PROMPT_EDITED;
		}
	}
	if (strcmp(key, "Space") == 0)
		prompt_insert(prompt, " ");
	else if (is_character(key))
		prompt_insert(prompt, key);
	return PROMPT_EDITED;
}

static void replace_word(struct prompt *prompt, size_t start, const char *word, size_t length)
{
	char *copy = xstrndup(word, length);

	prompt_cut(prompt, start, prompt->cursor);
	prompt_insert(prompt, copy);
	free(copy);
}

/*
 * Makes a command line from the text up to the cursor, and finds the candidates for this command
 * line.
 */
static void find_candidates(struct prompt *prompt, const struct session *session,
			    const struct keymap *keymap)
{
	const char *command = forms[prompt->kind].command;
	char *head = xstrndup(prompt->text.data, prompt->cursor);
	char *line = xasprintf("%s%s", command, head);

	complete_line(&prompt->candidates, line, session, keymap);
	prompt->candidates.start -= strlen(command);
	prompt->chosen = -1;
	free(line);
	free(head);
}

static void take_only_one(struct prompt *prompt)
{
	const char *word = prompt->candidates.items[0];
	size_t length = strlen(word);

	replace_word(prompt, prompt->candidates.start, word, length);
	/* An attribute may follow a name in an expression, so add no blank. */
	if (length > 0 && word[length - 1] != '/' && prompt->kind != PROMPT_EVAL &&
	    prompt->kind != PROMPT_COMPARE && prompt->kind != PROMPT_TENSOR)
		prompt_insert(prompt, " ");
	candidates_clear(&prompt->candidates);
}

void prompt_cycle(struct prompt *prompt, int by)
{
	struct candidates *candidates = &prompt->candidates;
	int count = (int)candidates->count;

	if (count == 0)
		return;
	prompt->chosen += prompt->chosen < 0 && by < 0 ? 0 : by;
	prompt->chosen = (prompt->chosen + count) % count;
	replace_word(prompt, candidates->start, candidates->items[prompt->chosen],
		     strlen(candidates->items[prompt->chosen]));
}

/* Inserts the characters that all candidates share. */
static void take_common(struct prompt *prompt)
{
	struct candidates *candidates = &prompt->candidates;
	size_t common = candidates_common(candidates);

	if (candidates->count == 1)
		take_only_one(prompt);
	else if (common > prompt->cursor - candidates->start)
		replace_word(prompt, candidates->start, candidates->items[0], common);
}

void prompt_offer(struct prompt *prompt, struct candidates *owned_candidates)
{
	candidates_clear(&prompt->candidates);
	prompt->candidates = *owned_candidates;
	prompt->chosen = -1;
	if (prompt->candidates.start > prompt->cursor)
		candidates_clear(&prompt->candidates);
	take_common(prompt);
}

void prompt_complete(struct prompt *prompt, const struct session *session,
		     const struct keymap *keymap, int by)
{
	if (prompt->kind == PROMPT_SEARCH)
		return;
	if (prompt->candidates.count > 0) {
		prompt_cycle(prompt, by);
		return;
	}
	find_candidates(prompt, session, keymap);
	take_common(prompt);
}

static void prompt_remember(struct prompt *prompt, const char *line)
{
	struct error error = ERROR_INIT;

	if (history_add(history_of(prompt), line, &error) < 0)
		log_write(LOG_WARNING, "%s", error.message);
}

/* Appends text, quoted as a single word of a command line. */
static void append_quoted(struct buffer *out, const char *text)
{
	while (*text != '\0') {
		size_t length = strcspn(text, "\"");
		char quote = '"';

		if (length == 0) {
			length = strspn(text, "\"");
			quote = '\'';
		}
		buffer_append_char(out, quote);
		buffer_append(out, text, length);
		buffer_append_char(out, quote);
		text += length;
	}
}

char *prompt_take(struct prompt *prompt)
{
	struct buffer line = BUFFER_INIT;

	buffer_append_string(&line, forms[prompt->kind].command);
	if (prompt->kind == PROMPT_SEARCH || prompt->kind == PROMPT_FILTER)
		append_quoted(&line, prompt->text.data);
	else
		buffer_append_string(&line, prompt->text.data);

	prompt_remember(prompt, prompt->text.data);
	prompt->is_open = false;
	return buffer_take(&line);
}

/* Returns the first candidate to draw, so that the chosen candidate fits into width. */
static int first_candidate(const struct prompt *prompt, int width)
{
	int first = prompt->chosen > 0 ? prompt->chosen : 0;

	if (first > 0)
		width -= text_width(prompt->candidates.items[first]);
	while (first > 0) {
		width -= 2 + text_width(prompt->candidates.items[first - 1]);
		if (width < 0)
			break;
		first--;
	}
	return first;
}

static void draw_candidates(struct window window, int column, const struct prompt *prompt)
{
	const struct candidates *candidates = &prompt->candidates;
	int width = window.column_count - column;

	if (candidates->count == 0)
		return;
	for (int i = first_candidate(prompt, width - 2);
	     i < (int)candidates->count && column < window.column_count; i++) {
		const char *word = candidates->items[i];

		column += 2 + window_put(window, 0, column, window.column_count - column - 1,
					 i == prompt->chosen ? STYLE_HINT_KEY : STYLE_HINT, word);
	}
}

void prompt_draw(struct window window, const struct prompt *prompt)
{
	const char *label = forms[prompt->kind].label;
	const char *text = prompt->text.data;
	char *head = xstrndup(text, prompt->cursor);
	int width = window.column_count - 2;
	int column = 0;
	int cursor;

	/* A line that is too wide is scrolled so that the cursor is visible. */
	while (text_width(head) + text_width(label) >= width && *head != '\0') {
		size_t first = behind(head, 0);

		text += first;
		memmove(head, head + first, strlen(head) - first + 1);
	}
	column += window_put(window, 0, column, width, STYLE_HINT_KEY, label);
	cursor = column + text_width(head);
	column += window_put(window, 0, column, window.column_count - column, STYLE_TEXT, text);
	column += 3;
	column += window_put(window, 0, column, window.column_count - column, STYLE_HINT,
			     prompt->note);
	draw_candidates(window, column, prompt);
	window.canvas->cursor_row = window.row;
	window.canvas->cursor_column = window.column + cursor;
	free(head);
}
