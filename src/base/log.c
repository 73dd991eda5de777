#include "base/log.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "base/alloc.h"
#include "base/buffer.h"
#include "base/text.h"

#define LOG_LINES 200

static const char *const level_names[] = {
	[LOG_DEBUG] = "debug",	   [LOG_INFO] = "info",	  [LOG_NOTE] = "note",
	[LOG_WARNING] = "warning", [LOG_ERROR] = "error",
};

/* Lines below this level are dropped. */
#define LOG_LEAST LOG_NOTE

static struct {
	char name[32];
	bool is_quiet;
	char *lines[LOG_LINES]; /* ring; start is the oldest line's index once the ring is full */
	size_t start;
	size_t count;
} state = {
	.name = "probetui",
};

void log_set_name(const char *name)
{
	snprintf(state.name, sizeof(state.name), "%s", name);
}

void log_set_quiet(int is_quiet)
{
	state.is_quiet = is_quiet != 0;
}

static void log_remember(char *owned_line)
{
	if (state.count < LOG_LINES) {
		state.lines[state.count++] = owned_line;
		return;
	}
	free(state.lines[state.start]);
	state.lines[state.start] = owned_line;
	state.start = (state.start + 1) % LOG_LINES;
}

void log_write(enum log_level level, const char *format, ...)
{
	struct buffer text = BUFFER_INIT;
	struct buffer line = BUFFER_INIT;
	va_list values;

	if (level < LOG_LEAST)
		return;
	va_start(values, format);
	buffer_vprintf(&text, format, values);
	va_end(values);
	if (level != LOG_NOTE)
		buffer_printf(&line, "%s: ", level_names[level]);
	/* The text may quote output of a target: escape it. */
	text_escape(&line, text.data, text.length);
	if (!state.is_quiet)
		fprintf(stderr, "%s: %s%s\n", state.name, level == LOG_NOTE ? "note: " : "",
			line.data);
	log_remember(buffer_take(&line));
	buffer_clear(&text);
}

const char *log_line(size_t i)
{
	if (i >= state.count)
		return NULL;
	return state.lines[(state.start + i) % LOG_LINES];
}
