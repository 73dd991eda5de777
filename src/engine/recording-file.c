/*
 * recording-file: a recording is opened. What it says of itself (where chapters
 * end, how long they are) is not believed but checked: against the file's
 * length here, and against the text when a chapter is read.
 */
#include "engine/recording-file.h"

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
#include "base/error.h"
#include "base/json.h"
#include "base/pack.h"
#include "engine/recording.h"
#include "protocol/message.h"

#define READ_LENGTH 65536
#define HEADER_LENGTH (PACK_NOTE_OFFSET + RECORDING_SEGMENT_NOTE_LENGTH)

/* Up to length bytes from at; fewer only at the end. -1 and errno. */
static ssize_t read_at(const struct recording *tape, size_t at, void *bytes, size_t length)
{
	size_t count = 0;

	if (tape->fd < 0) {
		if (at >= tape->bytes.length)
			return 0;
		count = tape->bytes.length - at;
		count = count < length ? count : length;
		memcpy(bytes, tape->bytes.data + at, count);
		return (ssize_t)count;
	}
	while (count < length) {
		ssize_t got =
			pread(tape->fd, (char *)bytes + count, length - count, (off_t)(at + count));

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -1;
		if (got == 0)
			break;
		count += (size_t)got;
	}
	return (ssize_t)count;
}

static int damaged(const struct recording *tape, size_t at, const char *why, struct error *error)
{
	return error_set(error, "the recording %s is broken at byte %zu: %s", tape->path, at, why);
}

/*
 * Unpacks the member at start, length bytes at most, and says how long it is;
 * 0: it has no end.
 */
static int unpack_member(const struct recording *tape, size_t start, size_t length,
			 struct buffer *text, size_t *member_length, struct error *error)
{
	struct unpack *unpack = unpack_new();
	struct error why = ERROR_INIT;
	unsigned char bytes[READ_LENGTH];
	int result = UNPACK_MORE;
	size_t at = 0;

	*member_length = 0;
	while (result == UNPACK_MORE && at < length) {
		size_t part = length - at;
		size_t used;
		ssize_t count = read_at(tape, start + at, bytes,
					part < sizeof(bytes) ? part : sizeof(bytes));

		if (count <= 0)
			break;
		result = unpack_add(unpack, bytes, (size_t)count, &used, text, &why);
		at += result < 0 ? 0 : used;
	}
	unpack_free(unpack);
	if (result < 0)
		return damaged(tape, start + at, why.message, error);
	if (result == UNPACK_END)
		*member_length = at;
	return 0;
}

int tape_unpack(const struct recording *tape, const struct recording_part *chapter,
		struct buffer *text, struct error *error)
{
	bool is_whole = chapter->is.packed_length > 0;
	size_t length = is_whole ? chapter->is.packed_length : tape->length - chapter->start;
	size_t unpacked;

	if (unpack_member(tape, chapter->start, length, text, &unpacked, error) < 0)
		return -1;
	if (is_whole && (unpacked != length || text->length != chapter->is.length))
		return damaged(tape, chapter->start, "this chapter is not what its head says",
			       error);
	return 0;
}

static void add_chapter(struct recording *tape, const struct recording_part *chapter)
{
	ARRAY_GROW(tape->chapters, tape->chapter_count, tape->chapter_capacity);
	tape->chapters[tape->chapter_count++] = *chapter;
}

static size_t lines_so_far(const struct recording *tape)
{
	const struct recording_part *last;

	if (tape->chapter_count == 0)
		return 0;
	last = &tape->chapters[tape->chapter_count - 1];
	return last->first_line + last->is.line_count;
}

/* The last one, of a recorder that was killed or still writes. */
static int add_unended(struct recording *tape, size_t start, struct error *error)
{
	struct recording_part chapter = {
		.start = start,
		.first_line = lines_so_far(tape),
	};
	struct recording_cursor cursor;
	int result;

	tape->is_cut = true;
	add_chapter(tape, &chapter);
	recording_cursor_init(&cursor, tape);
	recording_cursor_go(&cursor, --tape->chapter_count);
	tape->chapter_count++;
	result = recording_cursor_time(&cursor, &chapter.is.first, error);
	if (result > 0) {
		chapter.is.last = cursor.lines[cursor.line_count - 1].time;
		chapter.is.line_count = (uint32_t)cursor.line_count;
		chapter.is.flags = RECORDING_SEGMENT_ALL;
		tape->chapters[tape->chapter_count - 1] = chapter;
	} else {
		tape->chapter_count--;
	}
	recording_cursor_clear(&cursor);
	return result < 0 ? -1 : 0;
}

static bool is_after(const struct recording *tape, const struct recording_segment *chapter)
{
	return tape->chapter_count == 0 || chapter->first >= recording_last(tape);
}

