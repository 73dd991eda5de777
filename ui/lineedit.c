#include "ui/lineedit.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "banned.h"
#include "base/array.h"
#include "base/buffer.h"
#include "base/file.h"
#include "base/loop.h"
#include "base/text.h"

#define COLUMNS_DEFAULT 80
#define NAME_SIZE 16

struct sequence_key {
	const char *bytes;
	const char *name;
};

static const struct sequence_key sequences[] = {
	{ "\033[A", "Up" },    { "\033OA", "Up" },	{ "\033[B", "Down" },
	{ "\033OB", "Down" },  { "\033[C", "Right" },	{ "\033OC", "Right" },
	{ "\033[D", "Left" },  { "\033OD", "Left" },	{ "\033[H", "Home" },
	{ "\033OH", "Home" },  { "\033[1~", "Home" },	{ "\033[F", "End" },
	{ "\033OF", "End" },   { "\033[4~", "End" },	{ "\033[3~", "Delete" },
	{ "\033[Z", "S-Tab" }, { "\t", "Tab" },		{ "\r", "Enter" },
	{ "\n", "Enter" },     { "\177", "Backspace" }, { "\b", "Backspace" },
	{ " ", "Space" },
};

static const int ends[] = { SIGHUP, SIGINT, SIGTERM };

static int columns(void)
{
	struct winsize size;

	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) < 0 || size.ws_col < 2)
		return COLUMNS_DEFAULT;
	return size.ws_col;
}

/* Draws the line; a line wider than the terminal is scrolled so that the cursor is visible. */
static void lineedit_draw(const struct lineedit *edit)
{
	const char *text = edit->prompt->text.data;
	const char *cursor = text + edit->prompt->cursor;
	int width = columns() - text_width(edit->label) - 1;
	struct buffer head = BUFFER_INIT;
	struct buffer out = BUFFER_INIT;
	int behind;

	buffer_append(&head, text, edit->prompt->cursor);
	while (text_width(head.data) > width && text < cursor) {
		text_next(&text);
		buffer_reset(&head);
		buffer_append(&head, text, (size_t)(cursor - text));
	}
	buffer_printf(&out, "\r\033[K%s%.*s", edit->label, (int)text_fit(text, width), text);
	behind = text_width(edit->label) + text_width(head.data);
	buffer_append_string(&out, "\r");
	if (behind > 0)
		buffer_printf(&out, "\033[%dC", behind);
	file_write(STDOUT_FILENO, out.data, out.length);
	buffer_clear(&head);
	buffer_clear(&out);
}

void lineedit_show_candidates(const struct lineedit *edit)
{
	const struct candidates *candidates = &edit->prompt->candidates;
	struct buffer out = BUFFER_INIT;
	int width = columns();
	int column = 0;

	for (size_t i = 0; i < candidates->count; i++) {
		const char *word = candidates->items[i];

		if (i == 0 || column + text_width(word) + 2 > width) {
			buffer_append_string(&out, "\r\n");
			column = 0;
		}
		buffer_printf(&out, "%s  ", word);
		column += text_width(word) + 2;
	}
	buffer_append_string(&out, "\r\n");
	if (candidates->count > 1)
		file_write(STDOUT_FILENO, out.data, out.length);
	buffer_clear(&out);
	lineedit_draw(edit);
}

static void lineedit_leave(struct lineedit *edit, enum lineedit_result result)
{
	edit->result = result;
	prompt_key(edit->prompt, "End");
	lineedit_draw(edit);
	file_write(STDOUT_FILENO, "\r\n", 2);
}

static void lineedit_take_key(struct lineedit *edit, const char *name)
{
	struct prompt *prompt = edit->prompt;

	if (strcmp(name, "Enter") == 0)
		lineedit_leave(edit, LINEEDIT_LINE);
	else if (strcmp(name, "C-c") == 0)
		lineedit_leave(edit, LINEEDIT_DROPPED);
	else if (strcmp(name, "C-d") == 0 && prompt->text.length == 0)
		lineedit_leave(edit, LINEEDIT_END);
	else if (strcmp(name, "Tab") == 0)
		edit->complete(1, edit->data);
	else if (strcmp(name, "S-Tab") == 0)
		edit->complete(-1, edit->data);
	else if (strcmp(name, "Esc") != 0 && prompt_key(prompt, name) == PROMPT_CANCELLED)
		prompt_open(prompt, prompt->kind, "");
	if (edit->result == LINEEDIT_TYPING)
		lineedit_draw(edit);
}

/*
 * Returns the length of an escape sequence that belongs to no key, up to its final letter; 0 if
 * more bytes are needed to find the end.
 */
