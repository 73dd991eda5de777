/*
 * Ranks that debuggers hold: what cards, header, hints, source, breakpoints
 * and locals say of them, and what keys do there.
 *
 * Where the picture differs from the screen as it was drawn before:
 *
 *	head	how often it is sampled	the other ranks run on
 *	right	no slots in hardware	a debugger has none
 *	right	breakpoints have a	the locals are looked at more
 *		third of it at most
 *	hints	no watch, =, @		eight keys at most, with : and ?
 */
#include <limits.h>
#include <setjmp.h>
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
#include "engine/breakpoint-sync.h"
#include "engine/control.h"
#include "model/breakpoints.h"
#include "model/source.h"
#include "protocol/message.h"
#include "stage.h"
#include "ui/commands.h"
#include "ui/pane.h"

#define SCRIPT "/home/ana/job/train.py"

static void add_breakpoint(struct stage *stage, int line, const char *condition, bool is_disabled)
{
	struct breakpoints *list = &stage->engine.session.choice.breakpoints;
	struct session_breakpoint *added = breakpoints_add(list, NULL);

	added->breakpoint.path = xstrdup(SCRIPT);
	added->breakpoint.line = line;
	added->breakpoint.condition = xstrdup_or_null(condition);
	added->breakpoint.is_disabled = is_disabled;
	added->is_everywhere = true;
	breakpoints_changed(list);
}

/* As the recording's debuggers have them. */
static void add_breakpoints(struct stage *stage)
{
	add_breakpoint(stage, 14, "step > 3", false);
	add_breakpoint(stage, 16, NULL, true);
}

static int begin_eight(void **state)
{
	stage_begin(state, "stopped8.jsonl");
	add_breakpoints(*state);
	return 0;
}

/* No debugger is in those. */
static void add_outside(struct stage *stage)
{
	struct breakpoints *list = &stage->engine.session.choice.breakpoints;
	struct session_breakpoint *added;

	add_breakpoints(stage);
	added = breakpoints_add(list, NULL);
	added->breakpoint.watch = xstrdup("loss");
	rankset_add(&added->ranks, 0);
	rankset_add(&added->ranks, 3);
	breakpoints_changed(list);
}

static int begin_outside(void **state)
{
	stage_begin(state, "outside8.jsonl");
	add_outside(*state);
	return 0;
}

static int begin_four(void **state)
{
	return stage_begin(state, "stopped4.jsonl");
}

static const struct stage_picture pictures[] = {
	{ "stopped-80x24", "stopped8.jsonl", 24, 80, "3 Enter", false },
	{ "stopped-40x10", "stopped8.jsonl", 10, 40, "3 Enter", false },
	{ "stopped-120x30", "stopped8.jsonl", 30, 120, "3 Enter", false },
	{ "stopped-120x40", "stopped8.jsonl", 40, 120, "3 Enter", false },
	{ "stopped-200x50", "stopped8.jsonl", 50, 200, "3 Enter", false },
	{ "stopped-ascii-80x24", "stopped8.jsonl", 24, 80, "3 Enter", true },
	{ "stopped-table-80x24", "stopped8.jsonl", 24, 80, "G", false },
	{ "breakpoints-80x24", "stopped8.jsonl", 24, 80, "B Down", false },
	{ "breakpoints-40x10", "stopped8.jsonl", 10, 40, "B", false },
	{ "outside-120x30", "outside8.jsonl", 30, 120, "@ 0 , 3 Enter 3 Enter", false },
	{ "outside-80x24", "outside8.jsonl", 24, 80, "3 Enter", false },
	{ "outside-40x10", "outside8.jsonl", 10, 40, "3 Enter", false },
	{ "outside-breakpoints-80x24", "outside8.jsonl", 24, 80, "3 Enter B", false },
	{ "outside-ascii-80x24", "outside8.jsonl", 24, 80, "3 Enter B", true },
	{ "raised-80x24", "stopped4.jsonl", 24, 80, "1 Enter", false },
	{ "raised-40x10", "stopped4.jsonl", 10, 40, "1 Enter", false },
	{ "raised-120x40", "stopped4.jsonl", 40, 120, "1 Enter", false },
	{ "raised-200x50", "stopped4.jsonl", 50, 200, "1 Enter", false },
	{ "waiting-80x24", "stopped4.jsonl", 24, 80, "3 Enter", false },
};

static void draws_the_picture(void **state)
{
	const struct stage_picture *picture = *state;
	struct buffer drawn = BUFFER_INIT;
	struct stage stage;

	stage_open(&stage, picture->recording);
	if (strcmp(picture->recording, "stopped8.jsonl") == 0)
		add_breakpoints(&stage);
	if (strcmp(picture->recording, "outside8.jsonl") == 0)
		add_outside(&stage);
	stage_resize(&stage, picture->row_count, picture->column_count);
	stage.app.view.is_ascii = picture->is_ascii;
	stage_keys(&stage, picture->keys);
	stage_draw(&stage, &drawn);
	stage_check_golden(picture->name, &drawn);
	stage_close(&stage);
	buffer_clear(&drawn);
}

static void the_cursor_returns_with_a_stop(void **state)
{
	struct stage *stage = *state;
	struct session *session = &stage->engine.session;

	stage_keys(stage, "3 Enter");
	stage->app.view.pane = PANE_SOURCE;
	stage_keys(stage, "Up Up");
	assert_int_equal(pane_source_line(session, &stage->app.view), 12);
	session_find_rank(session, 3)->debugger.stops++;
	assert_int_equal(pane_source_line(session, &stage->app.view), 14);
}

/* A line that no file has, as a node may say it. */
static void the_cursor_returns_from_nowhere(void **state)
{
	struct stage *stage = *state;
	struct session *session = &stage->engine.session;

	stage_keys(stage, "3 Enter");
	stage->app.view.pane = PANE_SOURCE;
	view_point(&stage->app.view, session, INT_MAX);
	stage_keys(stage, "PgDn");
	assert_int_equal(pane_source_line(session, &stage->app.view),
			 selected_source(session)->line_count);
	view_point(&stage->app.view, session, INT_MAX);
	stage_keys(stage, "Up");
	assert_int_equal(pane_source_line(session, &stage->app.view),
			 selected_source(session)->line_count);
}

static void what_changed_since_the_stop_before_is_named(void **state)
{
	struct stage *stage = *state;

	stage_resize(stage, 30, 120);
	stage_keys(stage, "3 Enter");
	/* step and x; rank, model and loss are what they were. */
	stage_check_shows(stage, "step   4");
	stage_check_shows(stage, "changed");
}

