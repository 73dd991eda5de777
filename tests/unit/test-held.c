/* held: what is said of ranks that are in a debugger. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <cmocka.h>

#include "banned.h"
#include "base/alloc.h"
#include "base/array.h"
#include "base/buffer.h"
#include "base/error.h"
#include "base/json.h"
#include "model/breakpoints.h"
#include "model/debug-state.h"
#include "model/stops.h"
#include "model/wait-group.h"
#include "scene.h"

#define STEPS "train train.py:14 < <module> train.py:19"
#define LOSES "loss lib/torch.py:3 < train train.py:22 < <module> train.py:40"
#define STOPPED(NUMBER, PID, MORE)                                                                 \
	"{'pid':" PID ",'rank':" NUMBER ",'state':'stopped','backend':'pdb',"                      \
	"'target':'pdb:unix:/tmp/" NUMBER ".sock','stops':1,'tid':" PID ",'held':1.0" MORE "}"
#define BREAKPOINT                                                                                 \
	",'reason':'breakpoint','at':'line','hit':[1],"                                            \
	"'description':'breakpoint 1'"
#define RAISED                                                                                     \
	",'reason':'exception','post_mortem':true,"                                                \
	"'exception':'RuntimeError: boom','description':'raised'"
#define WAITING(NUMBER, PID, MORE)                                                                 \
	"{'pid':" PID ",'rank':" NUMBER ",'state':'waiting','backend':'pdb',"                      \
	"'target':'pdb:unix:/tmp/" NUMBER ".sock'" MORE "}"

/* Those of held are at the stack, the others wait in all_reduce. */
static void see(struct scene *scene, int count, const char *held, const char *stack)
{
	for (int rank = 0; rank < count; rank++) {
		struct seen waits = WAITS(100 + rank, 17);

		if (strchr(held, '0' + rank)) {
			waits.stack = stack;
			waits.syscall = SYS_read;
		}
		assert_int_equal(scene_see(scene, &waits), 0);
	}
}

static void start(struct scene *scene, int count, const char *held, const char *stack)
{
	scene_init(scene);
	scene_start(scene, count);
	see(scene, count, held, stack);
	scene_wait(scene, 33);
	see(scene, count, held, stack);
}

static void expect_word(const struct scene *scene, int rank, const char *word)
{
	struct buffer out = BUFFER_INIT;

	debug_state_append_word(&out, session_find_rank(&scene->session, rank));
	assert_string_equal(out.data, word);
	buffer_clear(&out);
}

static void ranks_at_a_breakpoint(void **state)
{
	struct scene scene;

	(void)state;
	start(&scene, 8, "03", STEPS);
	assert_int_equal(scene_text(&scene, "stopped", STOPPED("0", "100", BREAKPOINT)), 0);
	assert_int_equal(scene_text(&scene, "stopped", STOPPED("3", "103", BREAKPOINT)), 0);
	scene_expect(&scene, VERDICT_STOPPED, "",
		     "Ranks 0 and 3 stopped at breakpoint 1, train.py:14. 6 ranks run on; 6 wait "
		     "for them in all_reduce (train.py:17).");
	expect_word(&scene, 3, "bp 1");
	expect_word(&scene, 1, "");
	assert_int_equal(session_find_rank(&scene.session, 3)->state, RANK_STOPPED);
	scene_clear(&scene);
}

/* pdb stops there all the same. */
static void a_condition_that_failed(void **state)
{
	struct scene scene;

	(void)state;
	start(&scene, 1, "0", STEPS);
	scene_text(&scene, "stopped",
		   STOPPED("0", "100",
			   ",'reason':'breakpoint','at':'line','hit':[1],'description':'breakpoint "
			   "1: its condition failed: NameError: x'"));
	scene_expect(&scene, VERDICT_STOPPED, "",
		     "Rank 0 stopped at breakpoint 1 (its condition failed: NameError: x), "
		     "train.py:14.");
	scene_clear(&scene);
}

static void a_rank_that_raised(void **state)
{
	struct scene scene;

	(void)state;
	start(&scene, 4, "1", LOSES);
	assert_int_equal(scene_text(&scene, "stopped", STOPPED("1", "101", RAISED)), 0);
	scene.session.now += 33;
	scene_expect(&scene, VERDICT_STOPPED, "1",
		     "Rank 1 raised RuntimeError: boom (train.py:22) and is held in pdb, for 34 s; "
		     "3 of 4 ranks wait in all_reduce (train.py:17).");
	expect_word(&scene, 1, "raised");
	assert_int_equal(session_selected(&scene.session)->process.rank, 1);
	scene_clear(&scene);
}

static void a_rank_that_its_agent_holds(void **state)
{
	struct scene scene;

	(void)state;
	start(&scene, 4, "1",
	      "_next /tmp/probetui-01/probetui/debugging/stop.py:150 < park "
	      "/tmp/probetui-01/probetui/debugging/engine.py:166");
	scene_expect(&scene, VERDICT_HUNG, "1",
		     "Rank 1 raised and is held by its agent, for 33 s. The 3 others wait in "
		     "all_reduce (train.py:17).");
	scene_text(&scene, "stopped",
		   "{'pid':101,'rank':1,'state':'stopped','backend':'http','target':'agent:101','"
		   "stops':1,'tid':101,'held':1.0" RAISED "}");
	scene_expect(&scene, VERDICT_STOPPED, "1",
		     "Rank 1 raised RuntimeError: boom and is held by its agent, for 1 s; 3 of 4 "
		     "ranks wait in all_reduce (train.py:17).");
	scene_clear(&scene);
}

