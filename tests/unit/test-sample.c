/* sample: there and back, and what is refused. */
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
#include "protocol/sample.h"
#include "protocol/stack.h"

static const struct stack *make_stack(struct stack_table *table, int line)
{
	struct code code = { .func = "f", .file = "x.py", .first_lineno = 1 };
	struct frame frame = { stack_table_code(table, &code), line };

	return stack_table_stack(table, &frame, 1, 0);
}

static void fill(struct process_sample *sample, struct stack_table *table)
{
	struct thread_sample *thread;

	sample->pid = 4711;
	sample->epoch = 2;
	sample->time = 12.5;
	sample->memory = UINT64_C(1) << 33;
	thread = process_sample_add(sample);
	thread->tid = 4711;
	thread->name = xstrdup("MainThread");
	thread->is_main = true;
	thread->is_gil_known = true;
	thread->state = THREAD_BLOCKED;
	thread->exactness = CONSISTENT;
	thread->syscall = 202;
	thread->argument = UINT64_C(0xfffffffffffffff8);
	snprintf(thread->wchan, sizeof(thread->wchan), "futex_wait_queue");
	thread->call = xstrdup("_thread.lock.acquire");
	thread->cpu_ns = UINT64_C(123456789012);
	thread->switches = 77;
	thread->stack = make_stack(table, 5);
	thread = process_sample_add(sample);
	thread->tid = 4712;
	thread->stack = make_stack(table, 5);
	thread = process_sample_add(sample);
	thread->tid = 4713;
	thread->error = xstrdup("it ended");
}

static void what_is_sent_arrives(void **state)
{
	struct stack_table *node = stack_table_new();
	struct stack_table *screen = stack_table_new();
	struct process_sample sent = { 0 };
	struct process_sample got = { 0 };
	struct error error = ERROR_INIT;
	json_t *json;

	(void)state;
	fill(&sent, node);
	json = process_sample_to_json(&sent, node);
	assert_int_equal(json_array_size(json_object_get(json, "stacks")), 1);
	if (process_sample_from_json(&got, screen, json, &error) < 0)
		fail_msg("%s", error.message);
	assert_int_equal(got.pid, 4711);
	assert_true(got.time == 12.5);
	assert_true(got.memory == UINT64_C(1) << 33);
	assert_null(got.error);
	assert_int_equal(got.thread_count, 3);
	assert_string_equal(got.threads[0].name, "MainThread");
	assert_true(got.threads[0].is_main);
	assert_true(got.threads[0].is_gil_known);
	assert_false(got.threads[0].has_gil);
	assert_int_equal(got.threads[0].state, THREAD_BLOCKED);
	assert_int_equal(got.threads[0].exactness, CONSISTENT);
	assert_int_equal(got.threads[0].syscall, 202);
	assert_true(got.threads[0].argument == UINT64_C(0xfffffffffffffff8));
	assert_string_equal(got.threads[0].wchan, "futex_wait_queue");
	assert_string_equal(got.threads[0].call, "_thread.lock.acquire");
	assert_true(got.threads[0].cpu_ns == UINT64_C(123456789012));
	assert_int_equal(got.threads[0].switches, 77);
	assert_int_equal(got.threads[0].stack->frames[0].lineno, 5);
	assert_ptr_equal(got.threads[1].stack, got.threads[0].stack);
	assert_false(got.threads[1].is_gil_known);
	assert_int_equal(got.threads[1].state, THREAD_UNKNOWN);
	assert_int_equal(got.threads[1].syscall, -1);
	assert_null(got.threads[2].stack);
	assert_string_equal(got.threads[2].error, "it ended");
	json_decref(json);
	process_sample_clear(&sent);
	process_sample_clear(&got);
	process_sample_clear(&got);
	stack_table_free(node);
	stack_table_free(screen);
}