static void apply(struct stage *stage, const char *line)
{
	struct session *session = &stage->engine.session;
	struct error error = ERROR_INIT;
	struct message message;

	if (message_parse(&message, line, strlen(line), &error) < 0 ||
	    session_apply(session, 0, &message, session->now, &error) < 0)
		fail_msg("%s", error.message);
	message_clear(&message);
}

/* Rank 3 steps into load_batch: train is the caller then, one deeper. */
static void what_changed_is_told_of_a_caller(void **state)
{
	struct stage *stage = *state;
	const struct variables *variables;

	apply(stage, "{\"seq\":1,\"type\":\"event\",\"event\":\"sampled\",\"body\":{\"pid\":4203,"
		     "\"rank\":3,\"epoch\":99,\"time\":1099.0,\"stacks\":[{\"id\":9,\"dropped\":0,"
		     "\"codes\":[[3,\"load_batch\",\"load_batch\",\"" SCRIPT
		     "\",1,0]],\"frames\":[[3,2],[2,13],[1,19]]}],\"threads\":[{\"tid\":4203,\"is_"
		     "main\":true,\"state\":\"stopped\",\"exact\":\"exact\",\"stack\":9}]}}");
	session_find_rank(&stage->engine.session, 3)->debugger.stops++;
	apply(stage,
	      "{\"seq\":2,\"type\":\"response\",\"request_seq\":1,\"success\":true,\"command\":"
	      "\"variables\",\"body\":{\"pid\":4203,\"tid\":4203,\"depth\":1,\"start\":0,\"total\":"
	      "2,\"variables\":[{\"name\":\"step\",\"kind\":\"local\",\"type\":\"int\",\"value\":"
	      "\"5\"},{\"name\":\"rank\",\"kind\":\"local\",\"type\":\"int\",\"value\":\"3\"}]}}");
	variables = session_find_variables(&stage->engine.session, 0, 4203, 4203, 1, 0, 0);
	assert_non_null(variables);
	assert_non_null(variables->is_changed);
	assert_true(variables->is_changed[0]);
	assert_false(variables->is_changed[1]);
}

static void a_breakpoint_is_gone_to(void **state)
{
	struct stage *stage = *state;
	const struct view *view = &stage->app.view;

	stage_keys(stage, "3 Enter B Down Enter");
	assert_int_equal(view->kind, VIEW_HOME);
	assert_int_equal(view->pane, PANE_SOURCE);
	assert_int_equal(view->source_line, 16);
	/* From another file's frame to that file's. */
	stage_keys(stage, "1 Enter B Up Enter");
	assert_int_equal(view->source_line, 14);
	assert_int_equal(session_selected_depth(&stage->engine.session), 2);
}

static void the_header_counts(void **state)
{
	struct stage *stage = *state;

	stage_check_shows(stage, "2 stopped for 0:");
	stage_check_shows(stage, ", max 10:00");
	stage->engine.session.now += 60;
	stage_check_shows(stage, "2 stopped for 1:");
	/* It is told apart from what is left of it. */
	stage_resize(stage, 24, 73);
	stage_check_shows(stage, "8 ranks   ");
}

/* The node will resume ranks 0 and 3, in so many seconds. */
static void limit(struct stage *stage, double seconds)
{
	struct session *session = &stage->engine.session;

	for (int number = 0; number <= 3; number += 3) {
		struct rank *rank = session_find_rank(session, number);

		rank->debugger.lease = seconds;
		rank->debugger.is_limited = seconds >= 0;
		rank->debugger_at = session->now;
	}
}

#define STAY_QUESTION "Stay stopped? (Y; Esc: no)"

static void a_resume_of_the_node_is_asked_about(void **state)
{
	struct stage *stage = *state;
	struct session *session = &stage->engine.session;

	limit(stage, 2000);
	stage_check_hides(stage, STAY_QUESTION);
	session->now += 1900;
	stage_check_shows(stage,
			  " Ranks 0,3 resume in 1:40, before the job times out. " STAY_QUESTION);
	limit(stage, 8);
	stage_check_shows(stage, "Ranks 0,3 resume in 8 s, ");
	session->now += 1.5;
	stage_check_shows(stage, "Ranks 0,3 resume in 7 s, ");
	stage_resize(stage, 10, 40);
	stage_check_shows(stage, "Ranks 0,3 resume in 7 s. Stay? (Y)");
	stage_resize(stage, 24, 80);
	/* It was resumed, or is not to be. */
	limit(stage, -1);
	stage_check_hides(stage, "resume in");
}

static void a_lease_of_an_agent_is_not_asked_about(void **state)
{
	struct stage *stage = *state;
	struct rank *rank = session_find_rank(&stage->engine.session, 3);

	rank->debugger.lease = 5;
	rank->debugger_at = stage->engine.session.now;
	stage_check_hides(stage, "resumes in");
	stage_keys(stage, "Y");
	stage_check_shows(stage, "no stopped rank is about to be resumed");
}

static void keys_do_what_they_do_while_it_asks(void **state)
{
	struct stage *stage = *state;
	struct view *view = &stage->app.view;

	limit(stage, 8);
	stage_keys(stage, "3 Enter");
	stage_check_shows(stage, STAY_QUESTION);
	/* Not an answer, though a question of another kind would take it. */
	stage_keys(stage, "n");
	stage_check_answered(stage, "next: ranks 0,3: ");
	stage_keys(stage, "M");
	assert_int_equal(view->kind, VIEW_MERGED);
	stage_check_shows(stage, STAY_QUESTION);
	stage_keys(stage, "Esc");
	assert_int_equal(view->kind, VIEW_HOME);
	stage_check_shows(stage, STAY_QUESTION);
	stage_keys(stage, ": v e r Y");
	stage_check_shows(stage, ":verY");
	stage_check_hides(stage, STAY_QUESTION);
	stage_keys(stage, "Esc");
	stage_check_shows(stage, STAY_QUESTION);
}

static void what_types_is_left_before_an_answer(void **state)
{
	struct stage *stage = *state;

	limit(stage, 8);
	stage_keys(stage, "e Y");
	stage_check_shows(stage, "times out. Stay stopped? (Esc, then Y)");
	stage_check_hides(stage, "stay stopped:");
	stage_keys(stage, "Backspace Esc Y");
	stage_check_shows(stage, "ranks 0,3 stay stopped: a collective");
}

