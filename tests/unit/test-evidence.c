/* evidence: what is masked, and what error files and the kernel's log say. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "banned.h"
#include "backends/errorfile.h"
#include "backends/kernellog.h"
#include "base/array.h"
#include "base/buffer.h"
#include "base/json.h"
#include "base/secret.h"

static void values_of_secrets_are_masked(void **state)
{
	static const char *const rows[][2] = {
		{ "api_key='s3cret' x", "api_key=<masked> x" },
		{ "{\"Token\": \"a\\\"b\", 1}", "{\"Token\": <masked>, 1}" },
		{ "run --password hunter2 -v", "run --password <masked> -v" },
		{ "MY_SECRET = abc\nnext", "MY_SECRET = <masked>\nnext" },
		{ "url?token=abc&x=1", "url?token=<masked>&x=1" },
		{ "KeyError: 'loss'", "KeyError: 'loss'" },
		{ "tokens per second: 3", "tokens per second: 3" },
		{ "key='open", "key=<masked>" },
		{ "key=", "key=" },
		{ "", "" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		struct buffer out = BUFFER_INIT;

		secret_mask(&out, rows[i][0]);
		assert_string_equal(out.data, rows[i][1]);
		buffer_clear(&out);
	}
}

static void an_error_file_is_what_torch_writes(void **state)
{
	json_t *json = error_file_parse(
		"/x/error.json",
		"{\"message\": {\"message\": \"ValueError: key=1\", "
		"\"extraInfo\": {\"py_callstack\": \"Traceback\\n\", "
		"\"timestamp\": \"1700000000\"}}}");

	(void)state;
	assert_string_equal(json_get_string(json, "message", ""),
			    "ValueError: key=<masked>");
	assert_string_equal(json_get_string(json, "callstack", ""),
			    "Traceback\n");
	assert_true(json_get_real(json, "timestamp", 0) == 1700000000);
	assert_null(json_get_string(json, "error", NULL));
	json_decref(json);
}

static void what_is_no_error_file_says_so(void **state)
{
	static const char *const texts[] = {
		"", "{", "[]", "{\"message\": 3}", "{\"message\": {}}", "null"
	};
	json_t *json = error_file_parse("/x", "{\"message\": \"short\"}");

	(void)state;
	assert_string_equal(json_get_string(json, "message", ""), "short");
	json_decref(json);
	for (size_t i = 0; i < ARRAY_LENGTH(texts); i++) {
		json = error_file_parse("/x", texts[i]);
		assert_non_null(json_get_string(json, "error", NULL));
		assert_null(json_get_string(json, "message", NULL));
		json_decref(json);
	}
}

struct found {
	pid_t pid;
	char text[256];
	double ago;
	int count;
};

static bool is_42(pid_t pid, const char *text, void *data)
{
	struct found *found = data;

	found->pid = pid;
	return pid == 42 || strstr(text, "task_memcg=/job");
}

static void take(double ago, const char *text, void *data)
{
	struct found *found = data;

	found->ago = ago;
	found->count++;
	snprintf(found->text, sizeof(found->text), "%s", text);
}

static void the_kernels_kills_of_ours(void **state)
{
	static const struct {
		const char *record;
		int count;
	} rows[] = {
		{ "3,1,90000000,-;Out of memory: Killed process 42 (python) "
		  "total-vm:1kB\n SUBSYSTEM=x",
		  1 },
		{ "3,1,90000000,-;Memory cgroup out of memory: Killed process "
		  "42 (x)",
		  1 },
		{ "6,1,90000000,-;oom_reaper: reaped process 42 (python)", 1 },
		{ "6,1,90000000,-;oom-kill:constraint=NONE,task=py,pid=42,uid",
		  1 },
		{ "6,1,90000000,-;oom-kill:x,task_memcg=/job,pid=7,uid=0", 1 },
		{ "3,1,90000000,-;Out of memory: Killed process 43 (x)", 0 },
		{ "6,1,90000000,-;usb 42 Killed process 42", 0 },
		{ "Out of memory: Killed process 42", 0 },
		{ ";Out of memory: Killed process 42,,,", 0 },
		{ "", 0 },
	};
	struct found found = { .pid = 0 };
	const struct kernellog_calls calls = { is_42, take, &found };

	(void)state;
	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		found.count = 0;
		kernellog_take(&calls, rows[i].record, 100);
		assert_int_equal(found.count, rows[i].count);
	}
	kernellog_take(&calls, rows[0].record, 100);
	assert_true(found.ago == 10);
	assert_string_equal(found.text, "Out of memory: Killed process 42 "
					"(python) total-vm:1kB");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values_of_secrets_are_masked),
		cmocka_unit_test(an_error_file_is_what_torch_writes),
		cmocka_unit_test(what_is_no_error_file_says_so),
		cmocka_unit_test(the_kernels_kills_of_ours),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
