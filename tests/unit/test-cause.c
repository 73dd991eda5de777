/* cause, blame: which rank failed first and why, by what the ranks have printed. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "banned.h"
#include "base/alloc.h"
#include "base/array.h"
#include "base/buffer.h"
#include "base/error.h"
#include "base/json.h"
#include "base/loop.h"
#include "engine/blame.h"
#include "engine/cause.h"
#include "engine/engine.h"
#include "protocol/collectives.h"
#include "protocol/message.h"
#include "tests/unit/scene.h"

#define RANKS 3
#define HEAD "Traceback (most recent call last):\n"
#define FRAME "  File \"/job/train.py\", line 22, in load\n"
#define OWN(N) "[rank" #N "]: " HEAD "[rank" #N "]: " FRAME "[rank" #N "]: ValueError: bad\n"
#define LOST(N)                                                                                    \
	"[rank" #N "]: " HEAD "[rank" #N "]: " FRAME "[rank" #N                                    \
	"]: RuntimeError: [/w/gloo/pair.cc:5] "                                                    \
	"Connection closed by peer\n"
#define LATE(N)                                                                                    \
	"[rank" #N "]: " HEAD "[rank" #N "]: " FRAME "[rank" #N                                    \
	"]: RuntimeError: [/w/gloo/unbound_buffer.cc:7] Timed out waiting 3000ms\n"
#define SAVER "Exception in thread saver:\n" HEAD FRAME "OSError: full\n"
#define ALIVE -2

/* How a rank ended, in the order of the table. */
struct ended {
	int code; /* ALIVE: it has not; -1: by the signal */
	int number;
	const char *path; /* of its standard error; NULL: no file */
	const char *tail;
};

struct row {
	struct ended ends[RANKS]; /* of ranks 0 to 2 */
	int order[RANKS];	  /* in which they ended, rank by rank */
	const char *said;
	const char *blamed;
	double apart; /* seconds from one end to the next */
};

