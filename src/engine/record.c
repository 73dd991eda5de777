#include "engine/record.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "banned.h"
#include "base/alloc.h"
#include "base/array.h"
#include "base/buffer.h"
#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "protocol/message.h"

struct record {
	char *path;
	int fd; /* -1 after a failure */
	bool has_variables;
};

struct record *record_new(const char *path, struct error *error)
{
	int fd =
		open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
		     0600);
	struct record *record;

	if (fd < 0 && errno == EEXIST) {
		error_set(error,
			  "%s exists already; a recording is a new "
			  "file, so name another one",
			  path);
		return NULL;
	}
	if (fd < 0) {
		error_set_errno(error, errno, "cannot make the recording %s",
				path);
		return NULL;
	}
	record = xcalloc(1, sizeof(*record));
	record->path = xstrdup(path);
	record->fd = fd;
	return record;
}

void record_free(struct record *record)
{
	if (!record)
		return;
	if (record->fd >= 0)
		close(record->fd);
	free(record->path);
	free(record);
}

void record_want_variables(struct record *record)
{
	record->has_variables = true;
}

/* Words that tell of a secret, in any case and as parts of others. */
static const char *const secrets[] = { "TOKEN", "KEY", "SECRET", "PASSWORD",
				       "AUTH" };

static bool tells_of_secret(const char *text)
{
	for (size_t i = 0; i < ARRAY_LENGTH(secrets); i++) {
		if (strcasestr(text, secrets[i]))
			return true;
	}
	return false;
}

/* By its name, or by what its value holds: {'api_key': 'sk-...'}. */
static bool is_secret(const json_t *variable)
{
	return tells_of_secret(json_get_string(variable, "name", "")) ||
	       tells_of_secret(json_get_string(variable, "value", ""));
}

/*
 * The line of an answer about variables with the values of secrets masked;
 * false when there are none and the line may stay as it is.
 */
static bool mask(const struct message *message, struct buffer *out)
{
	struct message masked = *message;
	bool is_masked = false;
	json_t *variable;
	size_t i;

	masked.body = json_deep_copy(message->body);
	json_array_foreach(json_object_get(masked.body, "variables"), i,
			   variable)
	{
		if (!is_secret(variable))
			continue;
		json_set_text(variable, "value", "<masked>");
		is_masked = true;
	}
	if (is_masked)
		message_append(out, &masked);
	json_decref(masked.body);
	return is_masked;
}

static int write_line(struct record *record, const char *line, size_t length,
		      double time, struct error *error)
{
	uint64_t microseconds = (uint64_t)(time * 1e6);
	struct buffer timed = BUFFER_INIT;
	int result;

	buffer_printf(&timed, "{\"time\":%" PRIu64 ".%06" PRIu64 ",",
		      microseconds / 1000000, microseconds % 1000000);
	buffer_append(&timed, line + 1, length - 1);
	buffer_append_char(&timed, '\n');
	result = file_write(record->fd, timed.data, timed.length);
	if (result < 0) {
		error_set_errno(error, errno, "the recording %s ends here",
				record->path);
		close(record->fd);
		record->fd = -1;
	}
	buffer_clear(&timed);
	return result;
}

int record_line(struct record *record, const struct message *message,
		const char *line, size_t length, double time,
		struct error *error)
{
	struct buffer masked = BUFFER_INIT;
	int result;

	if (record->fd < 0 || length < 2 || line[0] != '{')
		return 0;
	if (message->type != MESSAGE_RESPONSE ||
	    strcmp(message->name, "variables") != 0)
		return write_line(record, line, length, time, error);
	if (!record->has_variables)
		return 0;
	if (mask(message, &masked)) {
		line = masked.data;
		length = masked.length - 1;
	}
	result = write_line(record, line, length, time, error);
	buffer_clear(&masked);
	return result;
}