/* From chapter to chapter by what their heads say. */
static int index_packed(struct recording *tape, struct error *error)
{
	size_t at = 0;

	while (at < tape->length) {
		struct recording_part chapter = { .start = at };
		unsigned char header[HEADER_LENGTH];
		ssize_t count = read_at(tape, at, header, sizeof(header));
		const unsigned char *note = NULL;

		if (count < (ssize_t)sizeof(header))
			break; /* not even its head was written */
		note = pack_find_note(header, sizeof(header), RECORDING_SEGMENT_NOTE_LENGTH);
		if (!note || !recording_segment_from_note(&chapter.is, note) ||
		    !is_after(tape, &chapter.is))
			return damaged(tape, at, "no chapter begins here", error);
		if (chapter.is.packed_length == 0 || chapter.is.packed_length > tape->length - at)
			return add_unended(tape, at, error);
		chapter.first_line = lines_so_far(tape);
		add_chapter(tape, &chapter);
		at += chapter.is.packed_length;
	}
	tape->is_cut = at < tape->length;
	return 0;
}

/* A snapshot begins a chapter, where a cursor may begin. */
static bool is_snapshot(const char *line, size_t length)
{
	static const char name[] = "\"event\":\"snapshot\"";

	return memmem(line, length < 200 ? length : 200, name, sizeof(name) - 1) != NULL;
}

static int too_many_lines(const struct recording *tape, struct error *error)
{
	return error_set(error,
			 "the recording %s has more than %zu lines, or others with it have; that "
			 "is not read",
			 tape->path, TAPE_LINES_MAXIMUM);
}

static int add_line(struct recording *tape, size_t start, size_t length, struct error *error)
{
	struct recording_line line = { .start = start, .length = length };
	double before = tape->line_count > 0 ? tape->lines[tape->line_count - 1].time : 0;
	struct recording_segment *last;

	if (recording_index_line(tape, tape->bytes.data, &line, before, tape->line_count + 1,
				 error) < 0)
		return -1;
	if (tape->chapter_count == 0 || is_snapshot(tape->bytes.data + start, length)) {
		struct recording_part chapter = {
			.is.first = line.time,
			.is.flags = RECORDING_SEGMENT_ALL,
			.first_line = tape->line_count,
		};

		add_chapter(tape, &chapter);
	}
	ARRAY_GROW(tape->lines, tape->line_count, tape->line_capacity);
	tape->lines[tape->line_count++] = line;
	last = &tape->chapters[tape->chapter_count - 1].is;
	last->last = line.time;
	last->line_count++;
	return 0;
}

static int index_text(struct recording *tape, const struct recording_budget *budget,
		      struct error *error)
{
	const char *data = tape->bytes.data;
	size_t start = 0;

	while (start < tape->bytes.length) {
		const char *end = memchr(data + start, '\n', tape->bytes.length - start);
		size_t length;

		if (!end) {
			tape->is_cut = true;
			return 0;
		}
		if (tape->line_count >= budget->line_count)
			return too_many_lines(tape, error);
		length = (size_t)(end - data) - start;
		if (add_line(tape, start, length, error) < 0)
			return -1;
		start += length + 1;
	}
	return 0;
}

static int read_all(struct recording *tape, struct error *error)
{
	char bytes[READ_LENGTH];

	for (;;) {
		ssize_t count = read(tape->fd, bytes, sizeof(bytes));

		if (count < 0 && errno == EINTR)
			continue;
		if (count < 0)
			return error_set_errno(error, errno, "cannot read %s", tape->path);
		if (count == 0)
			return 0;
		if (buffer_append(&tape->bytes, bytes, (size_t)count) < 0)
			return error_set(error,
					 "the recording %s is longer than 1 GB, or it and others "
					 "are; that is not read",
					 tape->path);
	}
}

/* What a packed file of that length may unpack to. */
static size_t unpacked_maximum(size_t length, const struct recording_budget *budget)
{
	size_t maximum = TAPE_UNPACKED_ALWAYS;

	if (length > maximum / TAPE_UNPACKED_TIMES)
		maximum = length < TAPE_TEXT_MAXIMUM / TAPE_UNPACKED_TIMES
				  ? length * TAPE_UNPACKED_TIMES
				  : TAPE_TEXT_MAXIMUM;
	if (maximum > budget->length)
		maximum = budget->length;
	return maximum > 0 ? maximum : 1;
}

/* What another program packed: all of it, as text. */
static int unpack_all(struct recording *tape, const struct recording_budget *budget,
		      struct error *error)
{
	struct buffer text;
	size_t length = tape->length;
	size_t at = 0;

