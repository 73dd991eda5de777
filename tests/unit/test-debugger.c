/* debugger: what a rank's debugger reports, kept over events and answers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "banned.h"
#include "base/alloc.h"
#include "base/array.h"
#include "base/error.h"
#include "base/json.h"
#include "protocol/debugger.h"
#include "scene.h"

/* Breakpoints that were sent while a rank had no debugger are not sent again. */
static void breakpoints_are_sent_anew_to_a_rank_attached_anew(void **state)
{
	const char *paused = "{'pid':100,'rank':0,'state':'stopped','backend':'ptrace',"
			     "'target':'ptrace:100','stops':1,'tid':100,'reason':'pause'}";
	struct scene scene;
	struct rank *rank;

	(void)state;
	scene_init(&scene);
	scene_start(&scene, 1);
	rank = session_find_rank(&scene.session, 0);
	rank->breakpoints_sent = 5;
	rank->is_attached_for_them = true;
	scene_text(&scene, "stopped", paused);
	assert_int_equal(rank->breakpoints_sent, 5);
	scene_text(&scene, "debugger", "{'pid':100,'rank':0,'state':'none'}");
	assert_int_equal(rank->breakpoints_sent, 5);
	scene_text(&scene, "stopped", paused);
	assert_int_equal(rank->breakpoints_sent, 0);
	scene_clear(&scene);
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
		debugger.backend = xstrdup("ptrace");
		debugger.reason = STOP_PAUSE;
		debugger.resumed_for = reasons[i];
		debugger.description = xstrdup("rank 1 was sent SIGTERM");
		json = debugger_to_json(&debugger);
		assert_string_equal(json_get_string(json, "reason", ""),
				    resume_reason_name(reasons[i]));
		assert_int_equal(debugger_from_json(&debugger, json, &error), 0);
		assert_int_equal(debugger.resumed_for, reasons[i]);
		assert_string_equal(debugger.description, "rank 1 was sent SIGTERM");
		json_decref(json);
		debugger_clear(&debugger);
		assert_int_equal(debugger.resumed_for, RESUME_REQUEST);
	}
}

static void an_answer_adds_what_no_event_has(void **state)
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
		cmocka_unit_test(breakpoints_are_sent_anew_to_a_rank_attached_anew),
		cmocka_unit_test(a_resume_comes_back_as_it_was_written),
		cmocka_unit_test(an_answer_adds_what_no_event_has),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