static const struct row rows[] = {
	{ { { -1, SIGTERM, "0", "" }, { 1, 0, "1", OWN(1) }, { -1, SIGTERM, "2", "" } },
	  { 1, 0, 2 },
	  "Rank 1 failed first: it raised ValueError: bad (train.py:22), and exited with code 1.",
	  "1",
	  1 },
	/* the victim's end was seen before */
	{ { { 1, 0, "0", LOST(0) }, { 1, 0, "1", OWN(1) }, { -1, SIGTERM, "2", "" } },
	  { 0, 1, 2 },
	  "Rank 1 failed first: it raised ValueError: bad (train.py:22), and exited with code 1.",
	  "1",
	  1 },
	/* all print to one file */
	{ { { 1, 0, "all", OWN(1) LOST(0) },
	    { 1, 0, "all", OWN(1) LOST(0) },
	    { ALIVE, 0, NULL, NULL } },
	  { 1, 0, 2 },
	  "Rank 1 failed first: it raised ValueError: bad (train.py:22), and exited with code 1.",
	  "1",
	  1 },
	{ { { 1, 0, "0", LOST(0) }, { 0, 0, "1", "" }, { -1, SIGTERM, "2", "" } },
	  { 1, 0, 2 },
	  "Rank 1 ended first: it exited with code 0. Rank 0 then raised RuntimeError: Connection "
	  "closed by peer (train.py:22), and exited with code 1.",
	  "1",
	  1 },
	{ { { -1, SIGTERM, "0", "" }, { -1, SIGTERM, "1", "" }, { -1, SIGTERM, "2", "" } },
	  { 0, 1, 2 },
	  "The job was ended from outside: ranks 0-2 were ended by SIGTERM, and no rank failed "
	  "before. Rank 0 ended 1.0 s before the others.",
	  "",
	  1 },
	/* all at once: one has lost another just before */
	{ { { -1, SIGTERM, "0", "" }, { -1, SIGTERM, "1", "" }, { -1, SIGTERM, "2", LOST(2) } },
	  { 1, 0, 2 },
	  "The job was ended from outside: ranks 0-2 were ended by SIGTERM, and no rank failed "
	  "before.",
	  "",
	  0.01 },
	{ { { -1, SIGTERM, "0", "" }, { -1, SIGTERM, "1", "" }, { -1, SIGTERM, "2", LOST(2) } },
	  { 1, 0, 2 },
	  "Rank 1 ended first: it was killed by SIGTERM. Rank 2 then raised RuntimeError: "
	  "Connection closed by peer (train.py:22), and was killed by SIGTERM.",
	  "1",
	  1 },
	/* the other ranks are alive */
	{ { { ALIVE, 0, NULL, NULL }, { -1, SIGTERM, "1", "" }, { ALIVE, 0, NULL, NULL } },
	  { 1, 0, 2 },
	  "Rank 1 failed first: it was killed by SIGTERM.",
	  "1",
	  1 },
	/* printed before, and survived */
	{ { { ALIVE, 0, NULL, NULL },
	    { 3, 0, "1", HEAD FRAME "KeyError: 1\n" },
	    { ALIVE, 0, NULL, NULL } },
	  { 1, 0, 2 },
	  "Rank 1 failed first: it exited with code 3.",
	  "1",
	  1 },
	{ { { ALIVE, 0, NULL, NULL },
	    { 1, 0, "1", HEAD FRAME "KeyError: 1\n" },
	    { ALIVE, 0, NULL, NULL } },
	  { 1, 0, 2 },
	  "Rank 1 failed first: it exited with code 1; its last traceback: KeyError: 1 "
	  "(train.py:22).",
	  "1",
	  1 },
	/* it waited too long, and exited later than the one whose connection it closed */
	{ { { 1, 0, "0", LOST(0) }, { -1, SIGTERM, "1", "" }, { 1, 0, "2", LATE(2) } },
	  { 0, 2, 1 },
	  "Rank 2 failed first: it raised RuntimeError: Timed out waiting 3000ms (train.py:22), "
	  "and "
	  "exited with code 1.",
	  "2",
	  0.1 },
	/* an hour later */
	{ { { 1, 0, "0", LOST(0) }, { ALIVE, 0, NULL, NULL }, { 1, 0, "2", LATE(2) } },
	  { 0, 1, 2 },
	  "Rank 0 failed first: it raised RuntimeError: Connection closed by peer (train.py:22), "
	  "and exited with code 1.",
	  "0",
	  1800 },
	/* either of them may have printed it */
	{ { { 1, 0, "all", HEAD FRAME "KeyError: 1\n" },
	    { 1, 0, "all", HEAD FRAME "KeyError: 1\n" },
	    { ALIVE, 0, NULL, NULL } },
	  { 1, 0, 2 },
	  "Rank 1 failed first: it exited with code 1.",
	  "1",
	  1 },
	{ { { ALIVE, 0, NULL, NULL },
	    { -1, SIGABRT, "1",
	      "terminate called after throwing an instance of 'c10::Error'\n  what():  no\n" },
	    { ALIVE, 0, NULL, NULL } },
	  { 1, 0, 2 },
	  "Rank 1 failed first: it was killed by SIGABRT; its last error in standard error: "
	  "c10::Error: no.",
	  "1",
	  1 },
};

struct stage {
	struct scene scene;
	struct engine engine;
};

static void take(const struct scene *scene, const struct message *message, void *data)
{
	struct engine *engine = data;

	evidence_take(&engine->evidence, &scene->session, 0, message);
}

static void send_evidence(struct stage *stage, const struct row *row)
{
	json_t *ranks = json_array();

	for (int i = 0; i < RANKS; i++) {
		const struct ended *end = &row->ends[i];
		json_t *item = json_pack("{s:i, s:i}", "rank", i, "pid", 100 + i);

		if (end->path)
			json_object_set_new(
				item, "stderr",
				json_pack("{s:s, s:s}", "path", end->path, "tail", end->tail));
		json_array_append_new(ranks, item);
	}
	assert_int_equal(
		scene_response(&stage->scene, "evidence", json_pack("{s:o}", "ranks", ranks)), 0);
}

static void end_rank(struct stage *stage, int rank, const struct row *row)
{
	const struct ended *end = &row->ends[rank];
	json_t *process = scene_process(rank, 100 + rank, RANKS);

	scene_wait(&stage->scene, row->apart);
	if (end->code == ALIVE) {
		json_decref(process);
		return;
	}
	json_object_set_new(process, "state", json_string("exited"));
	if (end->number > 0)
		json_object_set_new(process, "exit_signal", json_integer(end->number));
	else
		json_object_set_new(process, "exit_code", json_integer(end->code));
	assert_int_equal(scene_event(&stage->scene, "rankRemoved", process), 0);
}