	buffer_init(&text, unpacked_maximum(length, budget));
	while (at < length) {
		size_t member;

		if (unpack_member(tape, at, length - at, &text, &member, error) < 0) {
			buffer_clear(&text);
			return -1;
		}
		tape->is_cut = member == 0;
		if (member == 0)
			break;
		at += member;
	}
	buffer_clear(&tape->bytes);
	tape->bytes = text;
	return 0;
}

/* When the clock was what at the tape's time 0. */
static void read_wall(struct recording *tape)
{
	struct recording_cursor cursor;
	struct message message;
	double wall;

	tape->wall = -1;
	recording_cursor_init(&cursor, tape);
	if (recording_cursor_next(&cursor, &message, NULL) > 0) {
		wall = json_get_real(message.body, "wall", -1);
		if (message.type == MESSAGE_EVENT && strcmp(message.name, "snapshot") == 0 &&
		    wall > 0)
			tape->wall = wall - message.time;
		message_clear(&message);
	}
	recording_cursor_clear(&cursor);
}

static int index_bytes(struct recording *tape, struct recording_budget *budget, struct error *error)
{
	unsigned char header[HEADER_LENGTH];
	ssize_t count = read_at(tape, 0, header, sizeof(header));
	bool is_gzip = count > 0 && pack_is_packed(header, (size_t)count);

	tape->is_packed = count == sizeof(header) &&
			  pack_find_note(header, sizeof(header), RECORDING_SEGMENT_NOTE_LENGTH);
	if (tape->is_packed) {
		if (index_packed(tape, error) < 0)
			return -1;
	} else {
		if (tape->fd >= 0 && !is_gzip && read_all(tape, error) < 0)
			return -1;
		if (is_gzip && unpack_all(tape, budget, error) < 0)
			return -1;
		if (index_text(tape, budget, error) < 0)
			return -1;
		budget->length -= tape->bytes.length;
		budget->line_count -= tape->line_count;
	}
	if (tape->chapter_count == 0)
		return error_set(error,
				 "%s is not a recording of probetui: it has no complete line",
				 tape->path);
	read_wall(tape);
	return 0;
}

static struct recording *make(const char *path, const struct recording_budget *budget)
{
	struct recording *tape = xcalloc(1, sizeof(*tape));

	tape->path = xstrdup(path);
	tape->fd = -1;
	/* 0 would be no maximum at all. */
	buffer_init(&tape->bytes, budget->length > 0 ? budget->length : 1);
	return tape;
}

/* A pipe or a device is read at once: it cannot be read again. */
static int open_file(struct recording *tape, struct error *error)
{
	struct stat status;
	int result;

	/* A writer that never comes is not waited for, one that is there is. */
	tape->fd = open(tape->path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (tape->fd < 0)
		return error_set_errno(error, errno, "cannot open the recording %s", tape->path);
	fcntl(tape->fd, F_SETFL, 0);
	if (fstat(tape->fd, &status) < 0)
		return error_set_errno(error, errno, "cannot look at %s", tape->path);
	if (S_ISDIR(status.st_mode))
		return error_set(error, "%s is a folder, not a recording", tape->path);
	tape->length = (size_t)status.st_size;
	if (S_ISREG(status.st_mode))
		return 0;
	result = read_all(tape, error);
	close(tape->fd);
	tape->fd = -1;
	tape->length = tape->bytes.length;
	return result;
}

void recording_budget_init(struct recording_budget *budget)
{
	*budget = (struct recording_budget){
		.length = TAPE_TEXT_MAXIMUM,
		.line_count = TAPE_LINES_MAXIMUM,
	};
}

struct recording *recording_new(const char *path, struct recording_budget *budget,
				struct error *error)
{
	struct recording *tape = make(path, budget);

	if (open_file(tape, error) < 0 || index_bytes(tape, budget, error) < 0) {
		recording_free(tape);
		return NULL;
	}
	return tape;
}

struct recording *recording_new_bytes(const char *name, const void *bytes, size_t length,
				      struct recording_budget *budget, struct error *error)
{
	struct recording *tape = make(name, budget);

	tape->length = length;
	if (buffer_append(&tape->bytes, bytes, length) < 0) {
		error_set(error, "%s is longer than 1 GB, which is not read", name);
		recording_free(tape);
		return NULL;
	}
	if (index_bytes(tape, budget, error) < 0) {
		recording_free(tape);
		return NULL;
	}
	return tape;
}

void recording_free(struct recording *tape)
{
	if (!tape)
		return;
	if (tape->fd >= 0)
		close(tape->fd);
	free(tape->chapters);
	free(tape->lines);
	buffer_clear(&tape->bytes);
	free(tape->path);
	free(tape);
}