static void one_resume_is_asked_about_once(void **state)
{
	struct stage *stage = *state;

	limit(stage, 8);
	stage_keys(stage, "Esc");
	stage_check_hides(stage, STAY_QUESTION);
	/* A step leaves the deadline as it was; then there is another. */
	stage->engine.session.now += 1;
	limit(stage, 7);
	stage_check_hides(stage, STAY_QUESTION);
	limit(stage, 9);
	stage_check_shows(stage, STAY_QUESTION);
	stage_keys(stage, "Y");
	stage_check_hides(stage, STAY_QUESTION);
	stage_check_shows(stage, "ranks 0,3 stay stopped: a collective");
	stage_keys(stage, "]");
	stage_check_hides(stage, "stay stopped: a collective");
}

/* It gives way to what went wrong, and to what asks for an answer. */
static void another_question_comes_first(void **state)
{
	struct stage *stage = *state;

	limit(stage, 8);
	stage_keys(stage, "q");
	stage_check_shows(stage, "[y/N]");
	stage_keys(stage, "Y");
	stage_check_shows(stage, "[y/N]");
	stage_keys(stage, "n");
	stage_check_shows(stage, STAY_QUESTION);
}

static void one_that_waits_offers_to_connect(void **state)
{
	struct stage *stage = *state;

	stage_keys(stage, "3 Enter");
	stage_check_shows(stage, "a connect");
	stage_keys(stage, "0 Enter");
	stage_check_hides(stage, "a connect");
}

static void one_that_raised_is_not_stepped(void **state)
{
	struct stage *stage = *state;

	stage_keys(stage, "1 Enter");
	stage_check_shows(stage, "RuntimeError: boom");
	stage_check_hides(stage, "n next");
	stage_check_hides(stage, "from ValueError");
	stage_keys(stage, "x");
	stage_check_shows(stage, "from ValueError: no batch");
}

/* Binds a breakpoint in the first ranks, with that message. */
static void bind(struct session *session, int id, const char *message)
{
	for (size_t i = 0; i < 2; i++) {
		struct debugger *debugger = &session->ranks[i]->debugger;
		struct breakpoint_binding *binding = debugger_add_binding(debugger);

		binding->id = id;
		binding->message = xstrdup_or_null(message);
		session->ranks[i]->sample_count = 2;
	}
}

static void a_pending_breakpoint_is_reported_once(void **state)
{
	struct stage *stage = *state;
	struct engine *engine = &stage->engine;
	bool is_error = true;
	char *notice;

	engine->is_screen = true;
	add_breakpoint(stage, 14, NULL, false);
	add_breakpoint(stage, 15, NULL, false);
	bind(&engine->session, 1, NULL);
	bind(&engine->session, 2, "pending: no function nosuch is loaded yet");
	breakpoint_sync_say(engine);
	notice = engine_take_notice(engine, &is_error);
	assert_string_equal(notice, "breakpoint 2 is pending: no function nosuch is loaded yet");
	assert_false(is_error);
	free(notice);
	breakpoint_sync_say(engine);
	assert_null(engine_take_notice(engine, &is_error));
}

/* Not what it called of a library, as the panes show. */
static void expressions_are_of_the_frame_that_is_seen(void **state)
{
	struct stage *stage = *state;
	struct session *session = &stage->engine.session;
	const struct rank *rank = session_find_rank(session, 1);

	apply(stage, "{\"seq\":1,\"type\":\"event\",\"event\":\"sampled\",\"body\":{\"pid\":4201,"
		     "\"rank\":1,\"epoch\":99,\"time\":1099.0,\"stacks\":[{\"id\":99,\"dropped\":0,"
		     "\"codes\":[[97,\"check\",\"check\",\"/usr/lib/python3/dist-packages/torch/"
		     "nn.py\",1,0],[98,\"train\",\"train\",\"" SCRIPT
		     "\",1,0]],\"frames\":[[97,2],[98,13]]}],\"threads\":[{\"tid\":4201,\"is_"
		     "main\":true,\"state\":\"stopped\",\"exact\":\"exact\",\"stack\":99}]}}");
	stage_keys(stage, "1 Enter");
	assert_int_equal(session_selected_depth(session), 1);
	assert_int_equal(control_depth(session, rank), 1);
	stage_keys(stage, "0 Enter");
	assert_int_equal(control_depth(session, rank), 1);
	stage_keys(stage, "1 Enter d");
	assert_int_equal(control_depth(session, rank), 0);
}

/* The rank looked at waits in train, far from where rank 3 stands. */
static void the_frame_of_a_rank_that_runs_is_nobodys_choice(void **state)
{
	struct stage *stage = *state;
	struct session *session = &stage->engine.session;
	const struct rank *rank = session_find_rank(session, 3);
	struct control control = { .elsewhere = RANKSET_INIT };

	apply(stage,
	      "{\"seq\":1,\"type\":\"event\",\"event\":\"sampled\",\"body\":{\"pid\":4203,\"rank\":"
	      "3,\"epoch\":99,\"time\":1099.0,\"stacks\":[{\"id\":99,\"dropped\":0,\"codes\":[[97,"
	      "\"load_batch\",\"load_batch\",\"" SCRIPT "\",1,0],[98,\"train\",\"train\",\"" SCRIPT
	      "\",8,0],[99,\"<module>\",\"<module>\",\"" SCRIPT
	      "\",1,0]],\"frames\":[[97,3],[98,13],[99,19]]}],\"threads\":[{\"tid\":4203,\"is_"
	      "main\":true,\"state\":\"stopped\",\"exact\":\"exact\",\"stack\":99}]}}");
	stage_keys(stage, "1 Enter");
	assert_true(session_selected_depth(session) > 0);
	assert_int_equal(control_step_depth(&control, session, rank), 0);
	assert_int_equal(control_print_depth(session, rank), 0);
	control_clear(&control);
}

static void what_leaving_costs_is_asked(void **state)
{
	struct stage *stage = *state;

	stage_keys(stage, "q");
	stage_check_shows(stage, "Detach anyway? [y/N]");
	assert_false(stage->app.is_done);
	stage_keys(stage, "Esc");
	assert_false(stage->app.is_done);
	stage_check_hides(stage, "[y/N]");
	/* Enter answers no. */
	stage_keys(stage, "q Enter");
	assert_false(stage->app.is_done);
	stage_check_hides(stage, "[y/N]");
	/* Without the question it is the key that copies. */
	stage_keys(stage, "q n q x q");
	assert_false(stage->app.is_done);
	stage_keys(stage, "q y");
	assert_true(stage->app.is_done);
}

static void hold_by_agent(struct stage *stage, int number)
{
	struct debugger *debugger = &session_find_rank(&stage->engine.session, number)->debugger;

	free(debugger->backend);
	debugger->backend = xstrdup("http");
	debugger->is_post_mortem = true;
	debugger->lease = 600;
}

