/* recordline: what of a debugger goes into a recording. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "banned.h"
#include "base/array.h"
#include "base/buffer.h"
#include "base/error.h"
#include "base/json.h"
#include "base/secret.h"
#include "engine/recordline.h"
#include "protocol/message.h"

#define RESPONSE                                                                                   \
	"{\"seq\":9,\"type\":\"response\",\"request_seq\":7,\"success\":true,"                     \
	"\"command\":\"evaluate\",\"body\":"
#define REQUEST "{\"seq\":7,\"type\":\"request\",\"command\":"
#define EVENT "{\"seq\":1,\"type\":\"event\",\"event\":"

struct sent {
	const char *line;
	int extras;
	const char *written; /* NULL: nothing; "": as it is */
};

/* One after the other into one recording. */
static void check(const struct sent *sent, size_t count)
{
	struct recordline_rules rules;

	recordline_rules_init(&rules);
	for (size_t i = 0; i < count; i++) {
		struct buffer out = BUFFER_INIT;
		struct error error = ERROR_INIT;
		struct message message;
		enum recordline result;

		message_parse(&message, sent[i].line, strlen(sent[i].line), &error);
		assert_string_equal(error.message, "");
		rules.extras = sent[i].extras;
		result = recordline_make(&out, &message, &rules, NULL, NULL);
		if (!sent[i].written) {
			assert_int_equal(result, RECORDLINE_LEFT_OUT);
		} else if (!sent[i].written[0]) {
			assert_int_equal(result, RECORDLINE_AS_IT_IS);
		} else {
			assert_int_equal(result, RECORDLINE_CHANGED);
			assert_non_null(strstr(out.data, sent[i].written));
		}
		buffer_clear(&out);
		message_clear(&message);
	}
	recordline_rules_clear(&rules);
}
#define CHECK(SENT) check(SENT, ARRAY_LENGTH(SENT))

static void what_was_typed_is_never_written(void **state)
{
	static const struct sent sent[] = {
		{ REQUEST "\"terminalInput\",\"arguments\":{\"pid\":5,\"data\":\"hush\"}}",
		  RECORDLINE_VARIABLES | RECORDLINE_OUTPUT, "\"arguments\":{\"pid\":5}" },
	};

	(void)state;
	CHECK(sent);
}

static void what_is_evaluated_is_a_value(void **state)
{
	static const struct sent sent[] = {
		{ REQUEST "\"evaluate\",\"arguments\":{\"expression\":\"a\"}}", 0, "" },
		{ RESPONSE "{\"result\":\"1\"}}", 0, NULL },
		{ RESPONSE "{\"result\":\"1\"}}", RECORDLINE_OUTPUT, NULL },
		{ RESPONSE "{\"result\":\"1\"}}", RECORDLINE_VARIABLES, "\"result\":\"1\"" },
		{ RESPONSE "{\"result\":\"{'token': 1}\"}}", RECORDLINE_VARIABLES,
		  "\"result\":\"<masked>\"" },
	};

	(void)state;
	CHECK(sent);
}

#define SOURCE                                                                                     \
	"{\"seq\":9,\"type\":\"response\",\"request_seq\":7,\"success\":true,"                     \
	"\"command\":\"source\",\"body\":"

/* Whether variables are in it or not. */
static void literals_of_source_are_masked(void **state)
{
	static const struct sent sent[] = {
		{ SOURCE "{\"pid\":5,\"path\":\"/a.py\",\"content\":\"f(password='hunter2')\\nx = "
			 "'y'\\n\"}}",
		  0, "\"content\":\"f(password='<masked>')\\nx = 'y'\\n\"" },
		{ SOURCE "{\"content\":\"token = 'a'\"}}", RECORDLINE_VARIABLES | RECORDLINE_OUTPUT,
		  "\"content\":\"token = '<masked>'\"" },
		{ SOURCE "{\"content\":\"x = 'y'\"}}", 0, "" },
		{ SOURCE "{\"content\":\"\"}}", 0, "" },
		{ SOURCE "{\"content\":null}}", 0, "" },
	};

	(void)state;
	CHECK(sent);
}

#define TENSOR                                                                                     \
	"{\"seq\":9,\"type\":\"response\",\"request_seq\":7,\"success\":true,"                     \
	"\"command\":\"tensor\",\"body\":"

/* With what was asked, and never with the elements themselves. */
static void tensors_are_values(void **state)
{
	static const struct sent sent[] = {
		{ REQUEST "\"tensor\",\"arguments\":{\"pid\":5,\"expression\":\"w\"}}", 0, "" },
		{ TENSOR "{\"value\":{\"name\":\"w\",\"value\":\"1\"}}}", 0, NULL },
		{ REQUEST "\"tensor\",\"arguments\":{\"pid\":5,\"expression\":\"w\"}}",
		  RECORDLINE_VARIABLES, "" },
		{ TENSOR "{\"value\":{\"name\":\"w\",\"value\":\"1\"},\"data\":\"AAAA\"}}",
		  RECORDLINE_VARIABLES,
		  "\"body\":{\"value\":{\"name\":\"w\",\"value\":\"1\"},\"asked\":{\"pid\":5,"
		  "\"expression\":\"w\"}}" },
		{ REQUEST "\"tensor\",\"arguments\":{\"pid\":5,\"expression\":\"api_key\"}}",
		  RECORDLINE_VARIABLES, "" },
		{ TENSOR
		  "{\"value\":{\"name\":\"k\",\"value\":\"hush\"},\"tensor\":{},\"slice\":{}}}",
		  RECORDLINE_VARIABLES,
		  "\"body\":{\"value\":{\"name\":\"k\",\"value\":\"<masked>\"},\"tensor\":null,"
		  "\"asked\":" },
	};

	(void)state;
	CHECK(sent);
}