static void ranks_that_their_agents_hold(void **state)
{
	struct scene scene;

	(void)state;
	start(&scene, 2, "01", LOSES);
	for (int rank = 0; rank < 2; rank++) {
		char body[256];

		snprintf(body, sizeof(body),
			 "{'pid':%d,'rank':%d,'state':'stopped','backend':'http','target':'agent:%"
			 "d','stops':1,'tid':%d" RAISED "}",
			 100 + rank, rank, 100 + rank, 100 + rank);
		scene_text(&scene, "stopped", body);
	}
	scene_expect(&scene, VERDICT_STOPPED, "0-1",
		     "Ranks 0 and 1 raised RuntimeError: boom (train.py:22) and are held by their "
		     "agents.");
	scene_clear(&scene);
}

/* Of another client, or of one that is gone. */
static void a_rank_that_its_agent_stopped(void **state)
{
	struct scene scene;

	(void)state;
	start(&scene, 4, "1",
	      "wait /tmp/probetui-01/probetui/debugging/stop.py:136 < _wait "
	      "/tmp/probetui-01/probetui/debugging/reaching.py:267 < train train.py:14");
	scene_expect(&scene, VERDICT_HUNG, "1",
		     "3 of 4 ranks wait in all_reduce (train.py:17). Rank 1 is stopped in a "
		     "debugger by its agent (train.py:14), for 33 s.");
	scene_clear(&scene);
}

static void a_rank_that_was_let_go(void **state)
{
	struct scene scene;

	(void)state;
	start(&scene, 2, "1", LOSES);
	scene_text(&scene, "stopped",
		   "{'pid':101,'rank':1,'state':'stopped','backend':'http','target':'agent:101','"
		   "stops':1,'tid':101,'held':1.0" RAISED "}");
	scene_text(&scene, "continued", "{'pid':101,'rank':1,'state':'running','backend':'http'}");
	scene_text(&scene, "rankRemoved", "{'pid':101,'rank':1,'state':'exited','exit_code':1}");
	scene_expect(
		&scene, VERDICT_CRASHED, "1",
		"Rank 1 is gone: exited with code 1, raised RuntimeError: boom, last seen in train "
		"(train.py:22) in lock. The other one waits in all_reduce (train.py:17).");
	scene_text(&scene, "rankRemoved", "{'pid':100,'rank':0,'state':'exited','exit_code':0}");
	scene_expect(
		&scene, VERDICT_CRASHED, "1",
		"All ranks have ended: rank 0 exited with code 0, rank 1 exited with code 1. Rank "
		"1 raised RuntimeError: boom, and was last seen in train (train.py:22) in lock.");
	scene_clear(&scene);
}

static void a_rank_that_waits_for_somebody(void **state)
{
	struct scene scene;

	(void)state;
	start(&scene, 4, "1", LOSES);
	assert_int_equal(scene_text(&scene, "debugger", WAITING("1", "101", "")), 0);
	scene_expect(&scene, VERDICT_STOPPED, "1",
		     "Rank 1 waits in a debugger (pdb:unix:/tmp/1.sock) for somebody to connect, "
		     "for 33 s; 3 of 4 ranks wait in all_reduce (train.py:17).");
	expect_word(&scene, 1, "pdb?");
	assert_int_equal(scene_text(&scene, "debugger",
				    WAITING("1", "101", ",'exception':'RuntimeError: boom'")),
			 0);
	scene_expect(&scene, VERDICT_STOPPED, "1",
		     "Rank 1 raised RuntimeError: boom and waits in a debugger "
		     "(pdb:unix:/tmp/1.sock) for somebody to connect, for 33 s; 3 of 4 ranks wait "
		     "in all_reduce (train.py:17).");
	scene_clear(&scene);
}

static void two_that_wait_share_a_sentence(void **state)
{
	struct scene scene;

	(void)state;
	start(&scene, 4, "12", LOSES);
	scene_text(&scene, "debugger", WAITING("1", "101", ""));
	scene_text(&scene, "debugger", WAITING("2", "102", ""));
	scene_expect(&scene, VERDICT_STOPPED, "1-2",
		     "Ranks 1 and 2 wait in debuggers for somebody to connect, for 33 s; 2 of 4 "
		     "ranks wait in all_reduce (train.py:17).");
	scene_clear(&scene);
}

#define PROMPT                                                                                     \
	"cmdloop lib/python3/cmd.py:126 < _cmdloop lib/python3/pdb.py:324 < "                      \
	"train train.py:14 < <module> train.py:19"
#define TAKEN                                                                                      \
	"{'pid':101,'rank':1,'state':'refused','taken':true,"                                      \
	"'backend':'pdb','target':'pdb:unix:/tmp/1.sock',"                                         \
	"'why':'Somebody else is connected.'}"