static void check_end_question(const struct stage *stage, const char *wanted)
{
	char *question = control_end_question(&stage->engine.session);

	assert_string_equal(question, wanted);
	free(question);
}

/* It is its agent that holds it, and not for us. */
static void who_raised_stays_held_when_we_leave(void **state)
{
	struct stage *stage = *state;

	check_end_question(stage, "2 ranks are stopped, and will resume. Quit?");
	hold_by_agent(stage, 3);
	check_end_question(stage, "2 ranks are stopped: 1 will resume, 1 stays stopped by its "
				  "agent until the time limit (lease). Quit?");
	hold_by_agent(stage, 0);
	check_end_question(stage, "2 ranks are stopped, and stay stopped by their agents until the "
				  "time limits (leases). Quit?");
	stage_keys(stage, "q");
	stage_check_shows(stage, "2 ranks are stopped, and stay stopped by their agents");
}

/* What a recording tells of is not changed, and costs nothing to leave. */
static void a_recording_is_left_at_once(void **state)
{
	struct stage *stage = *state;

	stage->engine.session.is_replay = true;
	stage_keys(stage, "3 Enter Enter");
	assert_null(stage->app.view.message.question);
	commands_run(&stage->app, "disable 1");
	stage_check_shows(stage, "break needs a running job, not a recording");
	commands_run(&stage->app, "display x");
	stage_check_shows(stage, "display needs a running job, not a recording");
	stage_keys(stage, "q q q");
	assert_true(stage->app.is_done);
}

static void a_question_stays_when_something_is_said(void **state)
{
	struct stage *stage = *state;

	stage_keys(stage, "q");
	engine_say(&stage->engine, false, "next: rank 3");
	stage_check_shows(stage, "[y/N]");
	stage_keys(stage, "n");
	stage_check_shows(stage, "next: rank 3");
}

/* Who stops meanwhile was not asked about. */
static void yes_is_for_those_that_were_asked_about(void **state)
{
	struct stage *stage = *state;
	struct session *session = &stage->engine.session;

	commands_run(&stage->app, "terminate");
	stage_check_shows(stage, "Ranks 0,3 will raise");
	session_find_rank(session, 5)->debugger.state = DEBUGGER_STOPPED;
	stage_keys(stage, "y");
	stage_check_answered(stage, "terminate: ranks 0,3: ");
	/* One that is not stopped any more is not, either. */
	commands_run(&stage->app, "terminate");
	stage_check_shows(stage, "Ranks 0,3,5 will raise");
	session_find_rank(session, 0)->debugger.state = DEBUGGER_RUNNING;
	stage_keys(stage, "y");
	stage_check_answered(stage, "terminate: ranks 3,5: ");
}

static void what_each_raises_is_said(void **state)
{
	struct stage *stage = *state;
	struct debugger *debugger = &session_find_rank(&stage->engine.session, 3)->debugger;

	debugger->is_post_mortem = true;
	debugger->exception = xstrdup("RuntimeError: boom\nfrom KeyError");
	commands_run(&stage->app, "terminate");
	stage_check_shows(stage, "Rank 0 will raise BdbQuit; rank 3 will raise RuntimeError: boom");
}

static void connecting_says_before_what_it_costs(void **state)
{
	struct stage *stage = *state;
	struct debugger *debugger;

	stage_keys(stage, "3 Enter Enter");
	stage_check_shows(stage, "Leaving ends the debugger: it takes one");
	stage_check_shows(stage, "Connect? [y/N]");
	/* Only an answer is one. */
	stage_keys(stage, "x c Down");
	stage_check_shows(stage, "Connect? [y/N]");
	stage_keys(stage, ": n e x t");
	stage_check_hides(stage, "[y/N]");
	stage_check_shows(stage, ":next");
	stage_keys(stage, "Esc Enter");
	stage_check_shows(stage, "Connect? [y/N]");
	stage_keys(stage, "n");
	stage_check_hides(stage, "[y/N]");
	/* Several are asked about at once. */
	debugger = &session_find_rank(&stage->engine.session, 2)->debugger;
	debugger->state = DEBUGGER_WAITING;
	debugger->leaving = xstrdup(session_find_rank(&stage->engine.session, 3)->debugger.leaving);
	commands_run(&stage->app, "connect ranks 2-3");
	assert_non_null(
		strstr(stage->app.view.message.text, "Ranks 2-3: Leaving ends the debugger"));
	stage_keys(stage, "Esc");
	assert_int_equal(stage->app.view.pane, PANE_GRID);
	/* In any pane. */
	stage_keys(stage, "Tab a");
	stage_check_shows(stage, "Connect? [y/N]");
	stage_keys(stage, "n S-Tab");
	/* One that nobody serves says so, and its source is shown. */
	debugger->state = DEBUGGER_STALE;
	stage_keys(stage, "2 Enter Enter");
	stage_check_shows(stage, "nobody listens on it");
	assert_int_equal(stage->app.view.pane, PANE_SOURCE);
}

/* As if `next` had been said to the ranks that are held, and others. */
static void begin_motion(struct stage *stage, const int *ranks, size_t count)
{
	struct step_group *motion = &stage->app.view.motion;

	motion->command = xstrdup("next");
	motion->ranks = xcalloc(count, sizeof(*motion->ranks));
	motion->count = count;
	for (size_t i = 0; i < count; i++)
		motion->ranks[i] = (struct step_group_rank){
			ranks[i],
			session_find_rank(&stage->engine.session, ranks[i])->debugger.stops,
		};
}

static void ranks_that_run_are_counted(void **state)
{
	static const int ranks[] = { 0, 3 };
	struct stage *stage = *state;
	struct session *session = &stage->engine.session;

	begin_motion(stage, ranks, ARRAY_LENGTH(ranks));
	stage_check_shows(stage, "next: 0 of 2 stopped; 2 running (0,3)");
	session_find_rank(session, 0)->debugger.stops++;
	stage_check_shows(stage, "next: 1 of 2 stopped; 1 running (3)");
	session_find_rank(session, 3)->debugger.state = DEBUGGER_LOST;
	stage_check_hides(stage, "next: ");
	stage_check_shows(stage, "n next");
}

