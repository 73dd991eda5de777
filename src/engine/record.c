#include "engine/record.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "banned.h"
#include "base/alloc.h"
#include "base/array.h"
#include "base/buffer.h"
#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "base/pack.h"
#include "engine/recording.h"
#include "engine/recordline.h"
#include "model/session.h"
#include "model/snapshot.h"
#include "protocol/message.h"
#include "protocol/stack.h"

#define WRITE_LENGTH 65536
#define RING_SEGMENTS 4 /* minimum number of segments per ring; the last one is being written */
#define RING_SEGMENT_SECONDS 2.0

/* A finished segment of a ring. */
struct kept {
	struct buffer bytes;
	double last;
};

struct record {
	char *path;
	int fd;		     /* -1: a ring, or the file could not be written */
	double ring;	     /* seconds that a ring keeps in memory; 0: not a ring, but a file */
	size_t ring_maximum; /* maximum number of bytes that a ring keeps in memory */
	bool is_ended;	     /* the file could not be written: nothing is recorded any more */
	struct recordline_rules rules;
	struct kept *kept; /* finished segments of a ring, oldest first */
	size_t kept_count;
	size_t kept_capacity;
	struct pack *pack; /* packs the current segment; NULL: none */
	struct recording_segment segment;
	uint64_t snapshot_length; /* length of the text of the segment's first line, the snapshot */
	struct stack_table *stacks; /* stacks that the current segment has defined */
	uint64_t step;		    /* session->step after the last line */
	struct buffer bytes;	    /* file: bytes not written yet; ring: the current segment */
	off_t segment_at;	    /* file offset of the segment's beginning */
	bool is_flushed;	    /* every added line can be unpacked so far */
};

static int record_make_file(const char *path, struct error *error)
{
	int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);

	if (fd < 0 && errno == EEXIST)
		return error_set(error, "%s already exists: give a new file for the recording",
				 path);
	if (fd < 0)
		return error_set_errno(error, errno, "cannot create the recording %s", path);
	return fd;
}

struct record *record_new(const char *path, struct error *error)
{
	struct record *record;
	int fd = record_make_file(path, error);

	if (fd < 0)
		return NULL;
	record = xcalloc(1, sizeof(*record));
	record->path = xstrdup(path);
	record->fd = fd;
	recordline_rules_init(&record->rules);
	buffer_init(&record->bytes, 0);
	return record;
}

struct record *record_new_ring(double seconds, size_t maximum)
{
	struct record *record = xcalloc(1, sizeof(*record));

	record->fd = -1;
	record->ring = seconds;
	record->ring_maximum = maximum;
	recordline_rules_init(&record->rules);
	buffer_init(&record->bytes, 0);
	return record;
}

void record_want_variables(struct record *record)
{
	record->rules.extras |= RECORDLINE_VARIABLES;
}

void record_want_output(struct record *record)
{
	record->rules.extras |= RECORDLINE_OUTPUT;
}

const char *record_path(const struct record *record)
{
	return record->path;
}

/* Closes the file, as nothing more can be recorded; returns -1. */
static int abandon(struct record *record)
{
	close(record->fd);
	record->fd = -1;
	record->is_ended = true;
	return -1;
}

/* Closes the file after a write error (errno), sets the error and returns -1. */
static int record_fail(struct record *record, struct error *error)
{
	error_set_errno(error, errno, "recording to %s stopped", record->path);
	return abandon(record);
}

/* True if the file has no name any more: all that is written is lost when it is closed. */
static bool is_removed(const struct record *record)
{
	struct stat status;

	return fstat(record->fd, &status) == 0 && status.st_nlink == 0;
}

static int write_bytes(struct record *record, struct error *error)
{
	if (record->fd < 0)
		return 0;
	if (is_removed(record)) {
		error_set(error, "recording to %s stopped: the file was removed", record->path);
		return abandon(record);
	}
	if (file_write(record->fd, record->bytes.data, record->bytes.length) < 0)
		return record_fail(record, error);
	buffer_reset(&record->bytes);
	return 0;
}

int record_flush(struct record *record, struct error *error)
{
	if (record->is_ended || record->is_flushed || !record->pack)
		return 0;
	pack_flush(record->pack, &record->bytes);
	record->is_flushed = true;
	return write_bytes(record, error);
}

/*
 * Drops segments that ended more than record->ring seconds ago, and the oldest segments while all
 * segments together exceed ring_maximum bytes; keeps the newest segment.
 */
static void drop_old(struct record *record, double now)
{
	size_t count = 0;
	size_t length = 0;

	for (size_t i = 0; i < record->kept_count; i++)
		length += record->kept[i].bytes.length;
	while (count + 1 < record->kept_count &&
	       (record->kept[count].last < now - record->ring || length > record->ring_maximum)) {
		length -= record->kept[count].bytes.length;
		buffer_clear(&record->kept[count++].bytes);
	}
	record->kept_count -= count;
	memmove(record->kept, record->kept + count, record->kept_count * sizeof(*record->kept));
}