/* As soon as the program runs on, it is a rank as any other. */
static void one_that_runs_what_was_typed(void **state)
{
	const char *running = "{'pid':101,'rank':1,'state':'running','backend':'pdb','target':'pdb:"
			      "unix:/1.sock'}";
	struct scene scene;

	(void)state;
	start(&scene, 4, "1", PROMPT);
	scene_text(&scene, "continued", running);
	scene_expect(&scene, VERDICT_STOPPED, "",
		     "Rank 1 runs what was typed in the debugger. 3 ranks run on; 3 wait for it in "
		     "all_reduce (train.py:17).");
	expect_word(&scene, 1, "busy");
	scene_clear(&scene);
	start(&scene, 4, "1", STEPS);
	scene_text(&scene, "continued", running);
	assert_false(debug_state_is_held(session_find_rank(&scene.session, 1)));
	scene_clear(&scene);
}

static void one_that_another_client_holds(void **state)
{
	struct scene scene;

	(void)state;
	start(&scene, 4, "1", PROMPT);
	scene_text(&scene, "debugger", TAKEN);
	scene_expect(&scene, VERDICT_STOPPED, "",
		     "Rank 1 is held in a debugger by another client. 3 ranks run on; 3 wait for "
		     "it in all_reduce (train.py:17).");
	expect_word(&scene, 1, "taken");
	scene_clear(&scene);
	/* It was let go. */
	start(&scene, 4, "1", STEPS);
	scene_text(&scene, "debugger", TAKEN);
	assert_int_not_equal(scene_judge(&scene)->state, VERDICT_STOPPED);
	expect_word(&scene, 1, "");
	scene_clear(&scene);
}

static void those_that_wait_while_one_is_gone(void **state)
{
	struct scene scene;

	(void)state;
	start(&scene, 4, "02", LOSES);
	scene_text(&scene, "debugger", WAITING("0", "100", ",'exception':'E: lost'"));
	scene_text(&scene, "debugger", WAITING("2", "102", ",'exception':'E: lost'"));
	scene_text(&scene, "rankRemoved", "{'pid':101,'reason':'exited','exit_code':1}");
	scene_expect(
		&scene, VERDICT_CRASHED, "0-2",
		"Rank 1 was not found. Ranks 0 and 2 raised E: lost and wait in debuggers for "
		"somebody to connect, for 33 s. The other one waits in all_reduce (train.py:17).");
	scene_clear(&scene);
}

static void the_only_rank_after_a_step(void **state)
{
	struct scene scene;

	(void)state;
	start(&scene, 1, "0", STEPS);
	scene_text(&scene, "stopped",
		   STOPPED("0", "100", ",'reason':'step','at':'return','value':'7'"));
	scene_expect(&scene, VERDICT_STOPPED, "", "Rank 0 stopped at a return, train.py:14.");
	expect_word(&scene, 0, "return");
	scene_text(&scene, "continued", "{'pid':100,'rank':0,'state':'running','backend':'pdb'}");
	assert_int_not_equal(scene_judge(&scene)->state, VERDICT_STOPPED);
	expect_word(&scene, 0, "");
	scene_clear(&scene);
}

/* What cannot be read from outside is known by its debugger alone. */
static void one_that_only_its_debugger_reads(void **state)
{
	struct scene scene;

	(void)state;
	scene_init(&scene);
	scene_start(&scene, 2);
	scene_text(&scene, "stopped", STOPPED("0", "100", BREAKPOINT));
	scene_expect(&scene, VERDICT_STOPPED, "",
		     "Rank 0 stopped at breakpoint 1. Rank 1 has not been read yet.");
	scene_clear(&scene);
}

static void what_raised_is_escaped_and_cut(void **state)
{
	struct scene scene;

	(void)state;
	start(&scene, 1, "0", LOSES);
	scene_text(&scene, "stopped",
		   STOPPED("0", "100",
			   ",'post_mortem':true,'exception':'E: \\u001b[31mx\\nsecond line'"));
	scene_expect(&scene, VERDICT_STOPPED, "0",
		     "Rank 0 raised E: ^[[31mx (train.py:22) and is held in pdb, for 1 s.");
	scene_clear(&scene);
}

static void a_rank_that_is_gone_goes_first(void **state)
{
	struct scene scene;
	const struct verdict *verdict;

	(void)state;
	start(&scene, 3, "1", STEPS);
	scene_text(&scene, "stopped", STOPPED("1", "101", BREAKPOINT));
	scene_text(
		&scene, "rankRemoved",
		"{'pid':102,'rank':2,'state':'exited','exit_code':1,'uid':1000,'start_time':102}");
	verdict = scene_judge(&scene);
	assert_int_equal(verdict->state, VERDICT_CRASHED);
	assert_non_null(strstr(verdict->sentence, "Rank 2 is gone"));
	assert_non_null(strstr(verdict->sentence, "Rank 1 stopped "));
	scene_clear(&scene);
}

/* Our own package's hold is no place of the user's. */
static void ranks_that_hold_for_the_stopped(void **state)
{
	const struct seen holds = {
		.pid = 101,
		.stack = "wait /w/agent/probetui/holds.py:54 < stop "
			 "/w/agent/probetui/process.py:175 < train train.py:13 < <module> "
			 "train.py:19",
		.syscall = SYS_clock_nanosleep,
	};
	struct scene scene;

	(void)state;
	start(&scene, 2, "01", STEPS);
	assert_int_equal(scene_see(&scene, &holds), 0);
	scene_text(&scene, "stopped", STOPPED("0", "100", ",'reason':'entry','at':'line'"));
	scene_expect(&scene, VERDICT_STOPPED, "",
		     "Rank 0 stopped in pdb, train.py:14. 1 rank runs on; 1 waits for it in "
		     "probetui.breakpoint (train.py:13).");
	scene_clear(&scene);
}