/* The peers of those that ran on may be those that stand. */
static void a_step_that_takes_long_offers_to_release(void **state)
{
	static const int ranks[] = { 0, 3 };
	struct stage *stage = *state;
	struct session *session = &stage->engine.session;
	struct debugger *debugger = &session_find_rank(session, 3)->debugger;

	stage_keys(stage, "3 Enter");
	begin_motion(stage, ranks, ARRAY_LENGTH(ranks));
	stage->app.view.motion.began_at = session->now;
	stage->app.view.motion.offer_after = 5;
	session_find_rank(session, 0)->debugger.stops++;
	debugger->state = DEBUGGER_RUNNING;
	session->now += 3.25;
	stage_check_shows(stage, "next: 1 of 2 stopped; 1 running (3), 3.2 s");
	stage_check_hides(stage, "r resumes the stopped ranks");
	stage_keys(stage, "c");
	stage_check_shows(stage, "; then continue (Esc cancels)");
	stage_keys(stage, "Esc");
	session->now += 4;
	stage_check_shows(stage, "1 running (3), 7.2 s  r resumes the stopped ranks");
	/* It is said until it is over, whatever is looked at meanwhile. */
	stage_keys(stage, "]");
	stage_check_shows(stage, "r resumes the stopped ranks");
	commands_run(&stage->app, "release");
	stage_check_answered(stage, "release: rank 0: ");
	/* So does this, then. */
	stage_keys(stage, "c");
	assert_int_equal(stage->app.view.steps.count, 0);
	debugger->state = DEBUGGER_STOPPED;
	debugger->stops++;
	stage_keys(stage, "Up");
	stage_check_hides(stage, "next: ");
}

/* Who stopped first would else be a step ahead. */
static void a_step_waits_for_the_one_before_it(void **state)
{
	static const int ranks[] = { 0, 3 };
	struct stage *stage = *state;
	struct session *session = &stage->engine.session;
	const struct stepqueue *queue = &stage->app.view.steps;

	stage_keys(stage, "@ 0 , 3 Enter");
	begin_motion(stage, ranks, ARRAY_LENGTH(ranks));
	stage->app.view.motion.began_at = session->now;
	session_find_rank(session, 0)->debugger.stops++;
	session_find_rank(session, 3)->debugger.state = DEBUGGER_RUNNING;
	stage_keys(stage, "n n s");
	stage_check_shows(stage, "next: 1 of 2 stopped; 1 running (3); then next \u00d72, step "
				 "(Esc cancels)");
	commands_go_on(&stage->app);
	assert_int_equal(queue->count, 3);
	stage_keys(stage, "Esc");
	stage_check_hides(stage, "; then");
	stage_keys(stage, "n p");
	assert_int_equal(queue->count, 0);
	stage_keys(stage, "n C-c");
	assert_int_equal(queue->count, 0);
	stage_keys(stage, "n n");
	session_find_rank(session, 3)->debugger.stops++;
	session_find_rank(session, 3)->debugger.state = DEBUGGER_STOPPED;
	commands_go_on(&stage->app);
	assert_int_equal(queue->count, 1);
	/* What others do is no matter of those. */
	step_group_clear(&stage->app.view.motion);
	begin_motion(stage, &ranks[1], 1);
	stage_keys(stage, "@ 0 Enter n");
	assert_int_equal(queue->count, 1);
}

/* They wait in all_reduce, since long, for the one that stands. */
static void who_waits_for_those_that_stand_is_not_waited_for(void **state)
{
	static const int ranks[] = { 0, 1, 2 };
	struct stage *stage = *state;
	struct session *session = &stage->engine.session;

	stage_keys(stage, "@ 0 - 2 Enter");
	begin_motion(stage, ranks, ARRAY_LENGTH(ranks));
	session_find_rank(session, 0)->debugger.stops++;
	for (int rank = 1; rank <= 2; rank++) {
		session_find_rank(session, rank)->debugger.state = DEBUGGER_RUNNING;
		session_find_rank(session, rank)->threads[0].since = session->now;
	}
	stage_keys(stage, "n");
	assert_int_equal(stage->app.view.steps.count, 1);
	session->now += 1;
	commands_go_on(&stage->app);
	assert_int_equal(stage->app.view.steps.count, 0);
	stage_check_answered(stage, "next: rank 0: ");
}

/* Alone in all_reduce it stops some time, or never: nobody stands. */
static void a_step_waits_for_one_that_waits_alone(void **state)
{
	static const int ranks[] = { 0 };
	struct stage *stage = *state;
	struct session *session = &stage->engine.session;
	struct rank *rank = session_find_rank(session, 0);

	rank->debugger.state = DEBUGGER_RUNNING;
	begin_motion(stage, ranks, ARRAY_LENGTH(ranks));
	rank->threads[0].activity = session_find_rank(session, 1)->threads[0].activity;
	stage_keys(stage, "@ 0 Enter n");
	session->now += 2;
	commands_go_on(&stage->app);
	assert_int_equal(stage->app.view.steps.count, 1);
}

/* The others' wait is what ends the job, however often it stops meanwhile. */
static void the_clock_runs_on_over_steps(void **state)
{
	struct stage *stage = *state;
	struct session *session = &stage->engine.session;

	stage_check_shows(stage, "2 stopped for 0:42, max 10:00");
	session->now += 20;
	for (int rank = 0; rank <= 3; rank += 3) {
		struct debugger *debugger = &session_find_rank(session, rank)->debugger;

		debugger->held = 0;
		session_find_rank(session, rank)->debugger_at = session->now;
	}
	stage_check_shows(stage, "2 stopped for 1:02, max 10:00");
}

static void what_waits_is_dropped_where_a_step_is_refused(void **state)
{
	static const int ranks[] = { 0, 3 };
	struct stage *stage = *state;

	stage_keys(stage, "@ 0 , 3 Enter");
	begin_motion(stage, ranks, ARRAY_LENGTH(ranks));
	stage_keys(stage, "n");
	assert_int_equal(stage->app.view.steps.count, 1);
	stage->app.view.motion.is_answered = true;
	commands_go_on(&stage->app);
	assert_int_equal(stage->app.view.steps.count, 0);
}

static void what_runs_to_a_line_is_called_so(void **state)
{
	static const int ranks[] = { 0, 3 };
	struct stage *stage = *state;
	struct breakpoints *list = &stage->engine.session.choice.breakpoints;
	struct debugger stop;

	begin_motion(stage, ranks, ARRAY_LENGTH(ranks));
	stage->app.view.motion.began_at = stage->engine.session.now;
	step_group_name(&stage->app.view.motion, "to line 12");
	stage_check_shows(stage, "to line 12: 0 of 2 stopped; 2 running (0,3)");
	debugger_init(&stop);
	stop.reason = STOP_BREAKPOINT;
	stop.hits[0] = list->run_to = 7;
	stop.hit_count = 1;
	breakpoints_name_stop(list, &stop);
	assert_int_equal(stop.reason, STOP_STEP);
	stop.reason = STOP_BREAKPOINT;
	stop.hits[0] = 6;
	breakpoints_name_stop(list, &stop);
	assert_int_equal(stop.reason, STOP_BREAKPOINT);
	debugger_clear(&stop);
}

