#include "backends/output.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "banned.h"
#include "backends/linux/output-file.h"
#include "backends/linux/pid-list.h"
#include "backends/linux/procfs.h"
#include "backends/node.h"
#include "backends/process-table.h"
#include "base/alloc.h"
#include "base/array.h"
#include "base/buffer.h"
#include "base/json.h"
#include "base/loop.h"
#include "base/map.h"
#include "base/text.h"
#include "protocol/message.h"
#include "protocol/process.h"
#include "protocol/rankset.h"

#define STREAM_COUNT 2
#define FOLLOWED_MAXIMUM 64 /* this number is also in the error text of output_refuse() */
#define PERIOD 0.25
/*
 * Maximum number of processes whose output files are remembered, so that the output can still be
 * read after their exit.
 */
#define NOTED_MAXIMUM 4096
/*
 * TAIL_BYTES: bytes sent at first from a single output file; TAIL_BYTES_OF_TWO: from each of two
 * files. TURN_BYTES: bytes sent from each file in each later turn.
 */
#define TAIL_BYTES (64u << 10)
#define TAIL_BYTES_OF_TWO (16u << 10)
#define TURN_BYTES (16u << 10)
/* Maximum number of turns to wait for the remaining bytes of an incomplete UTF-8 character. */
#define TURNS_WAITED_MAXIMUM 8
/* Stands for the beginning of a line that is longer than what is sent. */
#define CUT "…"
/* While more bytes than this are queued in the pipe, no output is read. */
#define WAITING_MAXIMUM (256u << 10)

struct followed {
	pid_t pid;
	uint64_t start_time;
	struct output_file streams[STREAM_COUNT];
	int waited[STREAM_COUNT]; /* turns that each stream has waited for the rest of a
				   * character */
	bool is_told;		  /* an `output` event was sent since the last request */
};

struct outputs {
	struct node *node;
	struct followed **followed;
	size_t count;
	size_t capacity;
	struct loop_timer *timer; /* starts a turn every PERIOD seconds; NULL: no process is
				   * followed */
	struct map *noted;	  /* pid -> struct followed without open files */
};

static void followed_free(void *value)
{
	struct followed *followed = value;

	for (int i = 0; i < STREAM_COUNT; i++)
		output_file_close(&followed->streams[i]);
	free(followed);
}

struct outputs *outputs_new(struct node *node)
{
	struct outputs *outputs = xcalloc(1, sizeof(*outputs));

	outputs->node = node;
	outputs->noted = map_new(followed_free);
	return outputs;
}

static void remove_at(struct outputs *outputs, size_t i)
{
	followed_free(outputs->followed[i]);
	outputs->followed[i] = outputs->followed[--outputs->count];
	if (outputs->count > 0 || !outputs->timer)
		return;
	loop_timer_stop(outputs->timer);
	outputs->timer = NULL;
}

void outputs_free(struct outputs *outputs)
{
	if (!outputs)
		return;
	while (outputs->count > 0)
		remove_at(outputs, outputs->count - 1);
	map_free(outputs->noted);
	free(outputs->followed);
	free(outputs);
}

/* A new request sends the last output again: "isFirst" marks the first event of each request. */
static void output_emit(struct outputs *outputs, struct followed *followed, const char *category,
			const char *text)
{
	json_t *body = json_object();

	json_object_set_new(body, "pid", json_integer(followed->pid));
	json_set_text(body, "category", category);
	json_set_text(body, "output", text);
	if (!followed->is_told)
		json_object_set_new(body, "isFirst", json_true());
	followed->is_told = true;
	node_emit(outputs->node, EVENT_OUTPUT, body);
}

/* Drops NUL bytes: they would end the text for json_string(), and are invisible on a terminal. */
static void drop_nuls(struct buffer *text)
{
	size_t kept = 0;

	for (size_t i = 0; i < text->length; i++)
		if (text->data[i] != '\0')
			text->data[kept++] = text->data[i];
	buffer_truncate(text, kept);
}

/*
 * Moves stream->at to the start of the next line, because the current line is read from its middle.
 * Returns false, and stream->at is unchanged, if no line begins in the next `maximum` bytes. A
 * hole, which reads as NUL bytes, ends a line: a log that was truncated while a process wrote to it
 * begins with one.
 */
