#include "ui/history.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "banned.h"
#include "base/alloc.h"
#include "base/array.h"
#include "base/buffer.h"
#include "base/error.h"
#include "base/file.h"
#include "base/text.h"

#define FILE_MAXIMUM (HISTORY_LINES * (HISTORY_LINE_MAXIMUM + 1))

void history_init(struct history *history)
{
	*history = (struct history){ .folder = -1 };
}

static void history_forget_lines(struct history *history)
{
	for (size_t i = 0; i < history->count; i++)
		free(history->lines[i]);
	free(history->lines);
	history->lines = NULL;
	history->count = 0;
	history->capacity = 0;
}

static void remove_line(struct history *history, size_t index)
{
	free(history->lines[index]);
	history->count--;
	memmove(&history->lines[index], &history->lines[index + 1],
		(history->count - index) * sizeof(*history->lines));
}

/*
 * Adds the line as the newest; returns the line's former index, or the former count for a new line.
 */
static size_t history_put_line(struct history *history, const char *line)
{
	size_t was = 0;

	while (was < history->count && strcmp(history->lines[was], line) != 0)
		was++;
	if (was < history->count)
		remove_line(history, was);
	if (history->count == HISTORY_LINES)
		remove_line(history, 0);
	ARRAY_GROW(history->lines, history->count, history->capacity);
	history->lines[history->count++] = xstrdup(line);
	return was;
}

/* Returns false if the line cannot have been typed: the file may have been edited by hand. */
static bool is_sound(const char *line, size_t length)
{
	return length > 0 && length <= HISTORY_LINE_MAXIMUM && text_is_utf8(line, length) &&
	       text_is_plain(line, length);
}

static void history_put_all(struct history *history, const char *text)
{
	while (*text != '\0') {
		size_t length = strcspn(text, "\n");

		if (is_sound(text, length)) {
			char *line = xstrndup(text, length);

			history_put_line(history, line);
			free(line);
		}
		text += length + (text[length] == '\n');
	}
}

/*
 * Appends the last FILE_MAXIMUM bytes of the file, which contain the newest lines. A first line
 * whose beginning is missing is left out.
 */
static void read_end(int fd, off_t size, struct buffer *out)
{
	off_t start = size > FILE_MAXIMUM ? size - FILE_MAXIMUM : 0;
	char *bytes = xmalloc((size_t)(size - start) + 1);
	ssize_t got = pread(fd, bytes, (size_t)(size - start), start);
	const char *from = bytes;

	if (got > 0 && start > 0) {
		from = memchr(bytes, '\n', (size_t)got);
		from = from != NULL ? from + 1 : bytes + got;
	}
	if (got > 0)
		buffer_append(out, from, (size_t)(bytes + got - from));
	free(bytes);
}

/* Reads the history, which must be a regular file of this user; a missing file counts as empty. */
static int history_read_file(int folder, const char *name, struct buffer *out, struct error *error)
{
	int fd = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct stat about;

	if (fd < 0 && errno == ENOENT)
		return 0;
	if (fd < 0)
		return error_set_errno(error, errno, "cannot read the command history");
	if (fstat(fd, &about) < 0 || !S_ISREG(about.st_mode) || about.st_uid != geteuid()) {
		close(fd);
		return error_set(error,
				 "the history is not saved: %s in the state folder of probetui is "
				 "not a regular file of this user: move it away",
				 name);
	}
	read_end(fd, about.st_size, out);
	close(fd);
	return 0;
}

static int history_open_folder(struct error *error)
{
	char *path = file_state_folder("", error);
	int fd;

	if (path == NULL)
		return error_prefix(error, "the command history is not saved");
	fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		error_set_errno(error, errno, "cannot open the folder %s", path);
	free(path);
	return fd;
}

int history_open(struct history *history, const char *name, struct error *error)
{
	struct buffer text;
	int result;
	int folder = history_open_folder(error);

	if (folder < 0)
		return -1;
	buffer_init(&text, FILE_MAXIMUM);
	result = history_read_file(folder, name, &text, error);
	if (result == 0) {
		history->folder = folder;
		history->name = name;
		history_put_all(history, text.data);
	} else {
		close(folder);
	}
	buffer_clear(&text);
	return result;
}

/*
 * Reads the file again, because other screens may have added lines, and adds the unwritten lines.
 */
static int merge(struct history *history, struct error *error)
{
	struct history merged = { .folder = -1 };
	struct buffer text;
	int result;

	buffer_init(&text, FILE_MAXIMUM);
	result = history_read_file(history->folder, history->name, &text, error);
	if (result == 0) {
		history_put_all(&merged, text.data);
		for (size_t i = history->count - history->fresh_count; i < history->count; i++)
			history_put_line(&merged, history->lines[i]);
		history_forget_lines(history);
		history->lines = merged.lines;
		history->count = merged.count;
		history->capacity = merged.capacity;
	}
	buffer_clear(&text);
	return result;
}

/* Writes a new file and renames it over the old file, so that a crash loses no line. */
static int history_write_file(const struct history *history, struct error *error)
{
	int folder = history->folder;
	char *fresh = xasprintf("%s.new", history->name);
	struct buffer text = BUFFER_INIT;
	int fd;
	int result = -1;

	unlinkat(folder, fresh, 0);
	fd = openat(folder, fresh, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	for (size_t i = 0; i < history->count; i++)
		buffer_printf(&text, "%s\n", history->lines[i]);
	if (fd >= 0 && file_write(fd, text.data, text.length) == 0 &&
	    renameat(folder, fresh, folder, history->name) == 0)
		result = 0;
	else
		error_set_errno(error, errno, "cannot write the command history");
	if (fd >= 0)
		close(fd);
	buffer_clear(&text);
	free(fresh);
	return result;
}

/* Locks the folder, not the file, since each save replaces the file. */
static int history_save(struct history *history, struct error *error)
{
	int result;

	if (history->folder < 0 || history->fresh_count == 0)
		return 0;
	/* Do not wait for another screen: the unwritten lines are saved with the next line. */
	if (flock(history->folder, LOCK_EX | LOCK_NB) < 0)
		return 0;
	result = merge(history, error);
	if (result == 0)
		result = history_write_file(history, error);
	flock(history->folder, LOCK_UN);
	if (result == 0)
		history->fresh_count = 0;
	return result;
}

int history_add(struct history *history, const char *line, struct error *error)
{
	size_t count = history->count;
	size_t was;

	if (*line == ' ' || !is_sound(line, strlen(line)))
		return 0;
	was = history_put_line(history, line);
	/* A line that was still unwritten has been counted already. */
	if (was == count || was < count - history->fresh_count)
		history->fresh_count++;
	if (history->fresh_count > history->count)
		history->fresh_count = history->count;
	return history_save(history, error);
}

void history_clear(struct history *history)
{
	history_save(history, NULL);
	if (history->folder >= 0)
		close(history->folder);
	history_forget_lines(history);
	history_init(history);
}