static void where_they_run_is_named(void **state)
{
	static const int ranks[] = { 0, 1, 2 };
	struct stage *stage = *state;
	struct session *session = &stage->engine.session;

	begin_motion(stage, ranks, ARRAY_LENGTH(ranks));
	session_find_rank(session, 0)->debugger.stops++;
	for (int rank = 1; rank <= 2; rank++)
		session_find_rank(session, rank)->debugger.state = DEBUGGER_RUNNING;
	stage_check_shows(stage, "next: 1 of 3 stopped; 2 in all_reduce (1-2)");
}

/* By its agent: it is not stopped where it is. */
static void a_pause_that_has_not_come_is_explained(void **state)
{
	static const int ranks[] = { 0, 1 };
	struct stage *stage = *state;
	struct session *session = &stage->engine.session;
	struct debugger *debugger = &session_find_rank(session, 1)->debugger;

	begin_motion(stage, ranks, ARRAY_LENGTH(ranks));
	xreplace(&stage->app.view.motion.command, "pause");
	session_find_rank(session, 0)->debugger.stops++;
	session_find_rank(session, 1)->is_pausing = true;
	debugger->state = DEBUGGER_RUNNING;
	stage_check_shows(stage, "pause: 1 of 2 stopped; 1 in all_reduce (1)");
	stage_check_hides(stage, "next Python line");
	xreplace(&debugger->backend, "http");
	stage_check_shows(
		stage, "pause: 1 of 2 stopped; 1 in all_reduce (1) will stop at its next Python");
	step_group_clear(&stage->app.view.motion);
	begin_motion(stage, &ranks[1], 1);
	xreplace(&stage->app.view.motion.command, "pause");
	stage_check_shows(
		stage, "pause: rank 1 waits in all_reduce and will stop at its next Python line");
	/* It has stopped, and the node has resumed it and left. */
	session_find_rank(session, 1)->is_pausing = false;
	debugger->state = DEBUGGER_NONE;
	debugger->stops = 0;
	stage_check_hides(stage, "pause: rank 1");
}

static void esc_drops_a_pause_that_has_not_come(void **state)
{
	struct stage *stage = *state;
	struct session *session = &stage->engine.session;
	struct rank *pausing = session_find_rank(session, 1);

	pausing->debugger.state = DEBUGGER_RUNNING;
	pausing->is_pausing = true;
	/* Who stands is let go, and the pause comes then. */
	commands_run(&stage->app, "release");
	assert_true(pausing->is_pausing);
	stage_keys(stage, "Esc");
	assert_false(pausing->is_pausing);
	pausing->is_pausing = true;
	stage_keys(stage, "c");
	assert_false(pausing->is_pausing);
}

static void how_far_apart_they_stopped_is_said(void **state)
{
	static const int ranks[] = { 0, 3 };
	struct stage *stage = *state;
	struct session *session = &stage->engine.session;
	struct step_group *motion = &stage->app.view.motion;

	begin_motion(stage, ranks, ARRAY_LENGTH(ranks));
	free(motion->command);
	motion->command = xstrdup("pause");
	for (size_t i = 0; i < ARRAY_LENGTH(ranks); i++) {
		struct debugger *debugger = &session_find_rank(session, ranks[i])->debugger;

		debugger->stops++;
		debugger->stopped_at = 1000.0 + 0.0012 * (double)i;
	}
	stage_check_shows(stage, "pause: 2 ranks stopped within 1.2 ms");
	stage_keys(stage, "]");
	stage_check_hides(stage, "pause: ");
}

/* A hand may do that by habit; what a command let run is wanted back. */
static void ctrl_c_pauses_and_asks_before(void **state)
{
	struct stage *stage = *state;
	struct session *session = &stage->engine.session;
	struct debugger *debugger = &session_find_rank(session, 3)->debugger;

	stage_keys(stage, "? C-c");
	assert_int_equal(stage->app.view.kind, VIEW_HOME);
	stage_check_hides(stage, "[y/N]");
	stage_keys(stage, "C-c");
	stage_check_shows(stage, "Pause ranks 1-2,4-7 (running)? [y/N]");
	stage_keys(stage, "C-c");
	stage_check_hides(stage, "[y/N]");
	stage_keys(stage, "C-c y");
	stage_check_answered(stage, "pause: ranks 1-2,4-7: ");
	debugger->state = DEBUGGER_RUNNING;
	stage_keys(stage, "@ 3 Enter Tab C-c");
	stage_check_hides(stage, "[y/N]");
	stage_check_answered(stage, "pause: rank 3: ");
}

static void a_rank_that_runs_can_be_paused(void **state)
{
	struct stage *stage = *state;

	stage_keys(stage, "1 Enter Esc");
	stage_check_shows(stage, "p pause");
	stage_keys(stage, "p");
	stage_check_answered(stage, "pause: ranks 1-2,4-7: ");
}

static void a_watch_is_typed(void **state)
{
	struct stage *stage = *state;
	const struct breakpoints *list = &stage->engine.session.choice.breakpoints;

	stage_keys(stage, "3 Enter w l o s s Enter");
	assert_int_equal(list->count, 4);
	assert_string_equal(list->items[3].breakpoint.watch, "loss");
	assert_int_equal(list->items[3].breakpoint.depth, 0);
	stage_check_shows(stage, "watch 4: loss, ranks 0,3 (2)");
	stage_keys(stage, "@ 1 Enter w x Enter");
	stage_check_shows(stage, "watch: rank 1 is running: pause it first");
}

static void what_a_watch_saw_is_shown(void **state)
{
	struct stage *stage = *state;
	struct debugger *debugger = &session_find_rank(&stage->engine.session, 3)->debugger;

	debugger->reason = STOP_DATA_BREAKPOINT;
	debugger->hits[0] = 3;
	free(debugger->description);
	debugger->description = xstrdup("loss: 0.1 -> 0.2");
	session_judge(&stage->engine.session);
	stage_keys(stage, "3 Enter");
	stage_check_shows(stage, "3 ■ watch 3");
	stage_check_shows(stage, "Rank 3 stopped at watch 3");
	stage_check_shows(stage, "rank 3 ─ loss: 0.1 -> 0.2");
}

