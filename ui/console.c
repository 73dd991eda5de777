#include "ui/console.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "base/array.h"
#include "base/buffer.h"
#include "model/output.h"
#include "model/session.h"
#include "ui/terminal.h"

#define ANSWERS_MAXIMUM 1024

void console_init(struct console *console)
{
	*console = (struct console){ .terminal = NULL };
	prompt_init(&console->line);
	prompt_open(&console->line, PROMPT_CONSOLE, "");
}

void console_clear(struct console *console)
{
	terminal_free(console->terminal);
	prompt_clear(&console->line);
	*console = (struct console){ .terminal = NULL };
}

bool console_is_connected(const struct session *session)
{
	const struct rank *rank = session_looked_at(session);

	return session_controls(session, rank) && debugger_is_ours(&rank->debugger);
}

static void console_take_answer(const char *bytes, size_t length, void *data)
{
	struct buffer *answers = data;

	if (answers->length + length <= ANSWERS_MAXIMUM)
		buffer_append(answers, bytes, length);
}

/*
 * True if the terminal's replies to queries (such as the cursor's position) may be sent to the
 * rank. pdb at its prompt would read a reply as the beginning of a line. Replies to old output,
 * before transcript->told, are not sent either.
 */
static bool wants_answers(const struct session *session, const struct transcript *transcript,
			  uint64_t at)
{
	const struct rank *rank = session_looked_at(session);

	return rank != NULL && debugger_is_ours(&rank->debugger) &&
	       rank->debugger.state != DEBUGGER_STOPPED && at >= transcript->told;
}

static void write_from(struct console *console, const struct transcript *transcript)
{
	size_t skipped = (size_t)(console->taken - transcript->start);

	terminal_write(console->terminal, transcript->bytes.data + skipped,
		       transcript->bytes.length - skipped);
	console->taken = transcript_end(transcript);
}

static bool console_is_of(const struct console *console, const struct transcript *transcript)
{
	return console->terminal != NULL && console->times == transcript->times;
}

/* Makes a new terminal, since a terminal has a fixed size; the transcript is written from its start
 * again. */
static void console_begin(struct console *console, const struct transcript *transcript,
			  int row_count, int column_count)
{
	terminal_free(console->terminal);
	console->terminal = terminal_new(row_count, column_count);
	console->times = transcript->times;
	console->taken = transcript->start;
}

static void console_forget(struct console *console)
{
	terminal_free(console->terminal);
	console->terminal = NULL;
	console->back = 0;
}

void console_look(struct console *console, const struct session *session)
{
	const struct rank *rank = session_looked_at(session);
	size_t node = rank != NULL ? rank->node : 0;
	pid_t pid = rank != NULL ? rank->process.pid : 0;

	if (console->node == node && console->pid == pid)
		return;
	console_forget(console);
	prompt_open(&console->line, PROMPT_CONSOLE, "");
	console->node = node;
	console->pid = pid;
}

/* Writes the new bytes of the transcript to the terminal. answers receives the terminal's replies
 * to queries; if answers is NULL, replies are dropped. */
static void console_show(struct console *console, const struct transcript *transcript,
			 int row_count, int column_count, struct buffer *answers)
{
	int history;

	if (!console_is_of(console, transcript) ||
	    terminal_has_other_size(console->terminal, row_count, column_count) ||
	    console->taken < transcript->start) {
		console_begin(console, transcript, row_count, column_count);
		write_from(console, transcript);
		return;
	}
	if (console->taken == transcript_end(transcript))
		return;
	history = terminal_history(console->terminal);
	if (answers != NULL)
		terminal_set_answer(console->terminal, console_take_answer, answers);
	write_from(console, transcript);
	terminal_set_answer(console->terminal, NULL, NULL);
	/* A console that is scrolled back keeps showing the same lines. */
	if (console->back > 0)
		console_scroll(console, terminal_history(console->terminal) - history);
}

void console_update(struct console *console, const struct session *session, int row_count,
		    int column_count, struct buffer *answers)
{
	const struct rank *rank = session_looked_at(session);
	const struct transcript *transcript = NULL;

	console_look(console, session);
	if (rank != NULL)
		transcript = session_find_transcript(session, rank->node, rank->process.pid);
	if (transcript == NULL) {
		console_forget(console);
		return;
	}
	if (!wants_answers(session, transcript, console->taken))
		answers = NULL;
	console_show(console, transcript, row_count, column_count, answers);
}

void console_update_job(struct console *console, const struct session *session, int row_count,
			int column_count, struct buffer *answers)
{
	console_show(console, &session->launching.transcript, row_count, column_count, answers);
}

void console_type(struct console *console, const char *key, struct buffer *out)
{
	if (console->terminal == NULL)
		return;
	terminal_set_answer(console->terminal, console_take_answer, out);
	terminal_type(console->terminal, key);
	terminal_set_answer(console->terminal, NULL, NULL);
	console->back = 0;
}

int console_history(const struct console *console)
{
	return console->terminal != NULL ? terminal_history(console->terminal) : 0;
}

void console_scroll(struct console *console, int by)
{
	int most = console_history(console);

	if (by > most - console->back)
		console->back = most;
	else
		console->back += by;
	if (console->back < 0)
		console->back = 0;
}

struct control_key {
	const char *key;
	const char *bytes;
};

/* Keys whose bytes are sent at once; the typed line is dropped. */
static const struct control_key control_keys[] = {
	{ "C-c", "\003" },
	{ "C-z", "\032" },
	{ "C-\\", "\034" },
};

static const char *control_bytes(const struct console *console, const char *key)
{
	/* C-d means end of file only on an empty line. */
	if (strcmp(key, "C-d") == 0 && console->line.text.length == 0)
		return "\004";
	for (size_t i = 0; i < ARRAY_LENGTH(control_keys); i++)
		if (strcmp(control_keys[i].key, key) == 0)
			return control_keys[i].bytes;
	return NULL;
}

/* True if the line has no function for the key. */
static bool console_is_unknown(const char *key)
{
	static const char *const names[] = { "S-Tab", "Insert", "Resize", "Unknown" };

	for (size_t i = 0; i < ARRAY_LENGTH(names); i++)
		if (strcmp(names[i], key) == 0)
			return true;
	return key[0] == 'F' && key[1] >= '0' && key[1] <= '9';
}

static void begin_line(struct console *console)
{
	prompt_open(&console->line, PROMPT_CONSOLE, "");
}

/* Inserts blanks up to the next multiple of four, as an editor does. */
static void indent(struct console *console)
{
	for (size_t i = console->line.cursor % 4; i < 4; i++)
		prompt_key(&console->line, "Space");
}

bool console_key(struct console *console, const char *key, struct buffer *out)
{
	const char *bytes = control_bytes(console, key);

	if (console_is_unknown(key))
		return false;
	if (bytes != NULL) {
		buffer_append_string(out, bytes);
		begin_line(console);
	} else if (strcmp(key, "Enter") == 0) {
		char *line = prompt_take(&console->line);

		buffer_append_string(out, line);
		buffer_append_char(out, '\n');
		free(line);
		begin_line(console);
	} else if (strcmp(key, "Tab") == 0) {
		indent(console);
	} else if (strcmp(key, "Esc") == 0) {
		if (console->line.text.length == 0)
			return false;
		begin_line(console);
	} else {
		prompt_key(&console->line, key);
	}
	console->back = 0;
	return true;
}
