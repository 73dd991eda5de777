/*
 * record: what a recording of several segments shows when it is entered at any
 * time, kept in memory, cut, damaged, or put together with another.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "banned.h"
#include "base/alloc.h"
#include "base/array.h"
#include "base/buffer.h"
#include "base/error.h"
#include "base/pack.h"
#include "engine/record.h"
#include "engine/recording.h"
#include "engine/replay.h"
#include "model/snapshot.h"
#include "protocol/message.h"
#include "protocol/collectives.h"
#include "protocol/stack.h"
#include "scene.h"

#define STEP_SECONDS 0.5
#define HANG_AT 100.0
#define END 150.0
#define LAST (END - STEP_SECONDS)

static char path[64];
static char other[64];

static void write_line(const struct scene *scene, const struct message *message, void *data)
{
	struct buffer line = BUFFER_INIT;

	message_append(&line, message);
	assert_int_equal(record_line(data, &scene->session, message, line.data, line.length - 1,
				     scene->now, NULL),
			 0);
	buffer_clear(&line);
}

/* A training loop: where the ranks are in the n-th half second. */
static void look(struct scene *scene, int n)
{
	static const char *const stacks[] = {
		"forward model.py:3 < train train.py:14 < <module> train.py:19",
		"backward model.py:9 < train train.py:15 < <module> train.py:19",
		LOADS,
	};
	bool is_hung = scene->now >= HANG_AT;

	for (int rank = 0; rank < 4; rank++) {
		struct seen moves = {
			.pid = 100 + rank,
			.stack = stacks[(n + rank) % 3],
			.state = "running",
			.cpu = scene->now,
			.switches = (uint64_t)n * 9,
		};
		struct seen waits = WAITS(100 + rank, 17);
		struct seen loads = { .pid = 102, .stack = LOADS };

		if (is_hung && rank == 1 && scene->now >= HANG_AT + 20)
			continue; /* it has gone */
		if (is_hung && rank == 2)
			assert_int_equal(scene_see(scene, &loads), 0);
		else
			assert_int_equal(scene_see(scene, is_hung ? &waits : &moves), 0);
	}
}

/* Rank 3 stands in a debugger from then on. */
static void hold(struct scene *scene)
{
	assert_int_equal(
		scene_text(scene, "stopped",
			   "{'pid':103,'state':'stopped','backend':'pdb','target':'pdb:unix:/tmp/"
			   "pdb.sock.3','stops':2,'post_mortem':true,'tid':103,'held':1.5,'"
			   "exception':'ValueError: "
			   "nan','value':'7','breakpoints':[{'id':1,'number':2,'line':9,'path':'/"
			   "job/train.py'}]}"),
		0);
}

/* A job of four that trains, drops its stacks, hangs, and loses rank 1. */
static void live(struct scene *scene, struct record *record)
{
	scene_init(scene);
	scene->sent = write_line;
	scene->sent_data = record;
	scene_start(scene, 4);
	assert_int_equal(scene_text(scene, "rankAdded",
				    "{'pid':500,'parent_pid':103,'rank':3,'role':'dataloader','"
				    "start_time':500,'state':'live','job':'127.0.0.1:29500'}"),
			 0);
	/* It is looked at once, so each snapshot has to tell of it. */
	assert_int_equal(
		scene_text(scene, "sampled",
			   "{'pid':500,'epoch':1,'time':1,'stacks':[{'id':9001,'codes':[[9001,'"
			   "poll',null,'libc.so.6',0,1]],'frames':[[9001,0]]},{'id':9002,'codes':[["
			   "9002,'get',null,'q.py',3,0]],'frames':[[9002,7]]}],'threads':[{'tid':"
			   "500,'is_main':true,'state':'blocked','stack':9002,'native':9001}]}"),
		0);
	for (int n = 0; scene->now < END; n++) {
		look(scene, n);
		if (n == 90)
			scene_drop_stacks(scene);
		if (n == 95)
			hold(scene);
		if (scene->now == HANG_AT + 20)
			assert_int_equal(
				scene_text(scene, "rankRemoved",
					   "{'pid':101,'rank':1,'start_time':101,'state':'exited','"
					   "exit_code':1,'job':'127.0.0.1:29500'}"),
				0);
		scene_wait(scene, STEP_SECONDS);
	}
}