static void keep_segment(struct record *record)
{
	ARRAY_GROW(record->kept, record->kept_count, record->kept_capacity);
	record->kept[record->kept_count++] = (struct kept){
		.bytes = record->bytes,
		.last = record->segment.last,
	};
	buffer_init(&record->bytes, 0);
	drop_old(record, record->segment.last);
}

/* Completes the note in the segment's header, as the segment's end and length are now known. */
static int write_note(struct record *record, struct error *error)
{
	unsigned char note[RECORDING_SEGMENT_NOTE_LENGTH];
	off_t end;

	if (record->ring > 0) {
		record->segment.packed_length = record->bytes.length;
		recording_segment_to_note(&record->segment, note);
		memcpy(record->bytes.data + PACK_NOTE_OFFSET, note, sizeof(note));
		return 0;
	}
	end = lseek(record->fd, 0, SEEK_CUR);
	record->segment.packed_length = (uint64_t)(end - record->segment_at);
	recording_segment_to_note(&record->segment, note);
	if (end < 0 ||
	    pwrite(record->fd, note, sizeof(note), record->segment_at + PACK_NOTE_OFFSET) < 0)
		return record_fail(record, error);
	record->segment_at = end;
	return 0;
}

static int end_segment(struct record *record, struct error *error)
{
	int result = 0;

	if (!record->pack)
		return 0;
	pack_finish(record->pack, &record->bytes);
	pack_free(record->pack);
	record->pack = NULL;
	stack_table_free(record->stacks);
	record->stacks = NULL;
	if (record->is_ended)
		return 0;
	result = write_bytes(record, error);
	if (result == 0)
		result = write_note(record, error);
	if (result == 0 && record->ring > 0)
		keep_segment(record);
	return result;
}

void record_free(struct record *record)
{
	if (!record)
		return;
	end_segment(record, NULL);
	if (record->fd >= 0)
		close(record->fd);
	for (size_t i = 0; i < record->kept_count; i++)
		buffer_clear(&record->kept[i].bytes);
	free(record->kept);
	buffer_clear(&record->bytes);
	recordline_rules_clear(&record->rules);
	free(record->path);
	free(record);
}

static uint64_t microseconds_of(double time)
{
	return (uint64_t)(time > 0 ? time * 1e6 : 0);
}

/* line is a JSON object; "time" is put first, where a reader finds it quickly. */
static void record_add_line(struct record *record, const char *line, size_t length, double time)
{
	uint64_t microseconds = microseconds_of(time);
	struct buffer timed = BUFFER_INIT;

	buffer_printf(&timed, "{\"time\":%" PRIu64 ".%06" PRIu64 ",", microseconds / 1000000,
		      microseconds % 1000000);
	buffer_append(&timed, line + 1, length - 1);
	buffer_append_char(&timed, '\n');
	pack_add(record->pack, &record->bytes, timed.data, timed.length);
	record->segment.last = (double)microseconds / 1e6;
	record->segment.line_count++;
	record->segment.length += timed.length;
	record->is_flushed = false;
	buffer_clear(&timed);
}

static void add_snapshot(struct record *record, const struct session *session, double time)
{
	struct message message;
	struct buffer line = BUFFER_INIT;
	struct timespec wall;
	json_t *body = snapshot_to_json(session, 0, record->stacks);

	recordline_mask_snapshot(body, &record->rules);
	clock_gettime(CLOCK_REALTIME, &wall);
	json_object_set_new(body, "wall",
			    json_real((double)wall.tv_sec + (double)wall.tv_nsec / 1e9));
	message_make_event(&message, "snapshot", body);
	message_append(&line, &message);
	record_add_line(record, line.data, line.length - 1, time);
	buffer_clear(&line);
	message_clear(&message);
}

void record_begin(struct record *record, const struct session *session, double time)
{
	unsigned char note[RECORDING_SEGMENT_NOTE_LENGTH];
	double first = (double)microseconds_of(time) / 1e6;

	record->segment = (struct recording_segment){ .first = first, .last = first };
	recording_segment_to_note(&record->segment, note);
	record->pack = pack_new(note, sizeof(note));
	record->stacks = stack_table_new();
	record->step = session->step;
	add_snapshot(record, session, time);
	record->snapshot_length = record->segment.length;
}