/* Behind the line: until; before it, or of another function: a breakpoint. */
static void t_runs_to_the_cursor(void **state)
{
	static const struct {
		const char *keys;
		const char *says;
		int line; /* of a breakpoint; 0: none is set */
	} cases[] = {
		{ "t", "until: ranks 0,3: ", 0 },
		{ "Down Down t", "until: ranks 0,3: ", 0 },
		{ "Up Up t", "continue: ranks 0,3: ", 12 },
		{ "Home Down t", "continue: ranks 0,3: ", 2 },
	};
	void *own;

	(void)state;
	for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
		const struct breakpoint *last;
		struct stage *stage;

		begin_outside(&own);
		stage = own;
		stage_keys(stage, "3 Enter");
		stage->app.view.pane = PANE_SOURCE;
		stage_keys(stage, cases[i].keys);
		stage_check_answered(stage, cases[i].says);
		last = &stage->engine.session.choice.breakpoints.items[2 + (cases[i].line > 0)]
				.breakpoint;
		assert_int_equal(last->line, cases[i].line);
		assert_int_equal(last->is_temporary, cases[i].line > 0);
		stage_end(&own);
	}
}

static void a_line_without_code_is_not_run_to(void **state)
{
	struct stage *stage = *state;

	stage_keys(stage, "3 Enter");
	stage->app.view.pane = PANE_SOURCE;
	view_point(&stage->app.view, &stage->engine.session, 4);
	stage_keys(stage, "t");
	stage_check_shows(
		stage, "cannot run to line 4: the line has no code (the next line with code is 5)");
}

/* They would wait for those that are left standing. */
static void a_step_into_a_collective_is_asked_about(void **state)
{
	struct stage *stage = *state;
	struct session *session = &stage->engine.session;

	stage_keys(stage, "@ 3 Enter 3 Enter c");
	stage_check_shows(stage, "Rank 3 reaches all_reduce (line 17) and will wait there for");
	stage_keys(stage, "n n");
	stage_check_answered(stage, "next: rank 3: ");
	/* Together they are not asked. */
	stage_keys(stage, "@ 0 , 3 Enter c");
	stage_check_hides(stage, "[y/N]");
	session->is_replay = true;
}

static void what_debuggers_cannot_be_told_is_said(void **state)
{
	static const char *const keys[] = { "n", "s", "f", "c", "t" };
	struct stage *stage = *state;

	stage->engine.session.is_replay = true;
	stage_check_hides(stage, "n next");
	for (size_t i = 0; i < ARRAY_LENGTH(keys); i++) {
		stage_keys(stage, keys[i]);
		assert_true(stage->app.view.message.is_error);
		stage_check_shows(stage, "needs a running job, not a recording");
	}
}

static void the_list_turns_breakpoints_off(void **state)
{
	struct stage *stage = *state;
	const struct breakpoints *list = &stage->engine.session.choice.breakpoints;

	stage_keys(stage, "B Space");
	assert_true(list->items[0].breakpoint.is_disabled);
	stage_keys(stage, "x");
	assert_false(list->items[0].breakpoint.is_disabled);
	stage_keys(stage, "Down -");
	assert_int_equal(list->count, 1);
	stage_keys(stage, "Delete");
	assert_int_equal(list->count, 0);
	stage_check_shows(stage, "no breakpoints: set one");
	stage_keys(stage, "-");
	stage_check_shows(stage, "no breakpoint is set");
}

/* What a node says of them is not ours to trust. */
static void hits_are_summed(void **state)
{
	struct stage *stage = *state;
	struct breakpoint_summary summary;

	for (int rank = 0; rank <= 3; rank += 3)
		session_find_rank(&stage->engine.session, rank)->debugger.bindings[0].hits =
			INT_MAX;
	assert_true(breakpoint_summary_make(&summary, &stage->engine.session, 0));
	assert_int_equal(summary.hits, 2 * (int64_t)INT_MAX);
	breakpoint_summary_clear(&summary);
	stage_keys(stage, "B");
	stage_check_shows(stage, "hit 2,147,483,647 each");
	session_find_rank(&stage->engine.session, 0)->debugger.bindings[0].hits = 3;
	stage_check_shows(stage, "hit 2,147,483,650 in 2 ranks");
}

/* "forward (train.py:14)" needs more than there is. */
static void a_function_without_room_is_its_name(void **state)
{
	struct stage *stage = *state;
	struct breakpoint *first = &stage->engine.session.choice.breakpoints.items[0].breakpoint;

	free(first->path);
	first->path = NULL;
	first->line = 0;
	first->function = xstrdup("Trainer.training_step");
	stage_keys(stage, "B");
	stage_check_shows(stage, "Trainer.training_step (train.py:14)");
	stage_resize(stage, 24, 50);
	stage_check_shows(stage, "Trainer.training_step ");
	stage_check_hides(stage, "(train");
}

static void a_long_reason_has_several_lines(void **state)
{
	struct stage *stage = *state;
	struct debugger *debugger = &session_find_rank(&stage->engine.session, 3)->debugger;

	free(debugger->bindings[0].message);
	debugger->bindings[0].message =
		xstrdup("no free debug register: a thread has 4, used by breakpoints 1, 2, 3, 4; "
			"disable a breakpoint, or inject an agent");
	stage_keys(stage, "B");
	stage_check_shows(stage, "3: no free debug register: a thread has 4,");
	stage_check_shows(stage, "or inject an agent");
}

/* Its rank goes on without a debugger then. */
static void a_watch_whose_frame_has_ended_says_so(void **state)
{
	struct stage *stage = *state;

	for (int rank = 0; rank <= 3; rank += 3)
		debugger_clear(&session_find_rank(&stage->engine.session, rank)->debugger);
	stage_keys(stage, "B");
	stage_check_shows(stage, "3 \u25cb watch loss");
	stage_check_shows(stage, "0,3     over");
	stage_check_shows(stage, "0,3: out of scope: the frame has returned");
}

/* On wide screens the list has a pane, until nothing is in it. */
static void the_pane_goes_with_the_last(void **state)
{
	struct stage *stage = *state;

	stage_resize(stage, 40, 120);
	stage_keys(stage, "3 Enter S-Tab");
	assert_int_equal(stage->app.view.pane, PANE_BREAKPOINTS);
	stage_check_shows(stage, "├Breakpoints");
	stage_keys(stage, "- -");
	stage_check_hides(stage, "├Breakpoints");
	stage_keys(stage, "Space");
	assert_false(stage->app.view.message.is_error);
}

static void b_sets_one_and_clears_it(void **state)
{
	struct stage *stage = *state;
	const struct breakpoints *list = &stage->engine.session.choice.breakpoints;

	stage_keys(stage, "3 Enter b");
	assert_int_equal(list->count, 1);
	assert_int_equal(list->items[0].breakpoint.line, 16);
	stage->app.view.pane = PANE_SOURCE;
	stage_keys(stage, "Down b");
	assert_int_equal(list->count, 2);
	assert_string_equal(list->items[1].breakpoint.path, SCRIPT);
	assert_int_equal(list->items[1].breakpoint.line, 15);
	stage_keys(stage, "b");
	assert_int_equal(list->count, 1);
}