#define HOLDS(PID)                                                                                 \
	{ .pid = (PID),                                                                            \
	  .syscall = SYS_clock_nanosleep,                                                          \
	  .stack = "wait /w/agent/probetui/holds.py:65 < stop "                                    \
		   "/w/agent/probetui/process.py:175 < train "                                     \
		   "train.py:12 < <module> train.py:19" }

/* Ranks 1 and 3 hold, and look about now and then; the others are at other. */
static void see_holding(struct scene *scene, struct seen other, int turn)
{
	for (int rank = 0; rank < 4; rank++) {
		struct seen seen = HOLDS(100 + rank);

		if (rank % 2 == 0) {
			other.pid = 100 + rank;
			assert_int_equal(scene_see(scene, &other), 0);
			continue;
		}
		if (turn % 2 == 1) {
			seen.stack = "is_locked /w/agent/probetui/files.py:110 < wait "
				     "/w/agent/probetui/holds.py:66 < stop "
				     "/w/agent/probetui/process.py:175 < train train.py:12 < "
				     "<module> train.py:19";
			seen.state = "running";
		}
		seen.cpu = 0.001 * turn;
		seen.switches = 20 * (uint64_t)turn;
		assert_int_equal(scene_see(scene, &seen), 0);
	}
}

static void nobody_moves_where_ranks_hold_for_those_that_wait(void **state)
{
	static const struct seen waits = WAITS(100, 17);
	struct scene scene;

	(void)state;
	scene_init(&scene);
	scene_start(&scene, 4);
	see_holding(&scene, waits, 0);
	scene_expect(&scene, VERDICT_UNKNOWN, "",
		     "Ranks 0 and 2 wait in all_reduce (train.py:17) for ranks 1 and 3, which hold "
		     "in probetui.breakpoint (train.py:12).");
	for (int turn = 1; turn < 10; turn++) {
		scene_wait(&scene, 0.5);
		see_holding(&scene, waits, turn);
	}
	scene_expect(&scene, VERDICT_HUNG, "",
		     "Ranks 0 and 2 wait in all_reduce (train.py:17) for ranks 1 and 3, which hold "
		     "in probetui.breakpoint (train.py:12), for 4 s.");
	scene_clear(&scene);
}

static void ranks_hold_for_those_that_compute(void **state)
{
	struct seen other = { .stack = LOADS, .state = "running" };
	struct scene scene;

	(void)state;
	scene_init(&scene);
	scene_start(&scene, 4);
	for (int turn = 0; turn < 10; turn++) {
		see_holding(&scene, other, turn);
		other.cpu += 0.5;
		scene_wait(&scene, 0.5);
	}
	scene_expect(&scene, VERDICT_PROGRESSING, "",
		     "Ranks 1 and 3 hold in probetui.breakpoint (train.py:12); ranks 0 and 2 "
		     "compute in load_batch (train.py:5).");
	scene_clear(&scene);
}

static void ranks_hold_for_nobody_here(void **state)
{
	struct scene scene;

	(void)state;
	scene_init(&scene);
	scene_start(&scene, 4);
	for (int turn = 0; turn < 10; turn++) {
		see_holding(&scene, (struct seen)HOLDS(0), turn);
		scene_wait(&scene, 0.5);
	}
	scene_expect(&scene, VERDICT_UNKNOWN, "",
		     "All 4 ranks hold in probetui.breakpoint (train.py:12) for ranks that are not "
		     "seen here.");
	scene_clear(&scene);
}

/* A debugger's event may say nothing new of its stop. */
static void each_stop_is_noted_once(void **state)
{
	struct scene scene;
	const struct stop *stop;

	(void)state;
	start(&scene, 2, "1", STEPS);
	scene_text(&scene, "stopped", STOPPED("1", "101", BREAKPOINT));
	scene_text(&scene, "stopped", STOPPED("1", "101", BREAKPOINT));
	scene_text(&scene, "continued", "{'pid':101,'rank':1,'state':'running','backend':'pdb'}");
	scene_text(&scene, "stopped", STOPPED("1", "101", BREAKPOINT));
	assert_int_equal(scene.session.stops.count, 1);
	stop = stops_find(&scene.session.stops, 0);
	assert_int_equal(stop->rank, 1);
	assert_string_equal(stop->func, "train");
	assert_int_equal(stop->line, 14);
	assert_string_equal(stop->description, "breakpoint 1");
	assert_null(stops_find(&scene.session.stops, 1));
	/* The next client's stops count anew. */
	scene_text(&scene, "debugger", WAITING("1", "101", ""));
	scene_text(&scene, "stopped", STOPPED("1", "101", BREAKPOINT));
	assert_int_equal(scene.session.stops.count, 2);
	scene_clear(&scene);
}

/* "train.py:14" everywhere, or of the ranks of text. */
static int add_breakpoint(struct scene *scene, const char *ranks)
{
	struct breakpoints *list = &scene->session.choice.breakpoints;
	struct session_breakpoint *added = breakpoints_add(list, NULL);

	assert_non_null(added);
	added->breakpoint.path = strdup("train.py");
	added->breakpoint.line = 14;
	added->is_everywhere = !ranks;
	if (ranks)
		assert_int_equal(rankset_parse(&added->ranks, ranks, NULL), 0);
	breakpoints_changed(list);
	return added->breakpoint.id;
}