static void follow(struct replay *replay, struct session *session, double until)
{
	struct error error = ERROR_INIT;
	struct replay_line line;

	while (replay_next(replay, until, &line, &error) > 0) {
		session_apply(session, line.node, &line.message, line.time, &error);
		assert_string_equal(error.message, "");
		message_clear(&line.message);
	}
	assert_string_equal(error.message, "");
	session->now = until;
	session_judge(session);
}

static void session_make(struct session *session, const struct replay *replay)
{
	session_init(session);
	session->is_replay = true;
	for (size_t i = 0; i < replay_count(replay); i++)
		session_add_node(session, "");
}

static void check_stacks(const struct stack *a, const struct stack *b)
{
	if (!a || !b) {
		assert_ptr_equal(a, b);
		return;
	}
	assert_int_equal(a->frame_count, b->frame_count);
	for (size_t i = 0; i < a->frame_count; i++) {
		assert_string_equal(a->frames[i].code->func, b->frames[i].code->func);
		assert_int_equal(a->frames[i].lineno, b->frames[i].lineno);
	}
}

static void check_debuggers(const struct rank *a, const struct rank *b)
{
	const struct debugger *one = &a->debugger;
	const struct debugger *two = &b->debugger;

	assert_int_equal(one->state, two->state);
	if (one->state == DEBUGGER_NONE)
		return;
	assert_float_equal(a->debugger_at, b->debugger_at, 1e-6);
	assert_float_equal(one->held, two->held, 1e-6);
	assert_int_equal(one->stops, two->stops);
	assert_string_equal(one->exception, two->exception);
	assert_int_equal(one->binding_count, two->binding_count);
}

static void check_ranks(const struct rank *a, const struct rank *b, double now)
{
	assert_int_equal(a->process.pid, b->process.pid);
	assert_int_equal(a->state, b->state);
	assert_string_equal(a->error ? a->error : "", b->error ? b->error : "");
	check_debuggers(a, b);
	assert_int_equal(a->child_count, b->child_count);
	assert_int_equal(a->thread_count, b->thread_count);
	assert_int_equal(a->sample_count, b->sample_count);
	assert_float_equal(a->last_moved_at, b->last_moved_at, 1e-6);
	assert_float_equal(a->last_changed_at, b->last_changed_at, 1e-6);
	assert_float_equal(a->ended_at, b->ended_at, 1e-6);
	assert_float_equal(a->told_at, b->told_at, 1e-6);
	assert_float_equal(a->cpu_share, b->cpu_share, 1e-6);
	assert_int_equal(a->memory, b->memory);
	assert_int_equal(rank_is_moving(a), rank_is_moving(b));
	for (size_t i = 0; i < a->thread_count; i++) {
		assert_float_equal(a->threads[i].since, b->threads[i].since, 1e-6);
		assert_float_equal(a->threads[i].usual_share, b->threads[i].usual_share, 1e-6);
		assert_int_equal(a->threads[i].sample_count, b->threads[i].sample_count);
		check_stacks(a->threads[i].sample.stack, b->threads[i].sample.stack);
		check_stacks(a->threads[i].sample.native, b->threads[i].sample.native);
	}
	for (size_t i = 0; i < a->child_count; i++)
		check_ranks(a->children[i], b->children[i], now);
	for (double ago = 0; ago < 60; ago += 7)
		check_stacks(rank_stack_at(a, now - ago), rank_stack_at(b, now - ago));
}

static void check_sessions(const struct session *a, const struct session *b)
{
	assert_string_equal(a->verdict.sentence, b->verdict.sentence);
	assert_int_equal(a->verdict.state, b->verdict.state);
	assert_int_equal(a->rank_count, b->rank_count);
	assert_string_equal(a->nodes[0].name, b->nodes[0].name);
	for (size_t i = 0; i < a->rank_count; i++)
		check_ranks(a->ranks[i], b->ranks[i], a->now);
}

static struct replay *open_one(void)
{
	struct error error = ERROR_INIT;
	struct replay *replay = replay_new((char *[]){ path }, 1, &error);

	assert_string_equal(error.message, "");
	return replay;
}

/* Sought from both sides, it is what playing to there shows. */
static void any_time_is_as_if_played(void **state)
{
	static const double times[] = { LAST, 30, 61, 99.9, 101, 119, 121, 0 };
	struct record *record = record_new(path, NULL);
	struct scene scene;
	struct replay *replay;

	(void)state;
	live(&scene, record);
	record_free(record);
	scene.session.now = LAST;
	session_judge(&scene.session);
	replay = open_one();
	for (size_t i = 0; i < ARRAY_LENGTH(times); i++) {
		struct session played;
		struct session sought;

		session_make(&played, replay);
		replay_seek(replay, 0);
		follow(replay, &played, times[i]);
		session_make(&sought, replay);
		replay_seek(replay, times[i]);
		follow(replay, &sought, times[i]);
		check_sessions(&played, &sought);
		if (times[i] == LAST)
			check_sessions(&played, &scene.session);
		session_clear(&sought);
		session_clear(&played);
	}
	replay_free(replay);
	scene_clear(&scene);
}

