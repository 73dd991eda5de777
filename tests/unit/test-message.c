/* message: the line on the pipe. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "banned.h"
#include "base/array.h"
#include "base/buffer.h"
#include "base/error.h"
#include "base/json.h"
#include "protocol/message.h"

static void assert_line(const struct message *message, const char *line)
{
	struct buffer out = BUFFER_INIT;
	struct buffer again = BUFFER_INIT;
	struct message parsed;
	struct error error = ERROR_INIT;

	message_append(&out, message);
	assert_string_equal(out.data, line);
	if (message_parse(&parsed, out.data, out.length - 1, &error) < 0)
		fail_msg("%s", error.message);
	message_append(&again, &parsed);
	assert_string_equal(again.data, line);
	message_clear(&parsed);
	buffer_clear(&out);
	buffer_clear(&again);
}

static void each_type_has_its_line(void **state)
{
	struct message request;
	struct message message;

	(void)state;
	message_make_request(&request, "sample", json_pack("{s:i}", "pid", 7));
	request.seq = 3;
	assert_line(&request, "{\"seq\":3,\"type\":\"request\",\"command\":\"sample\","
			      "\"arguments\":{\"pid\":7}}\n");
	message_make_response(&message, &request, NULL, NULL);
	message.seq = 9;
	assert_line(&message, "{\"seq\":9,\"type\":\"response\",\"request_seq\":3,\"success\":true,"
			      "\"command\":\"sample\",\"body\":{}}\n");
	message_clear(&message);
	message_make_response(&message, &request, NULL, "rank 3: \xff gone");
	assert_line(
		&message,
		"{\"seq\":0,\"type\":\"response\",\"request_seq\":3,\"success\":false,\"command\":"
		"\"sample\",\"message\":\"rank 3: \xef\xbf\xbd gone\",\"body\":{}}\n");
	message_clear(&message);
	message_make_event(&message, "sampled", NULL);
	assert_line(&message, "{\"seq\":0,\"type\":\"event\",\"event\":\"sampled\",\"body\":{}}\n");
	message.time = 12.0625;
	assert_line(&message, "{\"time\":12.062500,\"seq\":0,\"type\":\"event\",\"event\":"
			      "\"sampled\",\"body\":{}}\n");
	message_clear(&message);
	message_clear(&request);
	message_clear(&request);
}

static void the_members_are_parsed(void **state)
{
	static const char line[] = "{\"type\":\"response\",\"seq\":5,\"request_seq\":4,\"success\":"
				   "false,\"command\":\"next\",\"message\":\"no\",\"time\":1.5}";
	struct message message;

	(void)state;
	assert_int_equal(message_parse(&message, line, sizeof(line) - 1, NULL), 0);
	assert_int_equal(message.type, MESSAGE_RESPONSE);
	assert_int_equal(message.seq, 5);
	assert_int_equal(message.request_seq, 4);
	assert_false(message.is_success);
	assert_string_equal(message.name, "next");
	assert_string_equal(message.error, "no");
	assert_int_equal(json_object_size(message.body), 0);
	assert_true(message.time == 1.5);
	message_clear(&message);
	assert_null(message.body);
}

static void hostile_lines_are_refused(void **state)
{
	static const char *const bad[] = {
		"",
		"[]",
		"7",
		"{}",
		"{\"seq\":1,\"type\":\"event\"}",
		"{\"seq\":1,\"type\":7,\"event\":\"x\"}",
		"{\"seq\":1,\"type\":\"other\",\"event\":\"x\"}",
		"{\"seq\":-1,\"type\":\"event\",\"event\":\"x\"}",
		"{\"seq\":1.5,\"type\":\"event\",\"event\":\"x\"}",
		"{\"seq\":1,\"type\":\"event\",\"event\":\"\"}",
		"{\"seq\":1,\"type\":\"event\",\"event\":[]}",
		"{\"seq\":1,\"type\":\"event\",\"event\":\"x\",\"body\":[]}",
		"{\"seq\":1,\"type\":\"event\",\"event\":\"x\",\"time\":-1}",
		"{\"seq\":1,\"type\":\"event\",\"event\":\"x\",\"time\":\"1\"}",
		"{\"seq\":1,\"type\":\"response\",\"command\":\"x\"}",
		"{\"seq\":1,\"type\":\"response\",\"command\":\"x\",\"request_seq\":1}",
		"{\"seq\":1,\"type\":\"response\",\"command\":\"x\",\"request_seq\":1,\"success\":"
		"false}",
		"{\"seq\":1,\"type\":\"response\",\"command\":\"x\",\"request_seq\":1,\"success\":"
		"1}",
	};
	struct message message;

	(void)state;
	for (size_t i = 0; i < ARRAY_LENGTH(bad); i++) {
		struct error error = ERROR_INIT;

		assert_int_equal(message_parse(&message, bad[i], strlen(bad[i]), &error), -1);
		assert_true(error_is_set(&error));
		assert_null(message.name);
		assert_null(message.body);
	}
}

static void a_long_name_is_refused(void **state)
{
	struct buffer line = BUFFER_INIT;
	struct message message;

	(void)state;
	buffer_printf(&line, "{\"seq\":1,\"type\":\"event\",\"event\":\"%0100d\"}", 0);
	assert_int_equal(message_parse(&message, line.data, line.length, NULL), -1);
	buffer_clear(&line);
}

static void only_requests_of_the_pipe_are_found(void **state)
{
	(void)state;
	assert_int_equal(request_kind_find("stepIn"), REQUEST_STEP_IN);
	assert_string_equal(request_kind_name(REQUEST_STEP_IN), "stepIn");
	assert_true(request_kind_changes(REQUEST_STEP_IN));
	assert_false(request_kind_changes(REQUEST_SAMPLE));
	assert_int_equal(request_kind_find("exact sample"), REQUEST_KIND_COUNT);
	assert_int_equal(request_kind_find("dance"), REQUEST_KIND_COUNT);
	assert_int_equal(event_kind_find("rankAdded"), EVENT_RANK_ADDED);
	assert_int_equal(event_kind_find("dance"), EVENT_KIND_COUNT);
}

static void arguments_are_within_their_bounds(void **state)
{
	static const struct {
		enum request_kind kind;
		const char *arguments;
		const char *sentence; /* NULL: they are fine */
	} cases[] = {
		{ REQUEST_NEXT, "{\"pid\":1}", NULL },
		{ REQUEST_NEXT, "{}", "\"pid\" is not a process id" },
		{ REQUEST_NEXT, "{\"pid\":0}", "\"pid\" is not a process id" },
		{ REQUEST_NEXT, "{\"pid\":2147483648}", "\"pid\" is not a process id" },
		{ REQUEST_NEXT, "{\"pid\":1,\"depth\":20000,\"other\":[]}", NULL },
		{ REQUEST_NEXT, "{\"pid\":1,\"depth\":null}", NULL },
		{ REQUEST_NEXT, "{\"pid\":1,\"depth\":20001}",
		  "next: \"depth\" must be a number from 0 to 20000" },
		{ REQUEST_NEXT, "{\"pid\":1,\"depth\":1.0}",
		  "next: \"depth\" must be a number from 0 to 20000" },
		{ REQUEST_NEXT, "{\"pid\":1,\"threads\":\"one\"}", NULL },
		{ REQUEST_NEXT, "{\"pid\":1,\"threads\":\"on\"}",
		  "next: \"threads\" must be one of: python one" },
		{ REQUEST_NEXT, "{\"pid\":1,\"threads\":\"python one\"}",
		  "next: \"threads\" must be one of: python one" },
		{ REQUEST_JUMP, "{\"pid\":1}",
		  "jump: \"line\" must be a number from 1 to 2147483647" },
		{ REQUEST_DISCOVER, "{\"pids\":[1,2],\"period\":0.1}", NULL },
		{ REQUEST_DISCOVER, "{\"pids\":[1,\"2\"]}",
		  "\"pids\" is not a list of process ids" },
		{ REQUEST_DISCOVER, "{\"period\":3601}",
		  "discover: \"period\" must be a number from 0.1 to 3600" },
		{ REQUEST_CATCH, "{\"pid\":1,\"on\":1}", "catch: \"on\" must be true or false" },
		{ REQUEST_SOURCE, "{\"pid\":1,\"path\":{}}", "source: \"path\" must be a string" },
		{ REQUEST_VARIABLES, "{\"pid\":1,\"address\":\"0x1f\"}", NULL },
		{ REQUEST_VARIABLES, "{\"pid\":1,\"address\":31}",
		  "variables: \"address\" must be an address such as \"0x1f\"" },
		{ REQUEST_SET_BREAKPOINTS, "{\"pid\":1}",
		  "setBreakpoints: \"breakpoints\" must be a list" },
		{ REQUEST_DISCONNECT, "{}", NULL },
		{ REQUEST_WATCHDOG, "{}", NULL },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
		json_t *arguments = json_loads(cases[i].arguments, 0, NULL);
		struct error error = ERROR_INIT;
		int result = request_check(cases[i].kind, arguments, &error);

		assert_non_null(arguments);
		assert_string_equal(error.message, cases[i].sentence ? cases[i].sentence : "");
		assert_int_equal(result, cases[i].sentence ? -1 : 0);
		json_decref(arguments);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_type_has_its_line),
		cmocka_unit_test(the_members_are_parsed),
		cmocka_unit_test(hostile_lines_are_refused),
		cmocka_unit_test(a_long_name_is_refused),
		cmocka_unit_test(only_requests_of_the_pipe_are_found),
		cmocka_unit_test(arguments_are_within_their_bounds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