int main(void)
{
	enum { PICTURES = ARRAY_LENGTH(pictures) };
	static const struct CMUnitTest others[] = {
		cmocka_unit_test_setup_teardown(the_cursor_returns_with_a_stop, begin_eight,
						stage_end),
		cmocka_unit_test_setup_teardown(the_cursor_returns_from_nowhere, begin_eight,
						stage_end),
		cmocka_unit_test_setup_teardown(what_changed_since_the_stop_before_is_named,
						begin_eight, stage_end),
		cmocka_unit_test_setup_teardown(what_changed_is_told_of_a_caller, begin_eight,
						stage_end),
		cmocka_unit_test_setup_teardown(a_breakpoint_is_gone_to, begin_eight, stage_end),
		cmocka_unit_test_setup_teardown(the_header_counts, begin_eight, stage_end),
		cmocka_unit_test_setup_teardown(a_resume_of_the_node_is_asked_about, begin_outside,
						stage_end),
		cmocka_unit_test_setup_teardown(a_lease_of_an_agent_is_not_asked_about,
						begin_outside, stage_end),
		cmocka_unit_test_setup_teardown(keys_do_what_they_do_while_it_asks, begin_outside,
						stage_end),
		cmocka_unit_test_setup_teardown(what_types_is_left_before_an_answer, begin_outside,
						stage_end),
		cmocka_unit_test_setup_teardown(one_resume_is_asked_about_once, begin_outside,
						stage_end),
		cmocka_unit_test_setup_teardown(another_question_comes_first, begin_outside,
						stage_end),
		cmocka_unit_test_setup_teardown(the_frame_of_a_rank_that_runs_is_nobodys_choice,
						begin_outside, stage_end),
		cmocka_unit_test_setup_teardown(expressions_are_of_the_frame_that_is_seen,
						begin_four, stage_end),
		cmocka_unit_test_setup_teardown(who_raised_stays_held_when_we_leave, begin_outside,
						stage_end),
		cmocka_unit_test_setup_teardown(what_leaving_costs_is_asked, begin_eight,
						stage_end),
		cmocka_unit_test_setup_teardown(a_recording_is_left_at_once, begin_four, stage_end),
		cmocka_unit_test_setup_teardown(a_question_stays_when_something_is_said,
						begin_eight, stage_end),
		cmocka_unit_test_setup_teardown(yes_is_for_those_that_were_asked_about, begin_eight,
						stage_end),
		cmocka_unit_test_setup_teardown(what_each_raises_is_said, begin_eight, stage_end),
		cmocka_unit_test_setup_teardown(connecting_says_before_what_it_costs, begin_four,
						stage_end),
		cmocka_unit_test_setup_teardown(ranks_that_run_are_counted, begin_eight, stage_end),
		cmocka_unit_test_setup_teardown(what_debuggers_cannot_be_told_is_said, begin_eight,
						stage_end),
		cmocka_unit_test_setup_teardown(a_step_that_takes_long_offers_to_release,
						begin_outside, stage_end),
		cmocka_unit_test_setup_teardown(a_step_waits_for_the_one_before_it, begin_outside,
						stage_end),
		cmocka_unit_test_setup_teardown(who_waits_for_those_that_stand_is_not_waited_for,
						begin_outside, stage_end),
		cmocka_unit_test_setup_teardown(a_step_waits_for_one_that_waits_alone,
						begin_outside, stage_end),
		cmocka_unit_test_setup_teardown(the_clock_runs_on_over_steps, begin_outside,
						stage_end),
		cmocka_unit_test_setup_teardown(what_waits_is_dropped_where_a_step_is_refused,
						begin_outside, stage_end),
		cmocka_unit_test_setup_teardown(what_runs_to_a_line_is_called_so, begin_outside,
						stage_end),
		cmocka_unit_test_setup_teardown(where_they_run_is_named, begin_outside, stage_end),
		cmocka_unit_test_setup_teardown(a_pause_that_has_not_come_is_explained,
						begin_outside, stage_end),
		cmocka_unit_test_setup_teardown(esc_drops_a_pause_that_has_not_come, begin_outside,
						stage_end),
		cmocka_unit_test_setup_teardown(how_far_apart_they_stopped_is_said, begin_outside,
						stage_end),
		cmocka_unit_test_setup_teardown(ctrl_c_pauses_and_asks_before, begin_outside,
						stage_end),
		cmocka_unit_test_setup_teardown(a_rank_that_runs_can_be_paused, begin_outside,
						stage_end),
		cmocka_unit_test_setup_teardown(a_watch_is_typed, begin_outside, stage_end),
		cmocka_unit_test_setup_teardown(what_a_watch_saw_is_shown, begin_outside,
						stage_end),
		cmocka_unit_test(t_runs_to_the_cursor),
		cmocka_unit_test_setup_teardown(a_line_without_code_is_not_run_to, begin_outside,
						stage_end),
		cmocka_unit_test_setup_teardown(a_step_into_a_collective_is_asked_about,
						begin_outside, stage_end),
		cmocka_unit_test_setup_teardown(the_list_turns_breakpoints_off, begin_eight,
						stage_end),
		cmocka_unit_test_setup_teardown(a_function_without_room_is_its_name, begin_outside,
						stage_end),
		cmocka_unit_test_setup_teardown(a_long_reason_has_several_lines, begin_outside,
						stage_end),
		cmocka_unit_test_setup_teardown(a_watch_whose_frame_has_ended_says_so,
						begin_outside, stage_end),
		cmocka_unit_test_setup_teardown(hits_are_summed, begin_eight, stage_end),
		cmocka_unit_test_setup_teardown(the_pane_goes_with_the_last, begin_eight,
						stage_end),
		cmocka_unit_test_setup_teardown(b_sets_one_and_clears_it, begin_eight, stage_end),
		cmocka_unit_test_setup_teardown(one_that_waits_offers_to_connect, begin_four,
						stage_end),
		cmocka_unit_test_setup_teardown(one_that_raised_is_not_stepped, begin_four,
						stage_end),
		cmocka_unit_test_setup_teardown(a_pending_breakpoint_is_reported_once, begin_four,
						stage_end),
	};
	struct CMUnitTest tests[PICTURES + ARRAY_LENGTH(others)];

	stage_add_pictures(tests, pictures, PICTURES, draws_the_picture);
	memcpy(tests + PICTURES, others, sizeof(others));
	return cmocka_run_group_tests_name("stopped", tests, NULL, NULL);
}