static void changes_are_found(void **state)
{
	struct record *record = record_new(path, NULL);
	struct scene scene;
	struct replay *replay;
	double time;

	(void)state;
	live(&scene, record);
	record_free(record);
	replay = open_one();
	/* The last is the end of rank 1, before it the hang. */
	time = replay_find_change(replay, END, false);
	assert_float_equal(time, HANG_AT + 20, 1e-3);
	time = replay_find_change(replay, time, false);
	assert_float_equal(time, HANG_AT, 1e-3);
	time = replay_find_change(replay, time, false);
	assert_float_equal(time, HANG_AT - STEP_SECONDS, 1e-3);
	/* From segment to segment, and back to where it was. */
	time = replay_find_change(replay, HANG_AT, true);
	assert_float_equal(time, HANG_AT + 20, 1e-3);
	assert_true(replay_find_change(replay, HANG_AT + 20, true) == -1);
	assert_true(replay_find_change(replay, 0, false) == -1);
	replay_free(replay);
	scene_clear(&scene);
}

static void a_ring_keeps_the_end(void **state)
{
	struct record *record = record_new_ring(20, SIZE_MAX);
	struct error error = ERROR_INIT;
	struct scene scene;
	struct replay *replay;
	struct session session;

	(void)state;
	live(&scene, record);
	assert_null(record_path(record));
	assert_int_equal(record_save(record, path, &error), 0);
	assert_string_equal(record_path(record), path);
	/* It goes on in the file. */
	look(&scene, 0);
	record_free(record);
	session_judge(&scene.session);
	replay = open_one();
	assert_true(replay_first_time(replay) <= END - 20);
	assert_true(replay_first_time(replay) > END - 35);
	assert_float_equal(replay_end_time(replay), END, 1e-3);
	session_make(&session, replay);
	follow(replay, &session, END);
	check_sessions(&session, &scene.session);
	session_clear(&session);
	replay_free(replay);
	scene_clear(&scene);
}

static size_t count_segments(void)
{
	struct error error = ERROR_INIT;
	struct recording_budget budget;
	struct recording *recording;
	size_t count;

	recording_budget_init(&budget);
	recording = recording_new(path, &budget, &error);
	assert_string_equal(error.message, "");
	count = recording->segment_count;
	recording_free(recording);
	return count;
}

static void a_ring_has_a_maximum(void **state)
{
	struct record *record = record_new_ring(12 * 3600.0, 1000);
	struct error error = ERROR_INIT;
	struct scene scene;

	(void)state;
	live(&scene, record);
	assert_int_equal(record_save(record, path, &error), 0);
	record_free(record);
	scene_clear(&scene);
	/* One that has ended, and the one that is being written. */
	assert_int_equal(count_segments(), 2);
}

/* However long it is: else each line would bring a snapshot. */
static void a_snapshot_is_the_smaller_part(void **state)
{
	size_t length = RECORDING_SEGMENT_LENGTH + 1;
	char *text = xcalloc(1, length + 1);
	struct error error = ERROR_INIT;
	struct record *record = record_new(path, &error);
	struct scene scene;

	(void)state;
	memset(text, 'a', length);
	scene_init(&scene);
	scene_start(&scene, 4);
	scene_response(&scene, "discover",
		       json_pack("{s:i,s:i,s:[{s:i,s:s}]}", "looked_at", 41, "uid", 1000,
				 "bystanders", "pid", 7, "why", text));
	free(text);
	scene.sent = write_line;
	scene.sent_data = record;
	for (int n = 0; n < 10; n++) {
		look(&scene, n);
		scene_wait(&scene, RECORDING_SEGMENT_SECONDS_MINIMUM + 0.5);
	}
	record_free(record);
	scene_clear(&scene);
	assert_int_equal(count_segments(), 1);
}