/* The engine borrows the scene's session for as long as it is asked. */
static void check(struct stage *stage, const struct row *row, struct blame *blame)
{
	struct buffer said = BUFFER_INIT;
	struct buffer blamed = BUFFER_INIT;

	stage->engine.session = stage->scene.session;
	blame_failure(blame, &stage->engine, &said);
	rankset_append(&blamed, &blame->ranks);
	assert_string_equal(said.data, row->said);
	assert_string_equal(blamed.length > 0 ? blamed.data : "", row->blamed);
	blame_clear(blame);
	buffer_clear(&said);
	buffer_clear(&blamed);
}

static void start(struct stage *stage)
{
	*stage = (struct stage){ .engine = { .loop = NULL } };
	scene_init(&stage->scene);
	stage->scene.sent = take;
	stage->scene.sent_data = &stage->engine;
	scene_start(&stage->scene, RANKS);
}

static void clear(struct stage *stage)
{
	evidence_clear(&stage->engine.evidence);
	scene_clear(&stage->scene);
}

static void the_cause_is_named(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		struct blame blame = BLAME_INIT;
		struct stage stage;

		start(&stage);
		for (size_t j = 0; j < RANKS; j++)
			end_rank(&stage, rows[i].order[j], &rows[i]);
		send_evidence(&stage, &rows[i]);
		check(&stage, &rows[i], &blame);
		clear(&stage);
	}
}

/* Ranks 0 and 2 have called barrier once more than rank 1. */
static void send_calls(struct stage *stage)
{
	static const int calls[RANKS] = { 5, 4, 5 };

	for (int i = 0; i < RANKS; i++) {
		struct error error = ERROR_INIT;
		char *text = xasprintf(
			"{'pid':%d,'version':'2.13.0','recorded':1,'stacks':[],'groups':[{'name':"
			"'0','description':'default_pg','is_default':true,'ranks':[0,1,2],'seq':%d"
			"}],'entries':[{'id':0,'group':0,'seq':%d,'operation':'gloo:barrier',"
			"'created':1,'is_retired':%s}]}",
			100 + i, calls[i], calls[i], i == 1 ? "true" : "false");

		assert_int_equal(
			scene_response(&stage->scene, "collectives", scene_json(text, &error)), 0);
		free(text);
	}
}

/* The answer of a process that has no groups any more. */
static void send_nothing(struct stage *stage, int pid)
{
	assert_int_equal(scene_response(&stage->scene, "collectives",
					json_pack("{s:i, s:s}", "pid", pid, "version", "2.13.0")),
			 0);
}

/* Ranks 0 and 2 wait in all_reduce for rank 1, or are about to leave it. */
static void look(struct stage *stage, struct blame *blame, bool are_leaving)
{
	struct seen seen[RANKS] = {
		WAITS(100, 17),
		{ .pid = 101, .stack = LOADS, .syscall = 35 },
		WAITS(102, 17),
	};

	if (are_leaving) {
		seen[0] = (struct seen){ .pid = 100, .state = "running" };
		send_nothing(stage, 102);
	}
	for (size_t i = 0; i < RANKS; i++)
		assert_int_equal(scene_see(&stage->scene, &seen[i]), 0);
	scene_judge(&stage->scene);
	stage->engine.session = stage->scene.session;
	stage->engine.started_at = loop_now() - stage->scene.now;
	blame_remember(blame, &stage->engine);
}

/* What a rank has called last is kept when its process exits, though not while it runs. */
static void leave(struct stage *stage, struct blame *blame)
{
	look(stage, blame, true);
	send_nothing(stage, 100);
	assert_int_equal(session_find_rank(&stage->scene.session, 0)->collectives->group_count, 1);
	assert_int_equal(session_find_rank(&stage->scene.session, 2)->collectives->group_count, 0);
}

#define ENDS_LATE                                                                                  \
	.ends = { { 1, 0, "0", LATE(0) }, { -1, SIGTERM, "1", "" }, { 1, 0, "2", LATE(2) } },      \
	.order = { 0, 2, 1 }, .blamed = "1", .apart = 0.1
#define WAITED                                                                                     \
	"Rank 0 waited too long for rank 1, and raised RuntimeError: Timed out waiting 3000ms "    \
	"(train.py:22), and exited with code 1. "