#define BINDING(NUMBER, HITS)                                                                      \
	",'breakpoints':[{'id':1,'number':" NUMBER ",'path':'/job/train.py',"                      \
	"'line':14,'hits':" HITS "}]"

static void a_breakpoint_over_ranks(void **state)
{
	struct breakpoint_summary summary;
	struct buffer place = BUFFER_INIT;
	struct scene scene;

	(void)state;
	start(&scene, 3, "01", STEPS);
	assert_int_equal(add_breakpoint(&scene, NULL), 1);
	assert_true(breakpoint_summary_at(&summary, &scene.session, "/job/train.py", 14));
	assert_int_equal(rankset_count(&summary.set), 0);
	assert_int_equal(rankset_count(&summary.ranks), 3);
	breakpoint_summary_clear(&summary);
	scene_text(&scene, "stopped", STOPPED("0", "100", BREAKPOINT BINDING("4", "3")));
	scene_text(&scene, "stopped", STOPPED("1", "101", BREAKPOINT BINDING("1", "1")));
	assert_false(breakpoint_summary_at(&summary, &scene.session, "/job/train.py", 15));
	assert_true(breakpoint_summary_at(&summary, &scene.session, "/job/train.py", 14));
	assert_int_equal(summary.id, 1);
	assert_int_equal(summary.hits, 4);
	assert_int_equal(rankset_count(&summary.set), 2);
	breakpoint_append_place(&place, &summary);
	assert_string_equal(place.data, "train.py:14");
	buffer_clear(&place);
	breakpoint_summary_clear(&summary);
	scene_clear(&scene);
}

#define AT_14(BACKEND, NUMBER, PID, MORE)                                                          \
	"{'pid':" PID ",'rank':" NUMBER ",'state':'running','backend':'" BACKEND                   \
	"'" MORE BINDING("1", "0") "}"

static void expect_backends(const struct scene *scene, const char *wanted)
{
	struct breakpoint_summary summary;
	struct buffer out = BUFFER_INIT;

	assert_true(breakpoint_summary_find(&summary, &scene->session, 1));
	breakpoint_append_backends(&out, &summary);
	assert_string_equal(out.data, wanted);
	buffer_clear(&out);
	breakpoint_summary_clear(&summary);
}

static void what_stops_ranks_at_a_breakpoint(void **state)
{
	struct scene scene;

	(void)state;
	start(&scene, 4, "", STEPS);
	assert_int_equal(add_breakpoint(&scene, NULL), 1);
	expect_backends(&scene, "");
	scene_text(&scene, "continued", AT_14("http", "0", "100", ""));
	expect_backends(&scene, "by its agent");
	scene_text(&scene, "continued", AT_14("http", "1", "101", ""));
	expect_backends(&scene, "by their agents");
	scene_text(&scene, "continued", AT_14("ptrace", "3", "103", ",'slots':4,'slots_free':3"));
	expect_backends(&scene, "ranks 0-1 by their agents, rank 3 by hardware breakpoints");
	scene_text(&scene, "continued", AT_14("ptrace", "2", "102", ",'slots':4,'slots_free':0"));
	scene_text(&scene, "continued", AT_14("pdb", "0", "100", ""));
	expect_backends(&scene, "rank 1 by its agent, ranks 2-3 by hardware breakpoints (none of 4 "
				"free), rank 0 by pdb");
	scene_clear(&scene);
}

static void what_somebody_set_in_pdb(void **state)
{
	struct breakpoint_summary summary;
	struct scene scene;

	(void)state;
	start(&scene, 1, "0", STEPS);
	scene_text(&scene, "stopped",
		   STOPPED("0", "100",
			   ",'breakpoints':[{'id':0,'number':2,'path':'/job/"
			   "train.py','line':9,'hits':1}]"));
	assert_true(breakpoint_summary_make(&summary, &scene.session, 0));
	assert_int_equal(summary.id, 0);
	assert_int_equal(summary.number, 2);
	breakpoint_summary_clear(&summary);
	assert_false(breakpoint_summary_make(&summary, &scene.session, 1));
	scene_clear(&scene);
}

static void a_temporary_one_goes_with_each_rank(void **state)
{
	struct breakpoints *list;
	struct scene scene;

	(void)state;
	start(&scene, 2, "01", STEPS);
	list = &scene.session.choice.breakpoints;
	add_breakpoint(&scene, NULL);
	list->items[0].breakpoint.is_temporary = true;
	scene_text(&scene, "stopped", STOPPED("0", "100", BREAKPOINT));
	assert_int_equal(list->count, 1);
	assert_false(breakpoint_is_for(&list->items[0], 0));
	assert_true(breakpoint_is_for(&list->items[0], 1));
	scene_text(&scene, "stopped", STOPPED("1", "101", BREAKPOINT));
	assert_int_equal(list->count, 0);
	/* Numbers are not given twice. */
	assert_int_equal(add_breakpoint(&scene, "1"), 2);
	scene_clear(&scene);
}

