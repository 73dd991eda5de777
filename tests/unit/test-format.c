/* format: lines for people and JSON, made from a session of messages. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "banned.h"
#include "base/buffer.h"
#include "base/error.h"
#include "base/json.h"
#include "engine/format.h"
#include "engine/rank-answers.h"
#include "model/session.h"
#include "protocol/message.h"
#include "protocol/stack.h"
#include "protocol/variable.h"

/* Two ranks: one waits, the other, whose file has a bad name, sleeps. */
static const char *const lines[] = {
	"{'seq':1,'type':'event','event':'rankAdded','body':{'pid':10,'rank':0,'world_size':2,'uid'"
	":0,'start_time':1,'state':'live','job':'a:1','launcher_pid':9,'script':'t.py','script_"
	"path':'/w/t.py','cwd':'/w'}}",
	"{'seq':2,'type':'event','event':'rankAdded','body':{'pid':11,'rank':1,'world_size':2,'uid'"
	":0,'start_time':1,'state':'live','job':'a:1','launcher_pid':9,'script':'t.py','script_"
	"path':'/w/t.py','cwd':'/w'}}",
	"{'seq':3,'type':'response','request_seq':1,'success':true,'command':'discover','body':{'"
	"looked_at':2,'uid':0,'bystanders':[]}}",
	"{'seq':4,'type':'event','event':'sampled','body':{'pid':10,'epoch':1,'time':1,'stacks':[{'"
	"id':1,'dropped':0,'codes':[[1,'all_reduce',null,'/p/torch/distributed/"
	"distributed_c10d.py',1,0],[2,'train',null,'/w/"
	"t.py',1,0]],'frames':[[1,30],[2,17]]}],'threads':[{'tid':10,'is_main':true,'state':'"
	"blocked','exact':'exact','stack':1}]}}",
	"{'seq':5,'type':'event','event':'sampled','body':{'pid':11,'epoch':1,'time':1,'stacks':[{'"
	"id':2,'dropped':0,'codes':[[3,'l\\u001b\\u202ead',null,'/w/"
	"b\\u001b.py',1,0]],'frames':[[3,5],[2,13]]}],'threads':[{'tid':11,'name':'Main','is_main':"
	"true,'state':'blocked','exact':'torn','stack':2}]}}",
};

static void apply(struct session *session, const char *text)
{
	struct buffer line = BUFFER_INIT;
	struct error error = ERROR_INIT;
	struct message message;

	for (const char *at = text; *at != '\0'; at++)
		buffer_append_char(&line, *at == '\'' ? '"' : *at);
	if (message_parse(&message, line.data, line.length, &error) < 0 ||
	    session_apply(session, 0, &message, 1, &error) < 0)
		fail_msg("%s: %s", text, error.message);
	message_clear(&message);
	buffer_clear(&line);
}

static int make(void **state)
{
	static struct session session;

	session_init(&session);
	session_add_node(&session, "here");
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		apply(&session, lines[i]);
	session_judge(&session);
	*state = &session;
	return 0;
}

static int clear(void **state)
{
	session_clear(*state);
	return 0;
}

static void ranks_stand_in_lines(void **state)
{
	struct rankset some = RANKSET_INIT;
	struct buffer out = BUFFER_INIT;

	rankset_add(&some, 0);
	format_text_ranks(&out, *state, &some);
	assert_string_equal(out.data,
			    "   0    pid 10      waiting     all_reduce        train (t.py:17)\n");
	rankset_clear(&some);
	buffer_reset(&out);
	format_text_ranks(&out, *state, &some);
	assert_non_null(strstr(out.data, "\n   1 *  pid 11"));
	buffer_clear(&out);
}

static void classes_stand_below_the_sentence(void **state)
{
	const struct session *session = *state;
	struct buffer out = BUFFER_INIT;

	format_text_verdict(&out, session);
	assert_non_null(strstr(out.data, "\n  1  0  all_reduce  train (t.py:17)\n"));
	assert_null(strchr(out.data, '\033'));
	assert_non_null(strstr(out.data, "l^[<202e>ad"));
	buffer_clear(&out);
}

static void a_torn_thread_says_so(void **state)
{
	struct buffer out = BUFFER_INIT;
	const struct rank *rank = session_find_rank(*state, 1);

	format_text_thread(&out, rank_main_thread(rank));
	assert_non_null(strstr(out.data, "thread 11 Main  blocked, torn"));
	buffer_clear(&out);
}