/* A snapshot is not made more often than every few seconds. */
static void many_lines_are_one_segment(void **state)
{
	struct error error = ERROR_INIT;
	struct record *record = record_new(path, &error);
	struct scene scene;

	(void)state;
	scene_init(&scene);
	scene_start(&scene, 4);
	scene.sent = write_line;
	scene.sent_data = record;
	for (unsigned int n = 0; n < RECORDING_SEGMENT_LINES; n++)
		scene_event(
			&scene, "progress",
			json_pack("{s:s,s:i,s:i}", "title", "symbols", "done", (int)n, "total", 9));
	scene_wait(&scene, RECORDING_SEGMENT_SECONDS_MINIMUM / 2);
	look(&scene, 0);
	record_free(record);
	scene_clear(&scene);
	assert_int_equal(count_segments(), 1);
}

/* Many ranks with a long past are written without a pause that shows. */
static void a_snapshot_leaves_out_what_is_old(void **state)
{
	struct stack_table *table = stack_table_new();
	struct scene scene;
	json_t *body;

	(void)state;
	scene_init(&scene);
	scene_start(&scene, 64);
	for (int n = 0; n < 64 * 256; n++) {
		char stack[80];
		struct seen seen = { .pid = 100 + n % 64, .stack = stack };

		snprintf(stack, sizeof(stack), "a t.py:%d < b t.py:%d < c t.py:%d < d t.py:9", n,
			 n + 1, n + 2);
		assert_int_equal(scene_see(&scene, &seen), 0);
	}
	body = snapshot_to_json(&scene.session, 0, table);
	assert_in_range(json_array_size(json_object_get(body, "stacks")), 64, 3000);
	json_decref(body);
	stack_table_free(table);
	scene_clear(&scene);
}

static void a_snapshot_has_what_was_called(void **state)
{
	static const char answer[] =
		"{'pid':100,'version':'2.13.0','recorded':1,'stacks':[{'id':1,'codes':[[1,'train',"
		"'train','/job/train.py',1,0]],'frames':[[1,17]]}],'groups':[{'name':'0',"
		"'ranks':[0],'seq':4}],'entries':[{'id':0,'group':0,'seq':4,'operation':'gloo:"
		"barrier','created':1,'stack':1}]}";
	struct error error = ERROR_INIT;
	struct stack_table *table = stack_table_new();
	struct scene scene;
	struct scene copy;
	struct rank *rank;

	(void)state;
	scene_init(&scene);
	scene_start(&scene, 1);
	scene_wait(&scene, 3);
	assert_int_equal(scene_response(&scene, "collectives", scene_json(answer, &error)), 0);
	session_find_rank(&scene.session, 0)->peer = 5;
	/* Each snapshot is whole, also one that is not the first. */
	json_decref(snapshot_to_json(&scene.session, 0, table));
	scene_init(&copy);
	assert_int_equal(scene_event(&copy, "snapshot", snapshot_to_json(&scene.session, 0, table)),
			 0);
	rank = session_find_rank(&copy.session, 0);
	assert_non_null(rank);
	assert_non_null(rank->collectives);
	assert_int_equal(rank->collectives->entries[0].seq, 4);
	assert_int_equal(rank->collectives->entries[0].stack->frames[0].lineno, 17);
	assert_true(rank->collectives_at > 0);
	assert_int_equal(rank->peer, 5);
	stack_table_free(table);
	scene_clear(&copy);
	scene_clear(&scene);
}

static void read_file(struct buffer *out)
{
	FILE *file = fopen(path, "r");
	char bytes[4096];
	size_t length;

	assert_non_null(file);
	while ((length = fread(bytes, 1, sizeof(bytes), file)) > 0)
		buffer_append(out, bytes, length);
	fclose(file);
}

/* As it lies there when nobody ends it. */
static void a_killed_recorder_leaves_the_rest(void **state)
{
	struct record *record = record_new(path, NULL);
	struct error error = ERROR_INIT;
	struct buffer bytes = BUFFER_INIT;
	struct scene scene;
	struct session session;
	struct replay *replay;

	(void)state;
	live(&scene, record);
	assert_int_equal(record_flush(record, &error), 0);
	read_file(&bytes);
	replay = replay_new_bytes("cut", bytes.data, bytes.length, &error);
	assert_string_equal(error.message, "");
	assert_string_equal(replay_cut_path(replay), "cut");
	assert_float_equal(replay_end_time(replay), LAST, 1e-3);
	session_make(&session, replay);
	replay_seek(replay, END);
	follow(replay, &session, LAST);
	session_judge(&scene.session);
	assert_string_equal(session.verdict.sentence, scene.session.verdict.sentence);
	session_clear(&session);
	replay_free(replay);
	/* What is cut anywhere is read as far as it goes, or named. */
	for (size_t cut = 1; cut < bytes.length; cut += bytes.length / 40) {
		error = (struct error)ERROR_INIT;
		replay = replay_new_bytes("cut", bytes.data, bytes.length - cut, &error);
		assert_true(replay || error_is_set(&error));
		assert_true(!replay || replay_cut_path(replay));
		replay_free(replay);
	}
	record_free(record);
	buffer_clear(&bytes);
	scene_clear(&scene);
}