/* A step may end in a library; a person who looks there looks at frame 0. */
static void a_step_is_looked_at_where_it_ends(void **state)
{
	struct scene scene;

	(void)state;
	start(&scene, 1, "0", LOSES);
	assert_int_equal(session_selected_depth(&scene.session), 1);
	scene_text(&scene, "stopped", STOPPED("0", "100", ",'reason':'step','at':'line'"));
	assert_int_equal(session_selected_depth(&scene.session), 0);
	scene_text(&scene, "debugger", WAITING("0", "100", ""));
	scene_text(&scene, "stopped", STOPPED("0", "100", RAISED));
	assert_int_equal(session_selected_depth(&scene.session), 1);
	scene_clear(&scene);
}

/* Recursion: the distance from the outermost frame is what counts. */
static void the_frame_that_another_rank_is_looked_at_in(void **state)
{
	const char *deep = "step train.py:3 < train train.py:22 < step train.py:3 < train "
			   "train.py:22 < <module> train.py:40";
	const struct rank *first;
	const struct rank *second;
	struct scene scene;

	(void)state;
	scene_init(&scene);
	scene_start(&scene, 2);
	see(&scene, 1, "0", LOSES);
	scene_see(&scene, &(struct seen){ .pid = 101, .stack = deep });
	first = session_find_rank(&scene.session, 0);
	second = session_find_rank(&scene.session, 1);
	assert_int_equal(debug_state_same_depth(second, first, 0), -1);
	assert_int_equal(debug_state_same_depth(second, first, 1), 3);
	assert_int_equal(debug_state_same_depth(second, first, 2), 4);
	assert_int_equal(debug_state_same_depth(second, first, 3), -1);
	assert_int_equal(debug_state_same_depth(first, second, 3), 1);
	assert_int_equal(debug_state_same_depth(first, second, 1), -1);
	assert_int_equal(debug_state_same_function(second, first, 1), 3);
	scene_clear(&scene);
}

/* Before, another one may have been looked at, from outside. */
static void a_stop_is_looked_at_in_its_own_frame(void **state)
{
	struct scene scene;

	(void)state;
	start(&scene, 1, "0", STEPS);
	scene.session.choice.selection.depth = 1;
	scene_text(&scene, "stopped", STOPPED("0", "100", RAISED));
	assert_int_equal(session_selected_depth(&scene.session), 0);
	/* Told again, it is the same stop. */
	scene.session.choice.selection.depth = 1;
	scene_text(&scene, "stopped", STOPPED("0", "100", RAISED));
	assert_int_equal(session_selected_depth(&scene.session), 1);
	scene_clear(&scene);
}

#define OUTSIDE(NUMBER, PID, MORE)                                                                 \
	"{'pid':" PID ",'rank':" NUMBER ",'state':'stopped',"                                      \
	"'backend':'ptrace','target':'ptrace:" PID "','stops':1,'tid':" PID ",'held':1.0" MORE "}"
#define PAUSED ",'reason':'pause'"

/* They may be anywhere, so where is only said of all. */
static void ranks_that_were_paused(void **state)
{
	struct scene scene;

	(void)state;
	start(&scene, 4, "01", STEPS);
	scene_text(&scene, "stopped", OUTSIDE("0", "100", PAUSED));
	expect_word(&scene, 0, "paused");
	scene_expect(&scene, VERDICT_STOPPED, "",
		     "Rank 0 is paused, train.py:14. 3 ranks run on; 2 wait for it in all_reduce "
		     "(train.py:17).");
	scene_text(&scene, "stopped", OUTSIDE("1", "101", PAUSED));
	scene_expect(&scene, VERDICT_STOPPED, "",
		     "Ranks 0 and 1 are paused, train.py:14. 2 ranks run on; 2 wait for them in "
		     "all_reduce (train.py:17).");
	scene_text(&scene, "stopped", OUTSIDE("2", "102", PAUSED));
	scene_text(&scene, "stopped", OUTSIDE("3", "103", PAUSED));
	scene_expect(&scene, VERDICT_STOPPED, "", "Ranks 0-3 are paused.");
	scene_clear(&scene);
}

static void a_variable_that_changed(void **state)
{
	struct scene scene;

	(void)state;
	start(&scene, 1, "0", STEPS);
	scene_text(&scene, "stopped",
		   OUTSIDE("0", "100",
			   ",'reason':'data breakpoint','hit':[3],'description':'total: 3 -> 4'"));
	expect_word(&scene, 0, "watch 3");
	scene_expect(&scene, VERDICT_STOPPED, "",
		     "Rank 0 stopped at watch 3 (total: 3 -> 4), train.py:14.");
	scene_clear(&scene);
}

/* Nobody else's debugger has it. */
static void who_can_be_stopped_from_outside(void **state)
{
	const struct rank *rank;
	struct scene scene;

	(void)state;
	start(&scene, 2, "", STEPS);
	rank = session_find_rank(&scene.session, 0);
	assert_true(ptrace_state_is_free(rank));
	assert_false(ptrace_state_is(rank));
	scene_text(&scene, "debugger", WAITING("0", "100", ""));
	assert_false(ptrace_state_is_free(rank));
	scene_text(&scene, "stopped", STOPPED("0", "100", BREAKPOINT));
	assert_false(ptrace_state_is_free(rank));
	assert_false(ptrace_state_is(rank));
	rank = session_find_rank(&scene.session, 1);
	scene_text(&scene, "stopped", OUTSIDE("1", "101", PAUSED));
	assert_true(ptrace_state_is(rank));
	assert_false(ptrace_state_is_free(rank));
	scene_text(&scene, "debugger", "{'pid':101,'rank':1,'state':'none'}");
	assert_true(ptrace_state_is_free(rank));
	scene_clear(&scene);
}