static bool skip_part_of_line(struct output_file *stream, size_t maximum)
{
	struct buffer text = BUFFER_INIT;
	off_t start = stream->at;
	size_t i = 0;
	bool begins;

	output_file_read(stream, maximum, &text);
	while (i < text.length && text.data[i] != '\n' && text.data[i] != '\0')
		i++;
	begins = i < text.length;
	if (begins && text.data[i] == '\n')
		i++;
	while (i < text.length && text.data[i] == '\0')
		i++;
	stream->at = begins ? start + (off_t)i : start;
	buffer_clear(&text);
	return begins;
}

/*
 * Leaves an incomplete UTF-8 character at the end of the text to the next turn, for 8 turns at
 * most.
 */
static void hold_back(struct followed *followed, struct output_file *stream, struct buffer *text)
{
	int *waited = &followed->waited[stream->number - 1];
	size_t waiting = text_unfinished(text->data, text->length);

	*waited = waiting > 0 && waiting == text->length ? *waited + 1 : 0;
	if (*waited > TURNS_WAITED_MAXIMUM)
		return;
	buffer_truncate(text, text->length - waiting);
	stream->at -= (off_t)waiting;
}

/* turn: one pass over the output files of a process. */
struct turn {
	size_t maximum; /* maximum number of bytes sent from each file */
	bool is_first;
	bool is_last; /* no further pass follows */
};

static const struct turn usual_turn = { .maximum = TURN_BYTES };
static const struct turn last_turn = { .maximum = TURN_BYTES, .is_last = true };

/*
 * Sends the bytes that follow stream->at; if there are more than turn->maximum, only the last ones.
 */
static void emit_new(struct outputs *outputs, struct followed *followed, struct output_file *stream,
		     const struct turn *turn)
{
	off_t size = output_file_size(stream);
	off_t maximum = (off_t)turn->maximum;
	struct buffer text = BUFFER_INIT;

	if (size < stream->at) {
		output_emit(outputs, followed, "important",
			    "the output file was truncated; from its beginning:");
		stream->at = 0;
	}
	if (size - stream->at > maximum) {
		if (!turn->is_first)
			output_emit(outputs, followed, "important",
				    "some output was skipped here: the process prints faster than "
				    "probetui reads");
		stream->at = size - maximum;
		if (!skip_part_of_line(stream, turn->maximum))
			buffer_append_string(&text, CUT);
	}
	output_file_read(stream, turn->maximum, &text);
	if (!turn->is_last)
		hold_back(followed, stream, &text);
	drop_nuls(&text);
	if (text.length > 0)
		output_emit(outputs, followed, output_file_category(stream), text.data);
	buffer_clear(&text);
}

static bool output_is_same_file(const struct followed *followed)
{
	const struct output_file *out = &followed->streams[0];
	const struct output_file *err = &followed->streams[1];

	return out->fd >= 0 && err->fd >= 0 && out->device == err->device &&
	       out->inode == err->inode;
}

/* If both streams are one file, the file is sent as standard output only. */
static void emit_all(struct outputs *outputs, struct followed *followed, const struct turn *turn)
{
	struct output_file *out = &followed->streams[0];
	struct output_file *err = &followed->streams[1];

	if (out->fd >= 0)
		emit_new(outputs, followed, out, turn);
	if (output_is_same_file(followed))
		err->at = out->at;
	else if (err->fd >= 0)
		emit_new(outputs, followed, err, turn);
}

/* True if the process is alive and its pid does not belong to another process by now. */
static bool output_is_there(struct outputs *outputs, const struct followed *followed)
{
	struct procfs_stat stat;

	return procfs_stat(node_procfs(outputs->node), followed->pid, &stat) == 0 &&
	       !procfs_has_ended(&stat) && stat.start_time == followed->start_time;
}

static void open_again(struct outputs *outputs, struct followed *followed,
		       struct output_file *stream, const struct process *process)
{
	int number = stream->number;

	output_file_close(stream);
	output_file_open(stream, number, node_procfs(outputs->node), process);
	if (!output_is_there(outputs, followed)) {
		output_file_close(stream);
		return;
	}
	output_emit(outputs, followed, "important",
		    stream->path ? "the output continues in another file:" : stream->why);
}

/* Opens the new file of each stream that the process has redirected (dup2(2)). */
static void follow_changes(struct outputs *outputs, struct followed *followed,
			   const struct process *process)
{
	for (int i = 0; i < STREAM_COUNT; i++) {
		struct output_file *stream = &followed->streams[i];

		if (!output_file_has_changed(stream, process))
			continue;
		emit_all(outputs, followed, &usual_turn);
		if (stream->fd >= 0)
			emit_new(outputs, followed, stream, &last_turn);
		open_again(outputs, followed, stream, process);
	}
}