/* Wherever a byte is wrong: a sentence, at once or when it is played. */
static void append_member(struct buffer *out, const char *chunk, size_t count)
{
	struct pack *pack = pack_new("note", 4);

	for (size_t i = 0; i < count; i++)
		pack_add(pack, out, chunk, strlen(chunk));
	pack_finish(pack, out);
	pack_free(pack);
}

/* A few bytes that unpack to very many are no recording. */
static void what_unpacks_to_too_much_is_refused(void **state)
{
	struct buffer bytes = BUFFER_INIT;
	struct error error = ERROR_INIT;
	char *chunk = xcalloc(1, (1 << 20) + 1);

	(void)state;
	memset(chunk, ' ', 1 << 20);
	append_member(&bytes, chunk, 65);
	assert_true(bytes.length < 1 << 20);
	assert_null(replay_new_bytes("bomb", bytes.data, bytes.length, &error));
	assert_non_null(strstr(error.message, "decompressed data exceeds 64 MB"));
	buffer_clear(&bytes);
	free(chunk);
}

static void tapes_share_a_budget(void **state)
{
	static const char lines[] = "{\"time\":1,\"seq\":1,\"type\":\"event\",\"event\":\"x\"}\n";
	struct recording_budget budget = { .length = 80 };
	struct error error = ERROR_INIT;
	struct recording *recording =
		recording_new_bytes("a", lines, sizeof(lines) - 1, &budget, &error);

	(void)state;
	assert_string_equal(error.message, "");
	recording_free(recording);
	assert_int_equal(budget.length, 80 - (sizeof(lines) - 1));
	budget.length = 10;
	assert_null(recording_new_bytes("c", lines, sizeof(lines) - 1, &budget, &error));
	assert_non_null(strstr(error.message, "longer than"));
}

static void damage_is_named(void **state)
{
	struct record *record = record_new(path, NULL);
	struct buffer bytes = BUFFER_INIT;
	struct scene scene;
	size_t named = 0;

	(void)state;
	live(&scene, record);
	record_free(record);
	read_file(&bytes);
	for (size_t at = 0; at < bytes.length; at += bytes.length / 60) {
		struct error error = ERROR_INIT;
		struct replay_line line;
		struct replay *replay;

		bytes.data[at] ^= 0x55;
		replay = replay_new_bytes("bad", bytes.data, bytes.length, &error);
		assert_string_equal(error.message, "");
		while (replay_next(replay, INFINITY, &line, &error) > 0)
			message_clear(&line.message);
		for (double time = 0; time < END; time += 30) {
			const char *damage = replay_damage(replay, time);

			if (!damage)
				continue;
			assert_non_null(strstr(
				damage, "the recording bad is damaged in the part from byte"));
			named++;
			break;
		}
		replay_free(replay);
		bytes.data[at] ^= 0x55;
	}
	/* All but a few bits of no meaning. */
	assert_true(named > 50);
	buffer_clear(&bytes);
	scene_clear(&scene);
}

#define TRIALS 1000

/* The text of a segment, for free(); NULL: it cannot be read. */
static char *segment_text(struct recording *recording, size_t segment)
{
	struct recording_cursor cursor;
	char *text = NULL;
	double time;

	recording_cursor_init(&cursor, recording);
	recording_cursor_go(&cursor, segment);
	if (recording_cursor_time(&cursor, &time, NULL) > 0 && cursor.segment == segment) {
		const struct recording_line *last = &cursor.lines[cursor.line_count - 1];

		text = xstrndup(cursor.text, last->start + last->length + 1);
	}
	recording_cursor_clear(&cursor);
	return text;
}

/* A job's recording, the texts of its segments, and where each begins in the file. */
struct texts {
	struct scene scene;
	struct buffer bytes;
	char *texts[8];
	size_t starts[9];
	size_t count;
};

