#include "backends/printed.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "backends/output.h"
#include "banned.h"
#include "base/buffer.h"
#include "base/json.h"
#include "base/secret.h"
#include "base/text.h"

/* Bytes of the end of a file that are searched; a bar has some hundred bytes each time. */
#define BYTES_MAXIMUM (4u << 10)
#define COLUMNS_MAXIMUM 200

static bool is_blank(const char *bytes, size_t length)
{
	return strspn(bytes, " \t\r\n") >= length;
}

/* Appends the last part between carriage returns that is not blank; false: there is none. */
static bool append_last_part(struct buffer *out, const char *line, size_t length)
{
	size_t end = length;

	while (end > 0) {
		size_t start = end;

		while (start > 0 && line[start - 1] != '\r')
			start--;
		if (!is_blank(line + start, end - start)) {
			size_t from = start + strspn(line + start, " \t");

			buffer_append(out, line + from, end - from);
			return true;
		}
		end = start > 0 ? start - 1 : 0;
	}
	return false;
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
		if ((!is_drawn || (drawn && drawn + 1 < text + end)) &&
		    append_last_part(out, text + start, end - start))
			return;
		end = start > 0 ? start - 1 : 0;
	}
}

void printed_append_line(struct buffer *out, const char *text)
{
	append_last(out, text, false);
}

void printed_append_progress(struct buffer *out, const char *text)
{
	append_last(out, text, true);
}

static json_t *masked(const struct buffer *line)
{
	struct buffer plain = BUFFER_INIT;
	struct buffer cut = BUFFER_INIT;
	json_t *json;

	secret_mask_traceback(&plain, line->data);
	text_cut(&cut, plain.data, COLUMNS_MAXIMUM);
	json = json_text(cut.data);
	buffer_clear(&cut);
	buffer_clear(&plain);
	return json;
}

/* Returns a new object {path, line} of a file; null: no such line. */
static json_t *read_last(struct outputs *outputs, pid_t pid, int number,
			 void (*append)(struct buffer *out, const char *text))
{
	struct buffer text = BUFFER_INIT;
	struct buffer line = BUFFER_INIT;
	json_t *json = json_null();
	const char *path = outputs_read_last(outputs, pid, number, BYTES_MAXIMUM, &text);

	if (text.length > 0)
		append(&line, text.data);
	if (path && line.length > 0) {
		json = json_object();
		json_set_text(json, "path", path);
		json_object_set_new(json, "line", masked(&line));
	}
	buffer_clear(&line);
	buffer_clear(&text);
	return json;
}

json_t *printed_to_json(struct outputs *outputs, pid_t pid)
{
	json_t *line = read_last(outputs, pid, STDOUT_FILENO, printed_append_line);
	json_t *progress = read_last(outputs, pid, STDERR_FILENO, printed_append_progress);

	/* Where both go to one file, the bar may be its last line. */
	if (json_is_object(progress) && json_equal(line, progress)) {
		json_decref(line);
		line = json_null();
	}
	return json_pack("{s:o, s:o}", "line", line, "progress", progress);
}