static size_t skip_sequence(const char *bytes, size_t length)
{
	size_t at = 2;

	if (length > 1 && bytes[1] != '[' && bytes[1] != 'O')
		return 1;
	while (at < length && (bytes[at] < '@' || bytes[at] > '~'))
		at++;
	if (at < length)
		return at + 1;
	return length < LINEEDIT_BYTES ? 0 : length;
}

/* Returns the length of the first key and writes the key's name, or "" for an unknown key. Returns
 * 0 if the key is incomplete. */
static size_t lineedit_find_key(const char *bytes, size_t length, char name[NAME_SIZE])
{
	size_t size = 1;

	*name = '\0';
	for (size_t i = 0; i < ARRAY_LENGTH(sequences); i++) {
		size_t wanted = strlen(sequences[i].bytes);

		if (length >= wanted && memcmp(bytes, sequences[i].bytes, wanted) == 0) {
			memcpy(name, sequences[i].name, strlen(sequences[i].name) + 1);
			return wanted;
		}
	}
	if (*bytes == '\033')
		return skip_sequence(bytes, length);
	if ((unsigned char)*bytes < ' ') {
		memcpy(name, "C-", 2);
		name[2] = (char)(*bytes > 0 && *bytes < 27 ? 'a' + *bytes - 1 : '@' + *bytes);
		name[3] = '\0';
		return 1;
	}
	while (size < length && ((unsigned char)bytes[size] & 0xc0) == 0x80)
		size++;
	if (text_unfinished(bytes, size) > 0)
		return size < 4 ? 0 : size;
	if (text_is_utf8(bytes, size) && size < NAME_SIZE) {
		memcpy(name, bytes, size);
		name[size] = '\0';
	}
	return size;
}

/* Handles the typed keys up to Enter; the bytes after Enter stay in edit->bytes for the next
 * line. */
static void lineedit_take_bytes(struct lineedit *edit)
{
	while (edit->length > 0 && edit->result == LINEEDIT_TYPING) {
		char name[NAME_SIZE];
		size_t used = lineedit_find_key(edit->bytes, edit->length, name);

		if (used == 0)
			return;
		edit->length -= used;
		memmove(edit->bytes, edit->bytes + used, edit->length);
		if (*name != '\0')
			lineedit_take_key(edit, name);
	}
}

static void lineedit_on_input(int fd, int events, void *data)
{
	struct lineedit *edit = data;
	ssize_t got;

	(void)events;
	/* edit->complete() may run the loop: if edit->bytes is full, further bytes are read
	 * afterwards. */
	if (edit->length == sizeof(edit->bytes))
		return;
	got = read(fd, edit->bytes + edit->length, sizeof(edit->bytes) - edit->length);
	if (got > 0)
		edit->length += (size_t)got;
	else if (got == 0 || (errno != EINTR && errno != EAGAIN))
		edit->result = LINEEDIT_END;
}

/* Ends the reading, so that lineedit_read() restores the terminal before the program ends. */
static void lineedit_on_end(int number, void *data)
{
	struct lineedit *edit = data;

	(void)number;
	edit->result = LINEEDIT_END;
}

static void wait_for_line(struct lineedit *edit, struct loop *loop)
{
	struct loop_watch *watch =
		loop_watch(loop, STDIN_FILENO, LOOP_READABLE, lineedit_on_input, edit);
	struct loop_signal *signals[ARRAY_LENGTH(ends)];

	for (size_t i = 0; i < ARRAY_LENGTH(ends); i++)
		signals[i] = loop_signal(loop, ends[i], lineedit_on_end, edit);
	lineedit_draw(edit);
	lineedit_take_bytes(edit);
	while (edit->result == LINEEDIT_TYPING) {
		loop_turn(loop);
		lineedit_take_bytes(edit);
	}
	for (size_t i = 0; i < ARRAY_LENGTH(ends); i++)
		loop_signal_stop(signals[i]);
	loop_watch_stop(watch);
}

enum lineedit_result lineedit_read(struct lineedit *edit, struct loop *loop)
{
	struct termios raw;

	if (tcgetattr(STDIN_FILENO, &edit->saved) < 0)
		return LINEEDIT_END;
	raw = edit->saved;
	raw.c_iflag &= (tcflag_t) ~(ICRNL | IXON);
	raw.c_lflag &= (tcflag_t) ~(ICANON | ECHO | ISIG | IEXTEN);
	raw.c_cc[VMIN] = 1;
	raw.c_cc[VTIME] = 0;
	tcsetattr(STDIN_FILENO, TCSADRAIN, &raw);
	edit->result = LINEEDIT_TYPING;
	wait_for_line(edit, loop);
	tcsetattr(STDIN_FILENO, TCSADRAIN, &edit->saved);
	return edit->result;
}