static void what_a_rank_raised_is_masked(void **state)
{
	static const struct sent sent[] = {
		{ EVENT "\"sampled\",\"body\":{\"pid\":5,\"threads\":[{\"tid\":5,\"raised\":"
			"\"E: token=abc\"}]}}",
		  RECORDLINE_VARIABLES, "E: token=<masked>" },
	};

	(void)state;
	CHECK(sent);
}

/* The answer itself does not tell that it is one. */
static void an_answer_about_a_secret_is_masked(void **state)
{
	static const struct sent sent[] = {
		{ REQUEST "\"evaluate\",\"arguments\":{\"expression\":\"api_key\"}}",
		  RECORDLINE_VARIABLES, "" },
		{ RESPONSE "{\"result\":\"'hush'\",\"output\":\"sk-1\"}}", RECORDLINE_VARIABLES,
		  "{\"result\":\"<masked>\",\"output\":\"<masked>\"}" },
		{ RESPONSE "{\"result\":\"2\"}}", RECORDLINE_VARIABLES, "\"result\":\"2\"" },
		{ REQUEST "\"evaluate\",\"arguments\":{\"expression\":\"password='hush'\"}}", 0,
		  "password=<masked>" },
	};

	(void)state;
	CHECK(sent);
}

static void what_a_stop_returns_is_a_value(void **state)
{
	static const struct sent sent[] = {
		{ EVENT "\"stopped\",\"body\":{\"value\":\"3\"}}", 0, "\"value\":null" },
		{ EVENT "\"stopped\",\"body\":{\"value\":\"3\"}}", RECORDLINE_VARIABLES, "" },
		{ EVENT "\"debugger\",\"body\":{\"exception\":\"E: token=abc\",\"value\":null}}", 0,
		  "E: token=<masked>" },
		{ EVENT "\"continued\",\"body\":{\"breakpoints\":[{\"condition\":\"pwd=='x'\"}]}}",
		  0, "<masked>" },
		{ EVENT "\"stopped\",\"body\":{\"tid\":4}}", 0, "" },
	};

	(void)state;
	CHECK(sent);
}

/* It is output that has values in it. */
static void a_terminal_is_asked_for_twice(void **state)
{
	static const char terminal[] = EVENT
		"\"output\",\"body\":{\"pid\":5,\"category\":\"terminal\",\"output\":\"(Pdb) \"}}";
	const struct sent sent[] = {
		{ terminal, 0, NULL },
		{ terminal, RECORDLINE_OUTPUT, NULL },
		{ terminal, RECORDLINE_VARIABLES, NULL },
		{ terminal, RECORDLINE_OUTPUT | RECORDLINE_VARIABLES, "" },
	};

	(void)state;
	CHECK(sent);
}

static void a_snapshot_is_masked(void **state)
{
	static const char text[] = "{\"ranks\":[{},{\"debugger\":{\"value\":\"3\"},\"sample\":{"
				   "\"threads\":[{\"raised\":\"E: token=abc\"}]}}]}";
	struct recordline_rules rules;
	struct error error = ERROR_INIT;
	json_t *json = json_parse(text, strlen(text), &error);
	const json_t *rank, *thread;

	(void)state;
	recordline_rules_init(&rules);
	recordline_mask_snapshot(json, &rules);
	rank = json_array_get(json_object_get(json, "ranks"), 1);
	assert_true(json_is_null(json_object_get(json_object_get(rank, "debugger"), "value")));
	thread = json_array_get(json_object_get(json_object_get(rank, "sample"), "threads"), 0);
	assert_string_equal(json_string_value(json_object_get(thread, "raised")),
			    "E: token=<masked>");
	recordline_rules_clear(&rules);
	json_decref(json);
}

static void what_is_run_or_set_is_a_value_too(void **state)
{
	static const struct sent sent[] = {
		{ REQUEST "\"execute\",\"arguments\":{\"code\":\"f(1)\"}}", 0, "" },
		{ REQUEST "\"execute\",\"arguments\":{\"code\":\"login(token='abcdef0123')\"}}",
		  RECORDLINE_VARIABLES, "login(token=" },
		{ REQUEST "\"completions\",\"arguments\":{\"text\":\"password='abcdef0123'\"}}",
		  RECORDLINE_VARIABLES, "password=" },
		{ REQUEST "\"setVariable\",\"arguments\":{\"name\":\"a\",\"value\":\"1\"}}", 0,
		  "\"name\":\"a\",\"value\":\"" SECRET_MASK "\"" },
		{ REQUEST "\"setVariable\",\"arguments\":{\"name\":\"a\",\"value\":\"1\"}}",
		  RECORDLINE_VARIABLES, "" },
		{ REQUEST "\"setVariable\",\"arguments\":{\"name\":\"api_key\",\"value\":\"1\"}}",
		  RECORDLINE_VARIABLES, "\"value\":\"" SECRET_MASK "\"" },
		{ RESPONSE "{\"result\":\"1\"}}", RECORDLINE_VARIABLES,
		  "\"result\":\"" SECRET_MASK "\"" },
	};

	(void)state;
	CHECK(sent);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_was_typed_is_never_written),
		cmocka_unit_test(what_is_evaluated_is_a_value),
		cmocka_unit_test(literals_of_source_are_masked),
		cmocka_unit_test(tensors_are_values),
		cmocka_unit_test(what_is_run_or_set_is_a_value_too),
		cmocka_unit_test(an_answer_about_a_secret_is_masked),
		cmocka_unit_test(what_a_stop_returns_is_a_value),
		cmocka_unit_test(a_terminal_is_asked_for_twice),
		cmocka_unit_test(a_snapshot_is_masked),
		cmocka_unit_test(what_a_rank_raised_is_masked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
