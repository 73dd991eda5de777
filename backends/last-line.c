#include "backends/last-line.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "backends/output.h"
#include "banned.h"
#include "base/buffer.h"
#include "base/json.h"
#include "base/logline.h"
#include "base/secret.h"
#include "base/text.h"

/* Bytes of the end of a file that are searched; a bar has some hundred bytes each time. */
#define BYTES_MAXIMUM (4u << 10)
#define COLUMNS_MAXIMUM 200

/* Appends the bytes without colours, and without blanks at the beginning and the end. */
static void append_shown(struct buffer *out, const char *bytes, size_t length)
{
	struct buffer plain = BUFFER_INIT;
	size_t start;

	for (size_t i = 0; i < length;) {
		size_t skipped = text_sequence(bytes + i, length - i);

		if (skipped == 0)
			buffer_append_char(&plain, bytes[i]);
		i += skipped > 0 ? skipped : 1;
	}
	while (plain.length > 0 && strchr(" \t", plain.data[plain.length - 1]))
		buffer_truncate(&plain, plain.length - 1);
	start = plain.length > 0 ? strspn(plain.data, " \t") : 0;
	if (start < plain.length)
		buffer_append(out, plain.data + start, plain.length - start);
	buffer_clear(&plain);
}

/* Appends the last part between carriage returns that is not blank; false: there is none. */
static bool append_last_part(struct buffer *out, const char *line, size_t length)
{
	size_t end = length;

	while (end > 0 && out->length == 0) {
		size_t start = end;

		while (start > 0 && line[start - 1] != '\r')
			start--;
		append_shown(out, line + start, end - start);
		end = start > 0 ? start - 1 : 0;
	}
	return out->length > 0;
}

/* Bytes of a line without the traceback that begins behind a progress bar. */
static size_t shown_length(const char *line, size_t length)
{
	size_t drawn = logline_drawn(line, length);

	return drawn > 0 ? drawn : length;
}

/* The last line that has a part, and, if asked for, a carriage return before its end. */
static void append_last(struct buffer *out, const char *text, bool is_drawn)
{
	size_t end = strlen(text);

	while (end > 0) {
		size_t start = end;
		const char *drawn;

		while (start > 0 && text[start - 1] != '\n')
			start--;
		drawn = memchr(text + start, '\r', end - start);
		end = start + shown_length(text + start, end - start);
		if ((!is_drawn || (drawn && drawn + 1 < text + end)) &&
		    append_last_part(out, text + start, end - start))
			return;
		end = start > 0 ? start - 1 : 0;
	}
}

void last_line_append(struct buffer *out, const char *text)
{
	append_last(out, text, false);
}

void last_line_append_progress(struct buffer *out, const char *text)
{
	append_last(out, text, true);
}

/* Returns a new object {path, line} of a file; null: no such line. */
static json_t *read_last(struct outputs *outputs, pid_t pid, int number,
			 void (*append)(struct buffer *out, const char *text))
{
	struct buffer text = BUFFER_INIT;
	struct buffer masked = BUFFER_INIT;
	struct buffer line = BUFFER_INIT;
	struct buffer cut = BUFFER_INIT;
	json_t *json = json_null();
	const char *path = outputs_read_last(outputs, pid, number, BYTES_MAXIMUM, &text);

	/* Before the line is taken out: a private key is known by the lines around it. */
	secret_mask_traceback(&masked, text.length > 0 ? text.data : "");
	append(&line, masked.length > 0 ? masked.data : "");
	if (path && line.length > 0) {
		text_cut(&cut, line.data, COLUMNS_MAXIMUM);
		json = json_object();
		json_set_text(json, "path", path);
		json_set_text(json, "line", cut.data);
	}
	buffer_clear(&cut);
	buffer_clear(&line);
	buffer_clear(&masked);
	buffer_clear(&text);
	return json;
}

json_t *last_line_to_json(struct outputs *outputs, pid_t pid)
{
	json_t *line = read_last(outputs, pid, STDOUT_FILENO, last_line_append);
	json_t *progress = read_last(outputs, pid, STDERR_FILENO, last_line_append_progress);

	/* Where both go to one file, the bar may be its last line. */
	if (json_is_object(progress) && json_equal(line, progress)) {
		json_decref(line);
		line = json_null();
	}
	return json_pack("{s:o, s:o}", "line", line, "progress", progress);
}