static void texts_record(struct texts *texts)
{
	struct record *record = record_new(path, NULL);
	struct buffer *bytes = &texts->bytes;
	struct recording_budget budget;
	struct error error = ERROR_INIT;
	struct recording *recording;

	*texts = (struct texts){ .bytes = BUFFER_INIT };
	live(&texts->scene, record);
	record_free(record);
	session_judge(&texts->scene.session);
	read_file(bytes);
	recording_budget_init(&budget);
	recording = recording_new_bytes("good", bytes->data, bytes->length, &budget, &error);
	assert_string_equal(error.message, "");
	texts->count = recording->segment_count;
	assert_in_range(texts->count, 3, ARRAY_LENGTH(texts->texts));
	for (size_t i = 0; i < texts->count; i++) {
		texts->texts[i] = segment_text(recording, i);
		texts->starts[i] = recording->segments[i].start;
	}
	texts->starts[texts->count] = bytes->length;
	recording_free(recording);
}

static void texts_clear(struct texts *texts)
{
	for (size_t i = 0; i < texts->count; i++)
		free(texts->texts[i]);
	buffer_clear(&texts->bytes);
	scene_clear(&texts->scene);
}

/* The text of the segment that begins at offset start; NULL: there is none that can be read. */
static char *text_at(struct recording *recording, size_t start)
{
	for (size_t i = 0; recording && i < recording->segment_count; i++) {
		if (recording->segments[i].start == start && !recording->segments[i].damage)
			return segment_text(recording, i);
	}
	return NULL;
}

static void one_flipped_bit_loses_one_segment(void **state)
{
	struct texts texts;

	(void)state;
	texts_record(&texts);
	for (uint64_t trial = 0; trial < TRIALS; trial++) {
		uint64_t bit = trial * 2654435761u % (texts.bytes.length * 8);
		struct recording_budget budget;
		struct error error = ERROR_INIT;
		struct recording *recording;

		recording_budget_init(&budget);
		texts.bytes.data[bit / 8] ^= (char)(1 << bit % 8);
		recording = recording_new_bytes("bad", texts.bytes.data, texts.bytes.length,
						&budget, &error);
		assert_string_equal(error.message, "");
		for (size_t i = 0; i < texts.count; i++) {
			char *text = text_at(recording, texts.starts[i]);
			bool is_hit = bit / 8 >= texts.starts[i] && bit / 8 < texts.starts[i + 1];

			/* What is not there is said to be damaged; what is there is as it was. */
			if (text)
				assert_string_equal(text, texts.texts[i]);
			else if (!is_hit)
				fail_msg("bit %lu has taken segment %zu", (unsigned long)bit, i);
			else
				assert_non_null(recording->segments[i].damage);
			free(text);
		}
		recording_free(recording);
		texts.bytes.data[bit / 8] ^= (char)(1 << bit % 8);
	}
	texts_clear(&texts);
}

static void a_cut_loses_what_is_behind_it(void **state)
{
	struct texts texts;

	(void)state;
	texts_record(&texts);
	for (uint64_t trial = 0; trial < TRIALS; trial++) {
		size_t length = (size_t)(trial * 2654435761u % texts.bytes.length);
		struct recording_budget budget;
		struct error error = ERROR_INIT;
		struct recording *recording;

		recording_budget_init(&budget);
		recording = recording_new_bytes("cut", texts.bytes.data, length, &budget, &error);
		for (size_t i = 0; i < texts.count; i++) {
			char *text = text_at(recording, texts.starts[i]);

			if (length >= texts.starts[i + 1])
				assert_string_equal(text, texts.texts[i]);
			else if (text)
				assert_memory_equal(text, texts.texts[i], strlen(text));
			if (length > texts.starts[i] && length < texts.starts[i + 1] && recording)
				assert_true(recording->is_cut);
			free(text);
		}
		recording_free(recording);
	}
	texts_clear(&texts);
}