static void the_late_rank_is_named(void **state)
{
	static const struct row by_calls = {
		ENDS_LATE,
		.said = WAITED
		"Rank 1 has not called barrier, collective 5 of default_pg, in which ranks 0 "
		"and 2 wait; its last is barrier, collective 4.",
	};
	static const struct row by_stacks = {
		ENDS_LATE,
		.said = WAITED
		"Before the failure: 2 of 3 ranks wait in all_reduce (train.py:17). Rank 1 is "
		"elsewhere: load_batch (train.py:5) in time.sleep, for 3 s.",
	};

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		const struct row *row = i == 0 ? &by_calls : &by_stacks;
		struct blame blame = BLAME_INIT;
		struct stage stage;

		start(&stage);
		look(&stage, &blame, false);
		scene_wait(&stage.scene, 3);
		if (row == &by_calls)
			send_calls(&stage);
		look(&stage, &blame, false);
		scene_wait(&stage.scene, 1);
		if (row == &by_calls)
			leave(&stage, &blame);
		for (size_t j = 0; j < RANKS; j++)
			end_rank(&stage, row->order[j], row);
		send_evidence(&stage, row);
		check(&stage, row, &blame);
		clear(&stage);
	}
}

/* Whoever may make control groups chooses their names. */
#define GROUP "/job\x1b[1m"

/* Rank 1 is in a control group in which so many processes were killed for lack of memory. */
static void send_kills(struct stage *stage, int kills)
{
	assert_int_equal(scene_response(&stage->scene, "evidence",
					json_pack("{s:[{s:i, s:i, s:s}], s:[{s:s, s:I, s:i}]}",
						  "ranks", "rank", 1, "pid", 101, "cgroup", GROUP,
						  "cgroups", "path", GROUP, "limit",
						  (json_int_t)600 << 20, "oom_kills", kills)),
			 0);
}

/* Where the log of the kernel does not name the process, its control group says something. */
static void kills_in_the_group_are_counted(void **state)
{
	static const struct {
		int before, after;
		const char *said;
	} cases[] = {
		{ 2, 2, "Rank 1 failed first: it was killed by SIGKILL." },
		{ 2, 3,
		  "Rank 1 failed first: it was killed by SIGKILL; since it was first looked at, "
		  "the "
		  "kernel has killed a process of control group /job^[[1m for lack of memory "
		  "(limit 600 "
		  "MB)." },
		{ 0, 2,
		  "Rank 1 failed first: it was killed by SIGKILL; since it was first looked at, "
		  "the "
		  "kernel has killed 2 processes of control group /job^[[1m for lack of memory "
		  "(limit "
		  "600 "
		  "MB)." },
		{ -1, 2, "Rank 1 failed first: it was killed by SIGKILL." },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
		const struct row row = {
			.ends = { { ALIVE, 0, NULL, NULL },
				  { -1, SIGKILL, NULL, NULL },
				  { ALIVE, 0, NULL, NULL } },
			.said = cases[i].said,
			.blamed = "1",
		};
		struct blame blame = BLAME_INIT;
		struct stage stage;

		start(&stage);
		send_kills(&stage, cases[i].before);
		end_rank(&stage, 1, &row);
		send_kills(&stage, cases[i].after);
		check(&stage, &row, &blame);
		clear(&stage);
	}
}

/* A thread's traceback names no rank: of a file of several ranks it may be any of theirs. */
static void a_lost_thread_is_of_its_rank(void **state)
{
	static const struct row alone = {
		.ends = { { ALIVE, 0, "0", "" }, { ALIVE, 0, "1", SAVER }, { ALIVE, 0, "2", "" } },
	};
	static const struct row shared = {
		.ends = { { ALIVE, 0, "all", SAVER },
			  { ALIVE, 0, "all", SAVER },
			  { ALIVE, 0, "2", "" } },
	};
	struct cause cause;
	struct stage stage;

	(void)state;
	start(&stage);
	send_evidence(&stage, &alone);
	stage.engine.session = stage.scene.session;
	cause_find(&cause, &stage.engine, session_find_rank(&stage.scene.session, 1));
	assert_int_equal(cause.source, CAUSE_THREAD);
	cause_clear(&cause);
	clear(&stage);

	start(&stage);
	send_evidence(&stage, &shared);
	stage.engine.session = stage.scene.session;
	cause_find(&cause, &stage.engine, session_find_rank(&stage.scene.session, 1));
	assert_int_equal(cause.source, CAUSE_UNKNOWN);
	cause_clear(&cause);
	clear(&stage);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_cause_is_named),
		cmocka_unit_test(the_late_rank_is_named),
		cmocka_unit_test(kills_in_the_group_are_counted),
		cmocka_unit_test(a_lost_thread_is_of_its_rank),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