int record_end(struct record *record, const char *signal, double time, struct error *error)
{
	struct buffer line = BUFFER_INIT;
	struct message message;
	int result;

	if (signal && record->pack && !record->is_ended) {
		message_make_event(&message, "recordingEnded",
				   json_pack("{s:s}", "signal", signal));
		message_append(&line, &message);
		record_add_line(record, line.data, line.length - 1, time);
		message_clear(&message);
		buffer_clear(&line);
	}
	result = end_segment(record, error);
	record->is_ended = true;
	return result;
}

static int copy_bytes(int from, int to, off_t length)
{
	char bytes[WRITE_LENGTH];

	for (off_t at = 0; at < length;) {
		off_t left = length - at;
		size_t part = left < (off_t)sizeof(bytes) ? (size_t)left : sizeof(bytes);
		ssize_t count = pread(from, bytes, part, at);

		if (count == 0)
			errno = EIO;
		if (count <= 0 || file_write(to, bytes, (size_t)count) < 0)
			return -1;
		at += count;
	}
	return 0;
}

int record_copy(struct record *record, const char *path, struct error *error)
{
	int to;
	int result;

	if (end_segment(record, error) < 0)
		return -1;
	if (record->fd < 0)
		return error_set(error, "cannot copy the recording %s: it could not be written",
				 record->path);
	to = record_make_file(path, error);
	if (to < 0)
		return -1;
	result = copy_bytes(record->fd, to, record->segment_at);
	if (result < 0)
		error_set_errno(error, errno, "cannot copy the recording to %s", path);
	close(to);
	return result;
}

static double seconds_of_segment(const struct record *record)
{
	double seconds = record->ring / RING_SEGMENTS;

	if (record->ring <= 0 || seconds > RECORDING_SEGMENT_SECONDS)
		return RECORDING_SEGMENT_SECONDS;
	return seconds < RING_SEGMENT_SECONDS ? RING_SEGMENT_SECONDS : seconds;
}

/* True if the segment has reached its limit of bytes or seconds. */
static bool is_segment_over(const struct record *record)
{
	const struct recording_segment *segment = &record->segment;
	double seconds = segment->last - segment->first;
	uint64_t length = segment->length - record->snapshot_length;

	if (seconds >= seconds_of_segment(record) || length >= RECORDING_SEGMENT_LENGTH_MAXIMUM)
		return true;
	return seconds >= RECORDING_SEGMENT_SECONDS_MINIMUM &&
	       (segment->line_count >= RECORDING_SEGMENT_LINES ||
		(length >= RECORDING_SEGMENT_LENGTH && length >= record->snapshot_length));
}

static void note_line(struct record *record, const struct session *session,
		      const struct message *message)
{
	if (session->step != record->step)
		record->segment.flags |= RECORDING_SEGMENT_CHANGES;
	record->step = session->step;
	if (message->type != MESSAGE_RESPONSE)
		return;
	if (strcmp(message->name, "source") == 0)
		record->segment.flags |= RECORDING_SEGMENT_SOURCES;
	if (strcmp(message->name, "tensor") == 0 || strcmp(message->name, "parameters") == 0)
		record->segment.flags |= RECORDING_SEGMENT_VALUES;
}

int record_line(struct record *record, const struct session *session, const struct message *message,
		const char *line, size_t length, double time, struct error *error)
{
	struct buffer changed = BUFFER_INIT;

	if (record->is_ended || length < 2 || line[0] != '{')
		return 0;
	if (!record->pack)
		record_begin(record, session, time);
	switch (recordline_make(&changed, message, &record->rules, session->nodes[0].stacks,
				record->stacks)) {
	case RECORDLINE_LEFT_OUT:
		break;
	case RECORDLINE_AS_IT_IS:
		record_add_line(record, line, length, time);
		break;
	case RECORDLINE_CHANGED:
		record_add_line(record, changed.data, changed.length - 1, time);
		break;
	}
	note_line(record, session, message);
	buffer_clear(&changed);
	if (is_segment_over(record)) {
		if (end_segment(record, error) < 0)
			return -1;
		record_begin(record, session, time);
	}
	return record->bytes.length < WRITE_LENGTH ? 0 : write_bytes(record, error);
}

int record_save(struct record *record, const char *path, struct error *error)
{
	int fd = record_make_file(path, error);

	if (fd < 0)
		return -1;
	for (size_t i = 0; i < record->kept_count; i++) {
		struct buffer *bytes = &record->kept[i].bytes;

		if (file_write(fd, bytes->data, bytes->length) == 0)
			continue;
		error_set_errno(error, errno, "cannot write the recording %s", path);
		close(fd);
		return -1;
	}
	for (size_t i = 0; i < record->kept_count; i++)
		buffer_clear(&record->kept[i].bytes);
	record->kept_count = 0;
	record->segment_at = lseek(fd, 0, SEEK_CUR);
	record->path = xstrdup(path);
	record->fd = fd;
	record->ring = 0;
	record->is_flushed = false;
	return record_flush(record, error);
}