/* Where a segment is lost, the state is that of its beginning; behind it, what it was. */
static void damage_ends_at_the_next_segment(void **state)
{
	struct texts texts;
	struct error error = ERROR_INIT;
	struct replay_line line;
	struct replay *replay;
	struct session session;
	int behind_count = 0;

	(void)state;
	texts_record(&texts);
	texts.bytes.data[(texts.starts[1] + texts.starts[2]) / 2] ^= 1;
	replay = replay_new_bytes("bad", texts.bytes.data, texts.bytes.length, &error);
	assert_string_equal(error.message, "");
	while (replay_next(replay, INFINITY, &line, &error) != 0) {
		if (error_is_set(&error)) {
			assert_non_null(strstr(error.message, "damaged in the part from byte"));
			error = (struct error)ERROR_INIT;
			continue;
		}
		behind_count += line.is_behind_damage;
		message_clear(&line.message);
	}
	assert_int_equal(behind_count, 1);
	assert_non_null(replay_damage(replay, 90));
	assert_null(replay_damage(replay, 30));
	assert_null(replay_damage(replay, END));
	session_make(&session, replay);
	replay_seek(replay, 90);
	follow(replay, &session, 90);
	assert_in_range((int)session.ranks[0]->sampled_at, 50, 61);
	session_clear(&session);
	session_make(&session, replay);
	replay_seek(replay, END);
	follow(replay, &session, END);
	check_sessions(&session, &texts.scene.session);
	session_clear(&session);
	replay_free(replay);
	texts_clear(&texts);
}

/* A damaged snapshot line begins the damage; the segment before it is read. */
static void a_damaged_snapshot_of_text_loses_its_segment(void **state)
{
#define SNAPSHOT(TIME)                                                                             \
	"{\"time\":" TIME ",\"seq\":0,\"type\":\"event\",\"event\":\"snapshot\",\"body\":{}"
	static const char lines[] = SNAPSHOT("1") "}\n" SNAPSHOT("2") "\n" SNAPSHOT("3") "}\n";
	struct error error = ERROR_INIT;
	struct replay *replay = replay_new_bytes("text", lines, sizeof(lines) - 1, &error);
	struct replay_line line;
	int count = 0;

	(void)state;
	assert_string_equal(error.message, "");
	while (replay_next(replay, INFINITY, &line, &error) != 0) {
		if (error_is_set(&error)) {
			assert_non_null(strstr(error.message, "damaged at line 2"));
			error = (struct error)ERROR_INIT;
			continue;
		}
		count++;
		message_clear(&line.message);
	}
	assert_int_equal(count, 2);
	assert_null(replay_damage(replay, 1));
	assert_non_null(replay_damage(replay, 2.5));
	assert_null(replay_damage(replay, 3));
	replay_free(replay);
}

/* What zcat gives, and what gzip makes of it again. */
static void plain_text_is_read_as_well(void **state)
{
	struct recording_budget budget;
	struct record *record = record_new(path, NULL);
	struct recording *recording;
	struct recording *plain;
	struct recording_cursor cursor;
	struct buffer text = BUFFER_INIT;
	struct error error = ERROR_INIT;
	struct scene scene;
	double time;

	(void)state;
	live(&scene, record);
	record_free(record);
	recording_budget_init(&budget);
	recording = recording_new(path, &budget, &error);
	assert_true(recording->is_packed);
	assert_true(recording->segment_count > 2);
	recording_cursor_init(&cursor, recording);
	while (recording_cursor_time(&cursor, &time, &error) > 0) {
		const struct recording_line *line = &cursor.lines[cursor.line++];

		buffer_append(&text, cursor.text + line->start, line->length);
		buffer_append_char(&text, '\n');
	}
	recording_cursor_clear(&cursor);
	plain = recording_new_bytes("plain", text.data, text.length, &budget, &error);
	assert_string_equal(error.message, "");
	assert_false(plain->is_packed);
	assert_int_equal(plain->segment_count, recording->segment_count);
	assert_true(recording_last(plain) == recording_last(recording));
	recording_free(plain);
	recording_free(recording);
	buffer_clear(&text);
	scene_clear(&scene);
}

/* A rank that waits on one machine, recorded from that clock on. */
static void write_machine(const char *name, double wall, const char *host, int rank)
{
	FILE *file = fopen(name, "w");

	assert_non_null(file);
	fprintf(file,
		"{\"time\":0,\"seq\":0,\"type\":\"event\",\"event\":\"snapshot\",\"body\":{"
		"\"host\":\"%s\",\"wall\":%.3f}}\n",
		host, wall);
	fprintf(file,
		"{\"time\":1,\"seq\":0,\"type\":\"event\",\"event\":\"rankAdded\",\"body\":{"
		"\"pid\":77,\"rank\":%d,\"local_rank\":0,\"world_size\":2,\"start_time\":5,\"job\":"
		"\"node0:29500\",\"launcher_pid\":%d,\"script\":\"t.py\",\"state\":\"live\"}}\n",
		rank, 50 + rank);
	fprintf(file, "{\"time\":2,\"seq\":1,\"type\":\"response\",\"request_seq\":1,\"success\":"
		      "true,\"command\":\"discover\",\"body\":{\"looked_at\":1,\"uid\":0}}\n");
	fclose(file);
}

