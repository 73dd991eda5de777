#include "engine/record.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <signal.h>
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
#include "base/log.h"
#include "base/loop.h"
#include "base/map.h"
#include "base/pack.h"
#include "engine/engine.h"
#include "engine/frame-locals.h"
#include "engine/recording.h"
#include "engine/recordline.h"
#include "engine/request.h"
#include "model/place.h"
#include "model/session.h"
#include "model/snapshot.h"
#include "model/source.h"
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
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);

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
		ssize_t count = pread(from, bytes, sizeof(bytes), at);

		if (count <= 0 || file_write(to, bytes, (size_t)count) < 0)
			return -1;
		at += count;
	}
	return 0;
}

int record_copy(struct record *record, const char *path, struct error *error)
{
	int from;
	int to;
	int result;

	if (end_segment(record, error) < 0)
		return -1;
	from = open(record->path, O_RDONLY | O_CLOEXEC);
	if (from < 0)
		return error_set_errno(error, errno, "cannot copy the recording %s", record->path);
	to = record_make_file(path, error);
	result = to < 0 ? -1 : copy_bytes(from, to, record->segment_at);
	if (to >= 0 && result < 0)
		error_set_errno(error, errno, "cannot copy the recording to %s", path);
	close(from);
	if (to >= 0)
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

/*
 * The functions below request the source files of user frames for the recording of a shell command,
 * since the recording may be viewed on a machine that lacks the files. Each file is requested once.
 */

/* Maximum number of source files in a recording; programs with more files generate code. */
#define FILES_MAXIMUM 256

static void record_source_ask(struct engine *engine, struct request_group *group,
			      const struct process *process, const struct frame *frame)
{
	const char *path = frame->code->file;
	json_t *arguments;

	if (!place_is_user(process, frame) ||
	    strmap_count(engine->recording.sources) >= FILES_MAXIMUM ||
	    strmap_find(engine->recording.sources, path))
		return;
	strmap_put(engine->recording.sources, path, engine);
	arguments = json_pack("{s:i}", "pid", (int)process->pid);
	json_set_text(arguments, "path", path);
	request_group_add(group, process->rank, "source", arguments, NULL);
}

static void record_source_ask_rank(struct engine *engine, struct request_group *group,
				   const struct rank *rank)
{
	if (rank->process.state == PROCESS_EXITED)
		return;
	for (size_t i = 0; i < rank->thread_count; i++) {
		const struct stack *stack = rank->threads[i].sample.stack;

		for (size_t j = 0; stack && j < stack->frame_count; j++)
			record_source_ask(engine, group, &rank->process, &stack->frames[j]);
	}
	for (size_t i = 0; i < rank->child_count; i++)
		record_source_ask_rank(engine, group, rank->children[i]);
}

void engine_record_sources(struct engine *engine)
{
	struct request_group *group;

	if (!engine_record_path(engine))
		return;
	if (!engine->recording.sources)
		engine->recording.sources = strmap_new(NULL);
	group = request_group_new(engine, NULL, NULL, NULL);
	for (size_t i = 0; i < engine->session.rank_count; i++)
		record_source_ask_rank(engine, group, engine->session.ranks[i]);
	request_group_wait(group, engine->settings.timeout);
	request_group_free(group);
}

/* With --record-locals: requests the locals of every frame as they are now. */
static void record_locals(struct engine *engine)
{
	struct rankset all = RANKSET_INIT;

	if (engine->settings.wants_locals && engine_record_path(engine))
		frame_locals_free(frame_locals_new(engine, &all, false));
}

/* With --record-output: requests the last output lines of each rank. */
static void record_output(struct engine *engine)
{
	const struct session *session = &engine->session;
	struct request_group *group;

	if (!engine->settings.wants_output || !engine_record_path(engine))
		return;
	group = request_group_new(engine, NULL, NULL, NULL);
	for (size_t i = 0; i < session->rank_count; i++) {
		const struct process *process = &session->ranks[i]->process;

		if (process->pid > 0 && process->state != PROCESS_EXITED)
			request_group_add(group, process->rank, "output",
					  json_pack("{s:i}", "pid", (int)process->pid), NULL);
	}
	request_group_wait(group, engine->settings.timeout);
	request_group_free(group);
}

void engine_record_extras(struct engine *engine)
{
	record_locals(engine);
	record_output(engine);
}

/* The functions below start and stop the engine's recording and flush it periodically. */

/* Period of flushes in seconds: half of the second of data that a killed recorder may lose. */
#define FLUSH_SECONDS 0.5
/* Maximum number of packed bytes that engine_keep() keeps in memory, for any number of seconds. */
#define KEEP_MAXIMUM ((size_t)256 << 20)

/* Logs why the recording has stopped, which the recorder says only once. */
static void note_failure(struct engine *engine, const struct error *error)
{
	engine->recording.has_failed = true;
	log_write(LOG_ERROR, "%s", error->message);
}

static void on_flush_due(void *data)
{
	struct engine *engine = data;
	struct error error = ERROR_INIT;

	if (record_flush(engine->recording.record, &error) < 0)
		note_failure(engine, &error);
}

void engine_record_line(struct engine *engine, const struct message *message, const char *line,
			size_t length)
{
	struct error error = ERROR_INIT;

	if (engine->recording.record &&
	    record_line(engine->recording.record, &engine->session, message, line, length,
			engine_now(engine), &error) < 0)
		note_failure(engine, &error);
}

void engine_record_end(struct engine *engine, int number)
{
	char *signal = number > 0 ? xasprintf("SIG%s", sigabbrev_np(number)) : NULL;
	struct error error = ERROR_INIT;

	if (engine_record_path(engine) &&
	    record_end(engine->recording.record, signal, engine_now(engine), &error) < 0)
		note_failure(engine, &error);
	free(signal);
}

int engine_record_copy(struct engine *engine, const char *path, struct error *error)
{
	return record_copy(engine->recording.record, path, error);
}

/* Ends the recording, and then the program, unless the command handles the signal by itself. */
static void record_on_signal(int number, void *data)
{
	struct engine *engine = data;

	if (engine->handled_signals & 1u << number)
		return;
	engine_record_end(engine, number);
	signal(number, SIG_DFL);
	raise(number);
}

static const int end_signals[] = { SIGINT, SIGTERM, SIGHUP };

static void watch_signals(struct engine *engine)
{
	struct record_state *state = &engine->recording;

	for (size_t i = 0; i < ARRAY_LENGTH(end_signals); i++)
		state->signals[i] =
			loop_signal(engine->loop, end_signals[i], record_on_signal, engine);
}

static void unwatch_signals(struct record_state *state)
{
	for (size_t i = 0; i < ARRAY_LENGTH(state->signals); i++) {
		if (state->signals[i])
			loop_signal_stop(state->signals[i]);
		state->signals[i] = NULL;
	}
}

/*
 * Records a known source file as the answer to a request, as the session will not request the file
 * again.
 */
static void add_source(size_t node, pid_t pid, const struct source *source, void *data)
{
	struct engine *engine = data;
	struct message request;
	struct message answer;
	struct buffer line = BUFFER_INIT;
	json_t *body;

	if (node != 0 || !source->content)
		return;
	body = json_pack("{s:i, s:b}", "pid", (int)pid, "changed", source->is_changed);
	json_set_text(body, "path", source->path);
	json_set_text(body, "content", source->content);
	message_make_request(&request, "source", NULL);
	message_make_response(&answer, &request, body, NULL);
	message_append(&line, &answer);
	engine_record_line(engine, &answer, line.data, line.length - 1);
	buffer_clear(&line);
	message_clear(&answer);
	message_clear(&request);
}

/* Before the node is started, the session has no state for a first snapshot. */
static void recorder_begin(struct engine *engine)
{
	if (engine->settings.wants_locals)
		record_want_variables(engine->recording.record);
	if (engine->settings.wants_output)
		record_want_output(engine->recording.record);
	if (engine->session.node_count > 0)
		record_begin(engine->recording.record, &engine->session, engine_now(engine));
}

int engine_record(struct engine *engine, const char *path, struct error *error)
{
	if (engine_record_path(engine))
		return error_set(error,
				 "already recording to %s: use `record` without a file to stop",
				 engine_record_path(engine));
	if (engine->replay)
		return error_set(error, "a replay cannot be recorded");
	if (engine->recording.record) {
		if (record_save(engine->recording.record, path, error) < 0)
			return -1;
	} else {
		engine->recording.record = record_new(path, error);
		if (!engine->recording.record)
			return -1;
		recorder_begin(engine);
	}
	if (!engine->loop)
		engine->loop = loop_new();
	engine->recording.timer =
		loop_timer(engine->loop, FLUSH_SECONDS, FLUSH_SECONDS, on_flush_due, engine);
	if (!engine->is_screen)
		watch_signals(engine);
	session_each_source(&engine->session, add_source, engine);
	return 0;
}

void engine_keep(struct engine *engine, double seconds)
{
	if (engine->recording.record)
		return;
	engine->recording.record = record_new_ring(seconds, KEEP_MAXIMUM);
	recorder_begin(engine);
}

void engine_record_stop(struct engine *engine)
{
	unwatch_signals(&engine->recording);
	engine_record_end(engine, 0);
	if (engine->recording.timer)
		loop_timer_stop(engine->recording.timer);
	engine->recording.timer = NULL;
	record_free(engine->recording.record);
	engine->recording.record = NULL;
}

const char *engine_record_path(const struct engine *engine)
{
	return engine->recording.record ? record_path(engine->recording.record) : NULL;
}
