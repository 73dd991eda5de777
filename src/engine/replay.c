#include "engine/replay.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "banned.h"
#include "base/alloc.h"
#include "base/array.h"
#include "base/buffer.h"
#include "base/error.h"
#include "protocol/message.h"

#define FILE_MAXIMUM ((size_t)1 << 30)

struct line {
	size_t start;
	size_t length;
	double time;
};

struct replay {
	char *path;
	struct buffer bytes;
	struct line *lines;
	size_t line_count;
	size_t line_capacity;
	size_t next;
	bool is_cut;
};

static int read_all(struct replay *replay, int fd, struct error *error)
{
	struct stat status;
	char bytes[65536];

	if (fstat(fd, &status) < 0)
		return error_set_errno(error, errno, "cannot look at %s",
				       replay->path);
	if (S_ISDIR(status.st_mode))
		return error_set(error, "%s is a folder, not a recording",
				 replay->path);
	for (;;) {
		ssize_t count = read(fd, bytes, sizeof(bytes));

		if (count < 0 && errno == EINTR)
			continue;
		if (count < 0)
			return error_set_errno(error, errno, "cannot read %s",
					       replay->path);
		if (count == 0)
			return 0;
		if (buffer_append(&replay->bytes, bytes, (size_t)count) < 0)
			return error_set(error,
					 "the recording %s is longer than 1 "
					 "GB, which is not read",
					 replay->path);
	}
}

static int add_line(struct replay *replay, size_t start, size_t length,
		    struct error *error)
{
	size_t number = replay->line_count + 1;
	struct error why = ERROR_INIT;
	struct message message;
	double time = -1;

	if (length > MESSAGE_LINE_MAXIMUM)
		error_set(&why, "it is too long");
	else if (message_parse(&message, replay->bytes.data + start, length,
			       &why) == 0) {
		time = message.time;
		message_clear(&message);
		if (!(time >= 0))
			error_set(&why, "it has no time");
		else if (number > 1 && time < replay_end_time(replay))
			error_set(&why, "its time is before the last one's");
	}
	if (error_is_set(&why) && number == 1)
		return error_set(error,
				 "%s is not a recording of probetui: "
				 "line 1: %s",
				 replay->path, why.message);
	if (error_is_set(&why))
		return error_set(error,
				 "the recording %s is broken at line "
				 "%zu: %s",
				 replay->path, number, why.message);
	ARRAY_GROW(replay->lines, replay->line_count, replay->line_capacity);
	replay->lines[replay->line_count++] = (struct line){
		.start = start,
		.length = length,
		.time = time,
	};
	return 0;
}

static int index_lines(struct replay *replay, struct error *error)
{
	const char *data = replay->bytes.data;
	size_t start = 0;

	while (start < replay->bytes.length) {
		const char *end = memchr(data + start, '\n',
					 replay->bytes.length - start);
		size_t length;

		replay->is_cut = !end;
		if (!end)
			break;
		length = (size_t)(end - data) - start;
		if (add_line(replay, start, length, error) < 0)
			return -1;
		start += length + 1;
	}
	if (replay->line_count == 0)
		return error_set(error,
				 "%s is not a recording of probetui: it "
				 "has no complete line",
				 replay->path);
	return 0;
}

struct replay *replay_new(const char *path, struct error *error)
{
	struct replay *replay = xcalloc(1, sizeof(*replay));
	int result = -1;
	int fd;

	replay->path = xstrdup(path);
	buffer_init(&replay->bytes, FILE_MAXIMUM);
	/* Nobody waits for a writer that never comes, but for one that is. */
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (fd >= 0)
		fcntl(fd, F_SETFL, 0);
	if (fd < 0)
		error_set_errno(error, errno, "cannot open the recording %s",
				path);
	else
		result = read_all(replay, fd, error);
	if (fd >= 0)
		close(fd);
	if (result == 0)
		result = index_lines(replay, error);
	if (result < 0) {
		replay_free(replay);
		return NULL;
	}
	return replay;
}

void replay_free(struct replay *replay)
{
	if (!replay)
		return;
	free(replay->lines);
	buffer_clear(&replay->bytes);
	free(replay->path);
	free(replay);
}

bool replay_next(struct replay *replay, double until, struct message *message)
{
	const struct line *line = &replay->lines[replay->next];

	if (replay->next >= replay->line_count || line->time > until)
		return false;
	replay->next++;
	return message_parse(message, replay->bytes.data + line->start,
			     line->length, NULL) == 0;
}

bool replay_is_cut(const struct replay *replay)
{
	return replay->is_cut;
}

double replay_next_time(const struct replay *replay)
{
	if (replay->next >= replay->line_count)
		return -1;
	return replay->lines[replay->next].time;
}

double replay_end_time(const struct replay *replay)
{
	return replay->lines[replay->line_count - 1].time;
}

void replay_rewind(struct replay *replay)
{
	replay->next = 0;
}
