/*
 * recording-file: opens a recording. Each segment of a packed recording begins with a note of its
 * lengths, positions and times (base/pack.h). These are not trusted: they are checked against the
 * file's length when the recording is opened, and against the unpacked text when a segment is read.
 */
#include "engine/recording-file.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
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

/*
 * Reads length bytes at offset at; fewer only at the end of the file. Returns -1 and sets errno on
 * failure.
 */
static ssize_t read_at(const struct recording *recording, size_t at, void *bytes, size_t length)
{
	size_t count = 0;

	if (recording->fd < 0) {
		if (at >= recording->bytes.length)
			return 0;
		count = recording->bytes.length - at;
		count = count < length ? count : length;
		memcpy(bytes, recording->bytes.data + at, count);
		return (ssize_t)count;
	}
	while (count < length) {
		ssize_t got = pread(recording->fd, (char *)bytes + count, length - count,
				    (off_t)(at + count));

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

static int damaged(const struct recording *recording, size_t at, const char *why,
		   struct error *error)
{
	return error_set(error, "the recording %s is damaged in the part from byte %zu on: %s",
			 recording->path, at, why);
}

/*
 * Unpacks the gzip member at start, which has at most length bytes. Sets *member_length to its
 * packed length, or to 0 if the member has no end.
 */
static int unpack_member(const struct recording *recording, size_t start, size_t length,
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
		ssize_t count = read_at(recording, start + at, bytes,
					part < sizeof(bytes) ? part : sizeof(bytes));

		if (count <= 0)
			break;
		result = unpack_add(unpack, bytes, (size_t)count, &used, text, &why);
		at += result < 0 ? 0 : used;
	}
	unpack_free(unpack);
	if (result < 0)
		return damaged(recording, start, why.message, error);
	if (result == UNPACK_END)
		*member_length = at;
	return 0;
}

int recording_unpack(const struct recording *recording, const struct recording_part *segment,
		     struct buffer *text, struct error *error)
{
	bool is_whole = segment->is.packed_length > 0;
	size_t length = is_whole ? segment->is.packed_length : recording->length - segment->start;
	size_t unpacked;

	if (unpack_member(recording, segment->start, length, text, &unpacked, error) < 0)
		return -1;
	if (is_whole && (unpacked != length || text->length != segment->is.length))
		return damaged(recording, segment->start, "the segment does not match its header",
			       error);
	return 0;
}

static void add_segment(struct recording *recording, const struct recording_part *segment)
{
	ARRAY_GROW(recording->segments, recording->segment_count, recording->segment_capacity);
	recording->segments[recording->segment_count++] = *segment;
}

static size_t lines_so_far(const struct recording *recording)
{
	const struct recording_part *last;

	if (recording->segment_count == 0)
		return 0;
	last = &recording->segments[recording->segment_count - 1];
	return last->first_line + last->is.line_count;
}

/*
 * Adds a damaged segment in place of bytes that cannot be read; next: time of the first line behind
 * it.
 */
static void add_lost(struct recording *recording, size_t start, const struct error *why,
		     double next)
{
	struct recording_part segment = {
		.start = start,
		.first_line = lines_so_far(recording),
		.damage = xstrdup(why->message),
	};

	if (recording->segment_count > 0)
		next = fmin(next, nextafter(recording_last(recording), INFINITY));
	segment.is.first = segment.is.last = next;
	add_segment(recording, &segment);
}

/* Like add_lost(), for bytes in which no segment begins. */
static void add_unknown(struct recording *recording, size_t start, double next)
{
	struct error why = ERROR_INIT;

	damaged(recording, start, "no segment begins at this byte", &why);
	add_lost(recording, start, &why, next);
}

/*
 * Adds the last segment of a recorder that was killed or is still writing; its times and number of
 * lines are found by unpacking the segment.
 */
static void add_unended(struct recording *recording, size_t start,
			const struct recording_segment *note)
{
	struct recording_part segment = {
		.start = start,
		.is.first = note->first,
		.first_line = lines_so_far(recording),
	};
	struct recording_cursor cursor;
	struct error why = ERROR_INIT;
	int result;

	recording->is_cut = true;
	add_segment(recording, &segment);
	recording_cursor_init(&cursor, recording);
	recording_cursor_go(&cursor, --recording->segment_count);
	recording->segment_count++;
	result = recording_cursor_time(&cursor, &segment.is.first, &why);
	if (result > 0) {
		segment.is.last = cursor.lines[cursor.line_count - 1].time;
		segment.is.line_count = (uint32_t)cursor.line_count;
		segment.is.flags = RECORDING_SEGMENT_ALL;
		recording->segments[recording->segment_count - 1] = segment;
	} else {
		free(recording->segments[--recording->segment_count].damage);
	}
	recording_cursor_clear(&cursor);
	if (result < 0)
		add_lost(recording, start, &why, INFINITY);
}

static bool is_after(const struct recording *recording, const struct recording_segment *segment)
{
	return recording->segment_count == 0 || segment->first >= recording_last(recording);
}

/* True if a segment's header with an undamaged note is in the bytes. */
static bool read_header(struct recording_segment *segment, const unsigned char *bytes,
			size_t length)
{
	const unsigned char *note = pack_find_note(bytes, length, RECORDING_SEGMENT_NOTE_LENGTH);

	return note && recording_segment_from_note(segment, note);
}

/* Bytes of the file, read once for many offsets in them. */
struct window {
	size_t start;
	size_t length;
	unsigned char bytes[READ_LENGTH];
};

/* Returns the bytes at an offset, *count of them; fewer than a header only at the file's end. */
static const unsigned char *look_at(const struct recording *recording, struct window *window,
				    size_t at, size_t *count)
{
	if (at < window->start || at + HEADER_LENGTH > window->start + window->length) {
		ssize_t got = read_at(recording, at, window->bytes, sizeof(window->bytes));

		window->start = at;
		window->length = got > 0 ? (size_t)got : 0;
	}
	*count = window->start + window->length - at;
	return window->bytes + (at - window->start);
}

/* Returns the offset of the first header at or after offset at; SIZE_MAX: there is none. */
static size_t find_header(const struct recording *recording, struct window *window, size_t at)
{
	struct recording_segment segment;

	for (;; at++) {
		size_t count;
		const unsigned char *bytes = look_at(recording, window, at, &count);

		if (count < HEADER_LENGTH)
			return SIZE_MAX;
		if (read_header(&segment, bytes, count))
			return at;
	}
}

static bool has_header(const struct recording *recording)
{
	struct window window = { .length = 0 };

	return find_header(recording, &window, 0) != SIZE_MAX;
}

/* Finds the segments by the lengths in their notes, or, behind damage, by their headers. */
static void index_packed(struct recording *recording)
{
	struct window window = { .length = 0 };
	size_t lost = SIZE_MAX; /* offset of the first byte that is damaged; SIZE_MAX: none is */
	size_t at = 0;

	while (at < recording->length) {
		struct recording_part segment = { .start = at };
		unsigned char header[HEADER_LENGTH];
		ssize_t count = read_at(recording, at, header, sizeof(header));

		if (count < (ssize_t)sizeof(header))
			break; /* the segment's header is incomplete */
		if (!read_header(&segment.is, header, sizeof(header)) ||
		    !is_after(recording, &segment.is)) {
			lost = lost < at ? lost : at;
			at = find_header(recording, &window, at + 1);
			continue;
		}
		if (lost < at)
			add_unknown(recording, lost, segment.is.first);
		lost = SIZE_MAX;
		if (segment.is.packed_length == 0 ||
		    segment.is.packed_length > recording->length - at) {
			add_unended(recording, at, &segment.is);
			return;
		}
		segment.first_line = lines_so_far(recording);
		add_segment(recording, &segment);
		at += segment.is.packed_length;
	}
	if (lost < recording->length)
		add_unknown(recording, lost, INFINITY);
	else
		recording->is_cut = at < recording->length;
}

/* True for a line with a snapshot, which begins a segment. */
static bool is_snapshot(const char *line, size_t length)
{
	static const char name[] = "\"event\":\"snapshot\"";

	return memmem(line, length < 200 ? length : 200, name, sizeof(name) - 1) != NULL;
}

static void recording_file_add_line(struct recording *recording, const struct recording_line *line,
				    bool is_first)
{
	struct recording_segment *last;

	if (is_first) {
		struct recording_part segment = {
			.is.first = line->time,
			.is.flags = RECORDING_SEGMENT_ALL,
			.first_line = recording->line_count,
		};

		add_segment(recording, &segment);
	}
	ARRAY_GROW(recording->lines, recording->line_count, recording->line_capacity);
	recording->lines[recording->line_count++] = *line;
	last = &recording->segments[recording->segment_count - 1].is;
	last->last = line->time;
	last->line_count++;
}

/* The lines from a damaged one up to the next snapshot are left out, and those of its segment. */
static int index_text(struct recording *recording, struct error *error)
{
	const char *data = recording->bytes.data;
	bool is_lost = false;
	size_t number = 1;
	size_t start = 0;

	for (; start < recording->bytes.length; number++) {
		const char *end = memchr(data + start, '\n', recording->bytes.length - start);
		struct recording_line line = { .start = start };
		struct error why = ERROR_INIT;
		bool is_first;

		if (!end)
			break;
		line.length = (size_t)(end - data) - start;
		start += line.length + 1;
		is_first = recording->segment_count == 0 ||
			   is_snapshot(data + line.start, line.length);
		if (is_lost && !is_first)
			continue;
		if (recording_index_line(recording, data, &line,
					 number > 1 ? recording_last(recording) : 0, number,
					 &why) == 0) {
			recording_file_add_line(recording, &line, is_first);
			is_lost = false;
			continue;
		}
		if (number == 1)
			return error_set(error, "%s", why.message);
		if (is_first)
			add_lost(recording, line.start, &why, INFINITY);
		else if (!is_lost)
			recording->segments[recording->segment_count - 1].damage =
				xstrdup(why.message);
		is_lost = true;
	}
	recording->is_cut = start < recording->bytes.length;
	return 0;
}

static int recording_file_read_all(struct recording *recording, struct error *error)
{
	char bytes[READ_LENGTH];

	for (;;) {
		ssize_t count = read(recording->fd, bytes, sizeof(bytes));

		if (count < 0 && errno == EINTR)
			continue;
		if (count < 0)
			return error_set_errno(error, errno, "cannot read %s", recording->path);
		if (count == 0)
			return 0;
		if (buffer_append(&recording->bytes, bytes, (size_t)count) < 0)
			return error_set(error,
					 "the recording %s is longer than 1 GB (with the other "
					 "recordings): too long to read",
					 recording->path);
	}
}

/* Maximum bytes that a packed file of this length may unpack to. */
static size_t unpacked_maximum(size_t length, const struct recording_budget *budget)
{
	size_t maximum = RECORDING_UNPACKED_ALWAYS;

	if (length > maximum / RECORDING_UNPACKED_TIMES)
		maximum = length < RECORDING_TEXT_MAXIMUM / RECORDING_UNPACKED_TIMES
				  ? length * RECORDING_UNPACKED_TIMES
				  : RECORDING_TEXT_MAXIMUM;
	if (maximum > budget->length)
		maximum = budget->length;
	return maximum > 0 ? maximum : 1;
}

/* Unpacks a whole file that another program has packed. */
static int unpack_all(struct recording *recording, const struct recording_budget *budget,
		      struct error *error)
{
	struct buffer text;
	size_t length = recording->length;
	size_t at = 0;

	buffer_init(&text, unpacked_maximum(length, budget));
	while (at < length) {
		size_t member;

		if (unpack_member(recording, at, length - at, &text, &member, error) < 0) {
			buffer_clear(&text);
			return -1;
		}
		recording->is_cut = member == 0;
		if (member == 0)
			break;
		at += member;
	}
	buffer_clear(&recording->bytes);
	recording->bytes = text;
	return 0;
}

/*
 * Finds the wall clock at the recording's time 0, in the first segment that can be read.
 */
static void read_wall(struct recording *recording)
{
	struct recording_cursor cursor;
	struct message message;
	double wall;
	int result;

	recording->wall = -1;
	recording_cursor_init(&cursor, recording);
	while ((result = recording_cursor_next(&cursor, &message, NULL)) < 0)
		;
	if (result > 0) {
		wall = json_get_real(message.body, "wall", -1);
		if (message.type == MESSAGE_EVENT && strcmp(message.name, "snapshot") == 0 &&
		    wall > 0)
			recording->wall = wall - message.time;
		message_clear(&message);
	}
	recording_cursor_clear(&cursor);
}

/* Returns -1 and sets the error if no segment can be read. */
static int refuse_damaged(const struct recording *recording, struct error *error)
{
	for (size_t i = 0; i < recording->segment_count; i++) {
		if (!recording->segments[i].damage)
			return 0;
	}
	return error_set(error, "%s", recording->segments[0].damage);
}

static int index_bytes(struct recording *recording, struct recording_budget *budget,
		       struct error *error)
{
	unsigned char header[HEADER_LENGTH] = { 0 };
	ssize_t count = read_at(recording, 0, header, sizeof(header));
	bool is_gzip = count > 0 && pack_is_packed(header, (size_t)count);

	recording->is_packed = header[0] != '{' && has_header(recording);
	if (recording->is_packed) {
		index_packed(recording);
	} else {
		if (recording->fd >= 0 && !is_gzip && recording_file_read_all(recording, error) < 0)
			return -1;
		if (is_gzip && unpack_all(recording, budget, error) < 0)
			return -1;
		if (index_text(recording, error) < 0)
			return -1;
		budget->length -= recording->bytes.length;
	}
	if (recording->segment_count == 0)
		return error_set(error, "%s %s", recording->path,
				 recording->length == 0 && recording->bytes.length == 0
					 ? "is empty: no recording"
				 : is_gzip ? "is no recording of probetui, or too short to be read"
					   : "is not a recording of probetui: no complete line "
					     "found");
	read_wall(recording);
	return refuse_damaged(recording, error);
}

static struct recording *recording_file_make(const char *path,
					     const struct recording_budget *budget)
{
	struct recording *recording = xcalloc(1, sizeof(*recording));

	recording->path = xstrdup(path);
	recording->fd = -1;
	/* buffer_init() would take 0 as no maximum. */
	buffer_init(&recording->bytes, budget->length > 0 ? budget->length : 1);
	return recording;
}

/* Opens the file. A pipe or a device is read completely, as it cannot be read again. */
static int recording_file_open_file(struct recording *recording, struct error *error)
{
	struct stat status;
	int result;

	/*
	 * O_NONBLOCK: open() of a FIFO does not wait for a writer; the flag is removed for read().
	 */
	recording->fd = open(recording->path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (recording->fd < 0)
		return error_set_errno(error, errno, "cannot open the recording %s",
				       recording->path);
	fcntl(recording->fd, F_SETFL, 0);
	if (fstat(recording->fd, &status) < 0)
		return error_set_errno(error, errno, "cannot stat %s", recording->path);
	if (S_ISDIR(status.st_mode))
		return error_set(error, "%s is a folder, not a recording", recording->path);
	recording->length = (size_t)status.st_size;
	if (S_ISREG(status.st_mode))
		return 0;
	result = recording_file_read_all(recording, error);
	close(recording->fd);
	recording->fd = -1;
	recording->length = recording->bytes.length;
	return result;
}

void recording_budget_init(struct recording_budget *budget)
{
	*budget = (struct recording_budget){ .length = RECORDING_TEXT_MAXIMUM };
}

struct recording *recording_new(const char *path, struct recording_budget *budget,
				struct error *error)
{
	struct recording *recording = recording_file_make(path, budget);

	if (recording_file_open_file(recording, error) < 0 ||
	    index_bytes(recording, budget, error) < 0) {
		recording_free(recording);
		return NULL;
	}
	return recording;
}

struct recording *recording_new_bytes(const char *name, const void *bytes, size_t length,
				      struct recording_budget *budget, struct error *error)
{
	struct recording *recording = recording_file_make(name, budget);

	recording->length = length;
	if (buffer_append(&recording->bytes, bytes, length) < 0) {
		error_set(error, "%s is longer than 1 GB: too long to read", name);
		recording_free(recording);
		return NULL;
	}
	if (index_bytes(recording, budget, error) < 0) {
		recording_free(recording);
		return NULL;
	}
	return recording;
}

void recording_free(struct recording *recording)
{
	if (!recording)
		return;
	if (recording->fd >= 0)
		close(recording->fd);
	for (size_t i = 0; i < recording->segment_count; i++)
		free(recording->segments[i].damage);
	free(recording->segments);
	free(recording->lines);
	buffer_clear(&recording->bytes);
	free(recording->path);
	free(recording);
}