static void how_long_peers_wait(void **state)
{
	struct seen nccl = {
		.pid = 100,
		.stack = "synchronize torch/cuda/nccl.py:9 < train train.py:3",
	};
	struct scene scene;

	(void)state;
	start(&scene, 1, "", STEPS);
	session_find_rank(&scene.session, 0)->process.world_size = 1;
	assert_true(watchdog_seconds(&scene.session) < 0);
	scene_clear(&scene);
	start(&scene, 2, "0", STEPS);
	assert_int_equal(watchdog_seconds(&scene.session), 1800);
	scene_see(&scene, &nccl);
	assert_int_equal(watchdog_seconds(&scene.session), 600);
	scene_text(&scene, "stopped", OUTSIDE("1", "101", PAUSED ",'watchdog':90.0"));
	assert_int_equal(watchdog_seconds(&scene.session), 90);
	/* The others' agents have raised theirs. */
	scene_text(&scene, "debugger", OUTSIDE("1", "101", PAUSED ",'watchdog':86400.0"));
	assert_int_equal(watchdog_seconds(&scene.session), 86400);
	scene_clear(&scene);
}

/* What a rank without a debugger was told first is not told again. */
static void who_becomes_ours_is_told_anew(void **state)
{
	struct scene scene;
	struct rank *rank;

	(void)state;
	start(&scene, 1, "0", STEPS);
	rank = session_find_rank(&scene.session, 0);
	rank->breakpoints_sent = 5;
	rank->is_attached_for_them = true;
	scene_text(&scene, "stopped", OUTSIDE("0", "100", PAUSED));
	assert_int_equal(rank->breakpoints_sent, 5);
	scene_text(&scene, "debugger", "{'pid':100,'rank':0,'state':'none'}");
	assert_int_equal(rank->breakpoints_sent, 5);
	scene_text(&scene, "stopped", OUTSIDE("0", "100", PAUSED));
	assert_int_equal(rank->breakpoints_sent, 0);
	scene_clear(&scene);
}

static void what_a_log_point_said_has_its_place(void **state)
{
	const struct stop *stop;
	struct scene scene;

	(void)state;
	start(&scene, 1, "0", STEPS);
	scene_text(&scene, "output",
		   "{'pid':100,'category':'console','output':'x=5','breakpoint':2}");
	scene_text(&scene, "stopped", OUTSIDE("0", "100", PAUSED));
	assert_int_equal(scene.session.stops.count, 2);
	stop = stops_find(&scene.session.stops, 0);
	assert_string_equal(stop->said, "x=5");
	assert_int_equal(stop->hits[0], 2);
	assert_null(stops_find(&scene.session.stops, 1)->said);
	/* Of nobody, or of no breakpoint. */
	scene_text(&scene, "output",
		   "{'pid':999,'category':'console','output':'x=5','breakpoint':2}");
	scene_text(&scene, "output", "{'pid':100,'category':'console','output':'x=5'}");
	assert_int_equal(scene.session.stops.count, 2);
	scene_clear(&scene);
}

#define RUNS(REASON) "{'pid':101,'rank':1,'state':'running','backend':'ptrace'" REASON "}"
#define SIGNALLED "rank 1 was sent SIGTERM: resumed so that it can handle it"

/* `continued` is told again while the rank runs, with the same reason. */
static void each_resume_without_a_request_is_noted_once(void **state)
{
	const char *sent = RUNS(",'reason':'signal','description':'" SIGNALLED "'");
	const struct stop *stop;
	struct scene scene;

	(void)state;
	start(&scene, 2, "1", STEPS);
	/* Nobody here has seen it stopped. */
	scene_text(&scene, "continued", sent);
	assert_int_equal(scene.session.stops.count, 0);
	scene_text(&scene, "stopped", OUTSIDE("1", "101", PAUSED));
	scene_text(&scene, "continued", sent);
	scene_text(&scene, "continued", sent);
	assert_int_equal(scene.session.stops.count, 2);
	stop = stops_find(&scene.session.stops, 1);
	assert_int_equal(stop->rank, 1);
	assert_int_equal(stop->resumed_for, RESUME_SIGNAL);
	assert_string_equal(stop->description, SIGNALLED);
	/* A node may have no sentence about it. */
	scene_text(&scene, "stopped", OUTSIDE("1", "101", PAUSED));
	scene_text(&scene, "continued", RUNS(",'reason':'time limit'"));
	stop = stops_find(&scene.session.stops, scene.session.stops.count - 1);
	assert_int_equal(stop->resumed_for, RESUME_TIME_LIMIT);
	assert_string_equal(stop->description, "rank 1 was resumed: time limit");
	scene_clear(&scene);
}

static void a_requested_resume_is_not_noted(void **state)
{
	static const char *const sent[] = {
		RUNS(""),
		RUNS(",'reason':'request'"),
		/* Older recordings have the reason of the stop there. */
		RUNS(",'reason':'breakpoint','description':'breakpoint 1'"),
	};
	struct scene scene;

	(void)state;
	for (size_t i = 0; i < ARRAY_LENGTH(sent); i++) {
		start(&scene, 2, "1", STEPS);
		scene_text(&scene, "stopped", OUTSIDE("1", "101", PAUSED));
		assert_int_equal(scene_text(&scene, "continued", sent[i]), 0);
		assert_int_equal(scene.session.stops.count, 1);
		scene_clear(&scene);
	}
}