static void output_on_turn(void *data)
{
	struct outputs *outputs = data;

	if (node_waiting(outputs->node) > WAITING_MAXIMUM)
		return;
	/* Backwards, because the entries of exited processes are removed in the loop. */
	for (size_t i = outputs->count; i-- > 0;) {
		struct followed *followed = outputs->followed[i];
		const struct process *process =
			process_table_find(node_process_table(outputs->node), followed->pid);
		bool goes_on = process && output_is_there(outputs, followed);

		if (goes_on)
			follow_changes(outputs, followed, process);
		emit_all(outputs, followed, goes_on ? &usual_turn : &last_turn);
		if (!goes_on)
			remove_at(outputs, i);
	}
	node_flush(outputs->node);
}

/* Adds to `ranks` the other ranks that write their standard output or error to the same file. */
static void find_sharers(struct outputs *outputs, pid_t pid, const struct output_file *stream,
			 struct rankset *ranks)
{
	struct process_table *process_table = node_process_table(outputs->node);
	struct pid_list pids = { .pids = NULL };

	process_table_list(process_table, &pids);
	for (size_t i = 0; i < pids.count; i++) {
		const struct process *process = process_table_find(process_table, pids.pids[i]);

		if (!process || process->pid == pid || process->parent_pid != 0)
			continue;
		for (int j = 1; j <= STREAM_COUNT; j++) {
			struct output_file other = { .number = j,
						     .device = stream->device,
						     .inode = stream->inode };

			if (output_file_leads_there(&other, process))
				rankset_add(ranks, process->rank);
		}
	}
	pid_list_clear(&pids);
}

static json_t *stream_to_json(struct outputs *outputs, pid_t pid, const struct output_file *stream)
{
	struct rankset ranks = RANKSET_INIT;
	struct buffer shared = BUFFER_INIT;
	json_t *json = json_object();

	if (stream->path)
		find_sharers(outputs, pid, stream, &ranks);
	rankset_append(&shared, &ranks);
	json_set_text(json, "shared", rankset_count(&ranks) > 0 ? shared.data : NULL);
	buffer_clear(&shared);
	rankset_clear(&ranks);

	json_set_text(json, "category", output_file_category(stream));
	json_set_text(json, "path", stream->path);
	json_set_text(json, "why", stream->why);
	return json;
}

static json_t *followed_to_json(struct outputs *outputs, const struct followed *followed)
{
	json_t *body = json_object();
	json_t *streams = json_array();

	for (int i = 0; i < STREAM_COUNT; i++)
		json_array_append_new(
			streams, stream_to_json(outputs, followed->pid, &followed->streams[i]));
	if (output_is_same_file(followed))
		json_set_text(json_array_get(streams, 1), "why", "stderr: same file as stdout");
	json_object_set_new(body, "pid", json_integer(followed->pid));
	json_object_set_new(body, "streams", streams);
	return body;
}

static void output_forget(struct outputs *outputs, pid_t pid)
{
	for (size_t i = outputs->count; i-- > 0;)
		if (outputs->followed[i]->pid == pid)
			remove_at(outputs, i);
}

static void output_keep(struct outputs *outputs, struct followed *owned_followed)
{
	ARRAY_GROW(outputs->followed, outputs->count, outputs->capacity);
	outputs->followed[outputs->count++] = owned_followed;
	if (!outputs->timer)
		outputs->timer = loop_timer(node_loop(outputs->node), PERIOD, PERIOD,
					    output_on_turn, outputs);
}

static struct followed *open_streams(struct outputs *outputs, const struct process *process)
{
	struct followed *followed = xcalloc(1, sizeof(*followed));

	followed->pid = process->pid;
	followed->start_time = process->start_time;
	for (int i = 0; i < STREAM_COUNT; i++)
		output_file_open(&followed->streams[i], i + 1, node_procfs(outputs->node), process);
	return followed;
}

/*
 * Two files get fewer bytes each, because probetui keeps a limited number of lines for both streams
 * together.
 */