static void unknown_values_are_null(void **state)
{
	const struct session *session = *state;
	json_t *json = format_json_rank(session, session_find_rank(session, 0));
	const json_t *thread = json_array_get(json_object_get(json, "threads"), 0);
	const json_t *frame = json_array_get(json_object_get(thread, "frames"), 1);

	assert_true(json_is_null(json_object_get(json, "host")));
	assert_true(json_is_null(json_object_get(json, "error")));
	assert_true(json_is_null(json_object_get(thread, "name")));
	assert_true(json_is_null(json_object_get(thread, "has_gil")));
	assert_true(json_is_null(json_object_get(frame, "qualname")));
	assert_int_equal(json_get_integer(frame, "lineno", -1), 17);
	assert_int_equal(json_get_integer(frame, "depth", -1), 1);
	assert_true(json_get_boolean(frame, "is_user", false));
	assert_int_equal(json_get_integer(json, "world_size", -1), 2);
	json_decref(json);
}

static void a_verdict_names_its_outliers(void **state)
{
	json_t *json = format_json_verdict(*state);
	const json_t *outliers = json_object_get(json, "outliers");

	assert_int_equal(json_array_size(outliers), 1);
	assert_int_equal(json_integer_value(json_array_get(outliers, 0)), 1);
	assert_string_equal(json_get_string(json, "state", ""), "unknown");
	json_decref(json);
}

/* The document is safe on a terminal and still says the same. */
static void a_document_holds_no_controls(void **state)
{
	static const char text[] = "a\033\177\xc2\x85\xe2\x80\xae\xf3\xa0\x80"
				   "\x81\xc3\xa9\"\\";
	struct buffer out = BUFFER_INIT;
	struct error error = ERROR_INIT;
	json_t *json = json_object();
	json_t *back;

	(void)state;
	json_set_text(json, "key", text);
	format_document(&out, json);
	assert_null(strpbrk(out.data, "\033\177"));
	assert_null(strstr(out.data, "\xc2\x85"));
	assert_null(strstr(out.data, "\xe2\x80\xae"));
	assert_null(strstr(out.data, "\xf3\xa0\x80\x81"));
	assert_non_null(strstr(out.data, "\xc3\xa9"));
	assert_int_equal(out.data[out.length - 1], '\n');
	back = json_parse(out.data, out.length, &error);
	assert_non_null(back);
	assert_string_equal(json_get_string(back, "key", ""), text);
	json_decref(back);
	buffer_clear(&out);
}

static void variables_line_up(void **state)
{
	struct variable_list list = { .total = -1 };
	struct buffer out = BUFFER_INIT;
	static const char *const pairs[][2] = {
		{ "x", "1" },
		{ "batch", "'a\033'" },
	};

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct variable *variable = variable_list_add(&list);

		variable->name = strdup(pairs[i][0]);
		variable->type = strdup("int");
		variable->value = strdup(pairs[i][1]);
	}
	format_text_variables(&out, &list, "  ");
	assert_string_equal(out.data, "  x      1\n  batch  'a^['\n");
	variable_list_clear(&list);
	buffer_clear(&out);
}

static void failures_are_folded(void **state)
{
	struct failures failures = FAILURES_INIT;
	struct buffer out = BUFFER_INIT;

	(void)state;
	failures_add(&failures, 0, "Thread 17 of pid 16 cannot be stopped.");
	failures_add(&failures, 1, "Thread 28 of pid 27 cannot be stopped.");
	failures_add(&failures, 2, "There is no line 30.");
	failures_add(&failures, 4, "Thread 9 of pid 16 cannot be stopped.");
	failures_add(&failures, 5, "There is no line 31.");
	failures_append(&out, &failures);
	assert_string_equal(out.data, "ranks 0-1,4: Thread \u2026 of pid \u2026 cannot be stopped; "
				      "rank 2: there is no line 30; rank 5: there is no line 31.");
	failures_clear(&failures);
	buffer_clear(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ranks_stand_in_lines),
		cmocka_unit_test(classes_stand_below_the_sentence),
		cmocka_unit_test(a_torn_thread_says_so),
		cmocka_unit_test(unknown_values_are_null),
		cmocka_unit_test(a_verdict_names_its_outliers),
		cmocka_unit_test(a_document_holds_no_controls),
		cmocka_unit_test(variables_line_up),
		cmocka_unit_test(failures_are_folded),
	};

	return cmocka_run_group_tests(tests, make, clear);
}