static void a_resume_comes_back_as_it_was_written(void **state)
{
	static const enum resume_reason reasons[] = { RESUME_REQUEST, RESUME_SIGNAL,
						      RESUME_TIME_LIMIT };
	struct error error = ERROR_INIT;

	(void)state;
	for (size_t i = 0; i < ARRAY_LENGTH(reasons); i++) {
		struct debugger debugger;
		json_t *json;

		debugger_init(&debugger);
		debugger.state = DEBUGGER_RUNNING;
		debugger.backend = strdup("ptrace");
		debugger.reason = STOP_PAUSE;
		debugger.resumed_for = reasons[i];
		debugger.description = strdup(SIGNALLED);
		json = debugger_to_json(&debugger);
		assert_string_equal(json_get_string(json, "reason", ""),
				    resume_reason_name(reasons[i]));
		assert_int_equal(debugger_from_json(&debugger, json, &error), 0);
		assert_int_equal(debugger.resumed_for, reasons[i]);
		assert_string_equal(debugger.description, SIGNALLED);
		json_decref(json);
		debugger_clear(&debugger);
		assert_int_equal(debugger.resumed_for, RESUME_REQUEST);
	}
}

static void the_answer_tells_what_no_event_has(void **state)
{
	struct debugger debugger;
	json_t *answer =
		json_pack("[{s:i, s:i, s:i}, {s:i, s:s}, {s:s}]", "id", 1, "number", 4, "hits", 0,
			  "id", 2, "message", "pending: not loaded yet", "id", "none");

	(void)state;
	debugger_init(&debugger);
	debugger_add_binding(&debugger)->id = 1;
	debugger_add_answer(&debugger, answer);
	assert_int_equal(debugger.binding_count, 2);
	assert_int_equal(debugger.bindings[0].number, 4);
	assert_non_null(debugger.bindings[1].message);
	/* It was hit since. */
	debugger.bindings[0].hits = 3;
	debugger_add_answer(&debugger, answer);
	assert_int_equal(debugger.bindings[0].hits, 3);
	/* An event has refused it since; another breakpoint then gets the number. */
	debugger.bindings[1].is_refused = true;
	free(debugger.bindings[1].message);
	debugger.bindings[1].message = xstrdup("behind the last line");
	debugger_add_answer(&debugger, answer);
	assert_string_equal(debugger.bindings[1].message, "behind the last line");
	debugger_remove_binding(&debugger, 2);
	debugger_remove_binding(&debugger, 2);
	assert_int_equal(debugger.binding_count, 1);
	debugger_add_answer(&debugger, answer);
	assert_string_equal(debugger.bindings[1].message, "pending: not loaded yet");
	debugger_clear(&debugger);
	json_decref(answer);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ranks_at_a_breakpoint),
		cmocka_unit_test(a_condition_that_failed),
		cmocka_unit_test(a_rank_that_raised),
		cmocka_unit_test(a_rank_that_its_agent_holds),
		cmocka_unit_test(ranks_that_their_agents_hold),
		cmocka_unit_test(a_rank_that_its_agent_stopped),
		cmocka_unit_test(a_rank_that_was_let_go),
		cmocka_unit_test(a_rank_that_waits_for_somebody),
		cmocka_unit_test(two_that_wait_share_a_sentence),
		cmocka_unit_test(one_that_another_client_holds),
		cmocka_unit_test(one_that_runs_what_was_typed),
		cmocka_unit_test(those_that_wait_while_one_is_gone),
		cmocka_unit_test(the_only_rank_after_a_step),
		cmocka_unit_test(one_that_only_its_debugger_reads),
		cmocka_unit_test(what_raised_is_escaped_and_cut),
		cmocka_unit_test(a_rank_that_is_gone_goes_first),
		cmocka_unit_test(ranks_that_hold_for_the_stopped),
		cmocka_unit_test(nobody_moves_where_ranks_hold_for_those_that_wait),
		cmocka_unit_test(ranks_hold_for_those_that_compute),
		cmocka_unit_test(ranks_hold_for_nobody_here),
		cmocka_unit_test(a_stop_is_looked_at_in_its_own_frame),
		cmocka_unit_test(each_stop_is_noted_once),
		cmocka_unit_test(a_breakpoint_over_ranks),
		cmocka_unit_test(what_stops_ranks_at_a_breakpoint),
		cmocka_unit_test(what_somebody_set_in_pdb),
		cmocka_unit_test(a_temporary_one_goes_with_each_rank),
		cmocka_unit_test(a_step_is_looked_at_where_it_ends),
		cmocka_unit_test(the_frame_that_another_rank_is_looked_at_in),
		cmocka_unit_test(ranks_that_were_paused),
		cmocka_unit_test(a_variable_that_changed),
		cmocka_unit_test(who_can_be_stopped_from_outside),
		cmocka_unit_test(how_long_peers_wait),
		cmocka_unit_test(who_becomes_ours_is_told_anew),
		cmocka_unit_test(what_a_log_point_said_has_its_place),
		cmocka_unit_test(each_resume_without_a_request_is_noted_once),
		cmocka_unit_test(a_requested_resume_is_not_noted),
		cmocka_unit_test(a_resume_comes_back_as_it_was_written),
		cmocka_unit_test(the_answer_tells_what_no_event_has),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