static void machines_are_put_together_by_their_clocks(void **state)
{
	char *paths[] = { path, other };
	struct error error = ERROR_INIT;
	struct session session;
	struct replay *replay;
	struct replay_line line;
	double before = 0;

	(void)state;
	/* One machine's recording begins 100 s after the other's. */
	write_machine(path, 1700000100, "gpu01", 0);
	write_machine(other, 1700000000, "gpu02", 1);
	replay = replay_new(paths, 2, &error);
	assert_string_equal(error.message, "");
	assert_true(replay_first_time(replay) == 0);
	assert_true(replay_end_time(replay) == 102);
	assert_true(replay_wall(replay) == 1700000000);
	while (replay_next(replay, INFINITY, &line, &error) > 0) {
		assert_true(line.time >= before);
		assert_int_equal(line.node, line.time < 50);
		before = line.time;
		message_clear(&line.message);
	}
	session_make(&session, replay);
	replay_seek(replay, 0);
	follow(replay, &session, 50);
	assert_int_equal(session.rank_count, 1);
	follow(replay, &session, 102);
	/* The same pid on two machines, one job, two hosts. */
	assert_int_equal(session.job_count, 1);
	assert_int_equal(session.rank_count, 2);
	assert_int_equal(session.ranks[0]->node, 0);
	assert_int_equal(session.ranks[1]->node, 1);
	assert_string_equal(session.nodes[1].name, "gpu02");
	assert_ptr_equal(session_find_pid(&session, 1, 77), session.ranks[1]);
	session_clear(&session);
	replay_free(replay);
}

static void a_rank_of_two_recordings_is_shown_once(void **state)
{
	char *paths[] = { path, other };
	struct session session;
	struct replay *replay;

	(void)state;
	write_machine(path, 1700000000, "gpu01", 0);
	write_machine(other, 1700000001, "gpu01", 0);
	replay = replay_new(paths, 2, NULL);
	session_make(&session, replay);
	follow(replay, &session, 3);
	assert_int_equal(session.rank_count, 1);
	assert_int_equal(session.ranks[0]->node, 0);
	session_clear(&session);
	replay_free(replay);
}

/* Recordings of before there was a clock in them. */
static void without_a_clock_they_begin_together(void **state)
{
	char *paths[] = { path, other };
	struct replay *replay;
	FILE *file;

	(void)state;
	write_machine(path, 1700000000, "gpu01", 0);
	file = fopen(other, "w");
	fputs("{\"time\":0.5,\"seq\":1,\"type\":\"event\",\"event\":\"output\",\"body\":{}}\n",
	      file);
	fclose(file);
	replay = replay_new(paths, 2, NULL);
	assert_true(replay_first_time(replay) == 0);
	assert_true(replay_end_time(replay) == 2);
	replay_free(replay);
}

static int make_path(void **state)
{
	int fd;

	(void)state;
	snprintf(path, sizeof(path), "/tmp/test-record-XXXXXX");
	fd = mkstemp(path);
	if (fd < 0)
		return -1;
	close(fd);
	unlink(path);
	snprintf(other, sizeof(other), "%s.2", path);
	return 0;
}

static int remove_path(void **state)
{
	(void)state;
	unlink(path);
	unlink(other);
	return 0;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make_path, remove_path)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(any_time_is_as_if_played),
		TEST(changes_are_found),
		TEST(a_ring_keeps_the_end),
		TEST(a_ring_has_a_maximum),
		TEST(a_snapshot_is_the_smaller_part),
		TEST(many_lines_are_one_segment),
		TEST(a_snapshot_leaves_out_what_is_old),
		TEST(a_snapshot_has_what_was_called),
		TEST(a_killed_recorder_leaves_the_rest),
		TEST(what_unpacks_to_too_much_is_refused),
		TEST(tapes_share_a_budget),
		TEST(damage_is_named),
		TEST(one_flipped_bit_loses_one_segment),
		TEST(a_cut_loses_what_is_behind_it),
		TEST(damage_ends_at_the_next_segment),
		TEST(a_damaged_snapshot_of_text_loses_its_segment),
		TEST(plain_text_is_read_as_well),
		TEST(machines_are_put_together_by_their_clocks),
		TEST(a_rank_of_two_recordings_is_shown_once),
		TEST(without_a_clock_they_begin_together),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