static void a_quiet_rank_costs_few_bytes(void **state)
{
	struct stack_table *table = stack_table_new();
	struct process_sample sample = { 0 };
	struct buffer out = BUFFER_INIT;
	json_t *json;

	(void)state;
	fill(&sample, table);
	json_decref(process_sample_to_json(&sample, table));
	json = process_sample_to_json(&sample, table);
	json_append(&out, json);
	assert_string_equal(out.data,
			    "{\"pid\":4711,\"epoch\":2,\"time\":12.5,\"memory\":8589934592,"
			    "\"threads\":[{\"tid\":4711,\"name\":\"MainThread\",\"is_main\":true,"
			    "\"state\":\"blocked\",\"exact\":\"consistent\",\"syscall\":202,"
			    "\"argument\":\"0xfffffffffffffff8\",\"wchan\":\"futex_wait_queue\","
			    "\"call\":\"_thread.lock.acquire\","
			    "\"cpu_ns\":123456789012,\"switches\":77,\"has_gil\":false,\"stack\":1}"
			    ",{\"tid\":4712,\"stack\":1},{\"tid\":4713,\"error\":\"it ended\"}]}");
	json_decref(json);
	buffer_clear(&out);
	process_sample_clear(&sample);
	stack_table_free(table);
}

static void too_many_threads_are_left_out_and_refused(void **state)
{
	struct stack_table *table = stack_table_new();
	struct process_sample sample = { .pid = 1 };
	json_t *threads;
	json_t *json;

	(void)state;
	for (int i = 0; i < SAMPLE_THREADS_MAXIMUM + 3; i++)
		process_sample_add(&sample)->tid = i + 1;
	json = process_sample_to_json(&sample, table);
	threads = json_object_get(json, "threads");
	assert_int_equal(json_array_size(threads), SAMPLE_THREADS_MAXIMUM);
	assert_int_equal(process_sample_from_json(&sample, table, json, NULL), 0);
	json_array_append(threads, json_array_get(threads, 0));
	assert_int_equal(process_sample_from_json(&sample, table, json, NULL), -1);
	json_decref(json);
	process_sample_clear(&sample);
	stack_table_free(table);
}

static void hostile_samples_are_refused(void **state)
{
	static const char *const bad[] = {
		"null",
		"[]",
		"{}",
		"{\"pid\":\"x\"}",
		"{\"pid\":1,\"threads\":{}}",
		"{\"pid\":1,\"threads\":[7]}",
		"{\"pid\":1,\"threads\":[{}]}",
		"{\"pid\":1,\"threads\":[{\"tid\":1,\"state\":\"dead\"}]}",
		"{\"pid\":1,\"threads\":[{\"tid\":1,\"stack\":5}]}",
		"{\"pid\":1,\"threads\":[{\"tid\":1,\"stack\":-5}]}",
		"{\"pid\":1,\"threads\":[{\"tid\":1,\"cpu_ns\":-5}]}",
		"{\"pid\":1,\"threads\":[{\"tid\":1,\"wchan\":"
		"\"12345678901234567890123456789012345678901234567890\"}]}",
		"{\"pid\":1,\"threads\":[{\"tid\":1,\"call\":7}]}",
		"{\"pid\":1,\"stacks\":[7]}",
		"{\"pid\":1,\"stacks\":7}",
	};
	struct stack_table *table = stack_table_new();
	struct process_sample sample = { 0 };

	(void)state;
	for (size_t i = 0; i < ARRAY_LENGTH(bad); i++) {
		struct error error = ERROR_INIT;
		json_t *json = json_parse(bad[i], strlen(bad[i]), NULL);

		if (process_sample_from_json(&sample, table, json, &error) == 0)
			fail_msg("accepted: %s", bad[i]);
		assert_true(error_is_set(&error));
		json_decref(json);
	}
	process_sample_clear(&sample);
	stack_table_free(table);
}

static void states_have_names(void **state)
{
	(void)state;
	assert_string_equal(thread_state_name(THREAD_RUNNING), "running");
	assert_string_equal(thread_state_name(THREAD_UNKNOWN), "unknown");
	assert_string_equal(exactness_name(TORN), "torn");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_sent_arrives),
		cmocka_unit_test(a_quiet_rank_costs_few_bytes),
		cmocka_unit_test(too_many_threads_are_left_out_and_refused),
		cmocka_unit_test(hostile_samples_are_refused),
		cmocka_unit_test(states_have_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