static size_t tail_bytes(const struct followed *followed)
{
	bool are_two = followed->streams[0].fd >= 0 && followed->streams[1].fd >= 0 &&
		       !output_is_same_file(followed);

	return are_two ? TAIL_BYTES_OF_TWO : TAIL_BYTES;
}

/* Returns the reason why the output cannot be shown, or NULL if it can. */
static const char *output_refuse(struct outputs *outputs, const struct followed *followed,
				 bool is_on)
{
	struct procfs_stat stat;

	if (procfs_stat(node_procfs(outputs->node), followed->pid, &stat) == 0 &&
	    stat.start_time != followed->start_time)
		return "the process has exited, and another process has its pid";
	if (is_on && outputs->count >= FOLLOWED_MAXIMUM)
		return "the output of 64 processes (the maximum) is followed already: stop "
		       "following one first";
	return NULL;
}

/* Notes the new file of each stream that the process has redirected. */
static void note_changes(struct outputs *outputs, struct followed *noted,
			 const struct process *process)
{
	for (int i = 0; i < STREAM_COUNT; i++) {
		struct output_file *stream = &noted->streams[i];

		if (!output_file_has_changed(stream, process))
			continue;
		output_file_close(stream);
		output_file_note(stream, i + 1, node_procfs(outputs->node), process);
	}
}

void outputs_remember(struct outputs *outputs, const struct process *process)
{
	struct followed *noted = map_find(outputs->noted, (uint64_t)process->pid);

	if (noted && noted->start_time == process->start_time) {
		note_changes(outputs, noted, process);
		return;
	}
	if (!noted && map_count(outputs->noted) >= NOTED_MAXIMUM)
		return;
	noted = xcalloc(1, sizeof(*noted));
	noted->pid = process->pid;
	noted->start_time = process->start_time;
	for (int i = 0; i < STREAM_COUNT; i++)
		output_file_note(&noted->streams[i], i + 1, node_procfs(outputs->node), process);
	map_put(outputs->noted, (uint64_t)process->pid, noted);
}

bool outputs_request_ended(struct outputs *outputs, pid_t pid, const struct message *request)
{
	const struct followed *noted = map_find(outputs->noted, (uint64_t)pid);
	struct followed *followed;

	if (!noted || json_is_false(json_object_get(request->body, "on")))
		return false;
	followed = xcalloc(1, sizeof(*followed));
	followed->pid = pid;
	followed->start_time = noted->start_time;
	for (int i = 0; i < STREAM_COUNT; i++)
		output_file_open_noted(&followed->streams[i], &noted->streams[i]);
	emit_all(outputs, followed,
		 &(struct turn){
			 .maximum = tail_bytes(followed), .is_first = true, .is_last = true });
	node_respond(outputs->node, request, followed_to_json(outputs, followed), NULL);
	followed_free(followed);
	return true;
}

const char *outputs_read_last(struct outputs *outputs, pid_t pid, int number, size_t maximum,
			      struct buffer *out)
{
	const struct followed *noted = map_find(outputs->noted, (uint64_t)pid);
	struct output_file stream;
	off_t size;

	if (!noted || !noted->streams[number - 1].path)
		return NULL;
	output_file_open_noted(&stream, &noted->streams[number - 1]);
	size = output_file_size(&stream);
	if (size > (off_t)maximum) {
		stream.at = size - (off_t)maximum;
		skip_part_of_line(&stream, maximum);
	}
	if (stream.fd >= 0)
		output_file_read(&stream, maximum, out);
	drop_nuls(out);
	output_file_close(&stream);
	return noted->streams[number - 1].path;
}

void outputs_request(struct outputs *outputs, const struct process *process,
		     const struct message *request)
{
	const json_t *on = json_object_get(request->body, "on");
	bool is_on = json_is_true(on);
	struct followed *followed;
	const char *why;

	output_forget(outputs, process->pid);
	if (json_is_false(on)) {
		node_respond(outputs->node, request, NULL, NULL);
		return;
	}
	followed = open_streams(outputs, process);
	why = output_refuse(outputs, followed, is_on);
	if (why) {
		node_respond(outputs->node, request, NULL, why);
		followed_free(followed);
		return;
	}
	emit_all(outputs, followed,
		 &(struct turn){
			 .maximum = tail_bytes(followed), .is_first = true, .is_last = !is_on });
	node_respond(outputs->node, request, followed_to_json(outputs, followed), NULL);
	if (is_on)
		output_keep(outputs, followed);
	else
		followed_free(followed);
}
