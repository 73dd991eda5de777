/* process: there and back, and what is refused. */
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
#include "base/json.h"
#include "protocol/process.h"

static void replace(char **text, const char *with)
{
	free(*text);
	*text = xstrdup(with);
}

static void fill(struct process *process)
{
	process_init(process);
	process->pid = 4711;
	process->parent_pid = 4700;
	process->rank = 3;
	process->local_rank = 1;
	process->world_size = 8;
	process->uid = 1000;
	process->start_time = UINT64_C(987654321);
	process->age = 32.5;
	replace(&process->host, "gpu-1");
	replace(&process->job, "127.0.0.1:29500");
	replace(&process->script, "tr\xff"
				  "ain.py");
	replace(&process->role, "dataloader");
	process->state = PROCESS_EXITED;
	process->exit_code = 1;
	replace(&process->error, "gone");
}

static void unknown_is_left_out(void **state)
{
	struct process process;
	struct buffer out = BUFFER_INIT;
	json_t *json;

	(void)state;
	process_init(&process);
	assert_int_equal(process.rank, -1);
	assert_int_equal(process.exit_code, -1);
	assert_string_equal(process.host, "");
	assert_null(process.role);
	process.pid = 1;
	json = process_to_json(&process);
	json_append(&out, json);
	assert_string_equal(out.data, "{\"pid\":1,\"state\":\"live\"}");
	json_decref(json);
	buffer_clear(&out);
	process_clear(&process);
	process_clear(&process);
}

static void what_is_sent_arrives(void **state)
{
	struct process sent;
	struct process got;
	struct error error = ERROR_INIT;
	json_t *json;

	(void)state;
	fill(&sent);
	/* What it held before is replaced. */
	fill(&got);
	json = process_to_json(&sent);
	if (process_from_json(&got, json, &error) < 0)
		fail_msg("%s", error.message);
	assert_int_equal(got.pid, 4711);
	assert_int_equal(got.parent_pid, 4700);
	assert_int_equal(got.rank, 3);
	assert_int_equal(got.local_rank, 1);
	assert_int_equal(got.group_rank, -1);
	assert_int_equal(got.world_size, 8);
	assert_int_equal(got.uid, 1000);
	assert_true(got.start_time == UINT64_C(987654321));
	assert_true(got.age == 32.5);
	assert_string_equal(got.host, "gpu-1");
	assert_string_equal(got.job, "127.0.0.1:29500");
	assert_string_equal(got.script, "tr\xef\xbf\xbd"
					"ain.py");
	assert_string_equal(got.cwd, "");
	assert_string_equal(got.role, "dataloader");
	assert_int_equal(got.state, PROCESS_EXITED);
	assert_int_equal(got.exit_code, 1);
	assert_int_equal(got.exit_signal, 0);
	assert_string_equal(got.error, "gone");
	json_decref(json);
	process_clear(&got);
	process_clear(&sent);
}

static void a_copy_is_deep(void **state)
{
	struct process from;
	struct process to;

	(void)state;
	fill(&from);
	process_init(&to);
	process_copy(&to, &from);
	process_copy(&to, &to);
	replace(&from.host, "other");
	assert_string_equal(to.host, "gpu-1");
	assert_int_equal(to.state, PROCESS_EXITED);
	process_clear(&from);
	assert_string_equal(to.error, "gone");
	process_clear(&to);
}

static void hostile_values_are_refused(void **state)
{
	static const char *const bad[] = {
		"[]",
		"null",
		"{}",
		"{\"pid\":0}",
		"{\"pid\":-3}",
		"{\"pid\":\"1\"}",
		"{\"pid\":99999999999}",
		"{\"pid\":1.0}",
		"{\"pid\":1,\"rank\":1048576}",
		"{\"pid\":1,\"rank\":-2}",
		"{\"pid\":1,\"host\":7}",
		"{\"pid\":1,\"host\":{}}",
		"{\"pid\":1,\"state\":\"asleep\"}",
		"{\"pid\":1,\"state\":1}",
		"{\"pid\":1,\"age\":\"old\"}",
		"{\"pid\":1,\"uid\":4294967296}",
		"{\"pid\":1,\"start_time\":-1}",
	};
	struct process process;

	(void)state;
	process_init(&process);
	for (size_t i = 0; i < ARRAY_LENGTH(bad); i++) {
		struct error error = ERROR_INIT;
		json_t *json = json_parse(bad[i], strlen(bad[i]), NULL);

		assert_int_equal(process_from_json(&process, json, &error), -1);
		assert_true(error_is_set(&error));
		json_decref(json);
	}
	process_clear(&process);
}

static void long_text_is_cut_when_sent_and_refused_when_read(void **state)
{
	struct process process;
	struct buffer path = BUFFER_INIT;
	json_t *json;

	(void)state;
	process_init(&process);
	process.pid = 1;
	for (int i = 0; i < 5000; i++)
		buffer_append_string(&path, "\xc3\xbc");
	free(process.cwd);
	process.cwd = buffer_take(&path);
	json = process_to_json(&process);
	assert_true(strlen(json_get_string(json, "cwd", "")) <= 4096);
	assert_true(strlen(json_get_string(json, "cwd", "")) >= 4094);
	assert_int_equal(process_from_json(&process, json, NULL), 0);
	buffer_printf(&path, "%05000d", 1);
	json_object_set_new(json, "cwd", json_string(path.data));
	assert_int_equal(process_from_json(&process, json, NULL), -1);
	json_decref(json);
	buffer_clear(&path);
	process_clear(&process);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(unknown_is_left_out),
		cmocka_unit_test(what_is_sent_arrives),
		cmocka_unit_test(a_copy_is_deep),
		cmocka_unit_test(hostile_values_are_refused),
		cmocka_unit_test(long_text_is_cut_when_sent_and_refused_when_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
