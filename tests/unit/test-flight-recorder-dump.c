/*
 * flight-recorder-dump: dumps that torch wrote (tests/unit/dumps), in both forms; broken and
 * strange ones. torch-2.11-nccl-rank_0 was written by the watchdog, when the last two calls of nine
 * timed out; its .json is from before these two.
 */
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
#include "base/file.h"
#include "engine/flight-recorder-dump.h"
#include "protocol/stack.h"

#define VERSION "\"version\":\"2.10\""
#define ENTRY                                                                                      \
	"\"record_id\":5,\"pg_id\":0,\"process_group\":[\"0\",\"default_pg\"],\"collective_seq_"   \
	"id\":3,\"profiling_name\":\"nccl:send\""

static char *path_of(const char *name)
{
	const char *folder = getenv("SRCDIR");

	return xasprintf("%s/tests/unit/dumps/%s", folder ? folder : ".", name);
}

static void read_file(struct flight_recorder_dump *dump, const char *name)
{
	struct error error = ERROR_INIT;
	char *path = path_of(name);

	if (flight_recorder_dump_read(dump, path, &error) < 0)
		fail_msg("%s", error.message);
	free(path);
}

static void parse(struct flight_recorder_dump *dump, const char *text)
{
	struct error error = ERROR_INIT;

	if (flight_recorder_dump_parse(dump, text, strlen(text), &error) < 0)
		fail_msg("%s: %s", text, error.message);
}

static void the_watchdogs_file_is_read(void **state)
{
	struct flight_recorder_dump dump = FLIGHT_RECORDER_DUMP_INIT;
	const struct process_group *group;

	(void)state;
	read_file(&dump, "torch-2.11-nccl-rank_0");
	assert_int_equal(dump.rank, 0);
	assert_null(dump.collectives.version);
	assert_null(dump.collectives.missing);
	assert_int_equal(dump.collectives.recorded, 9);
	assert_int_equal(dump.collectives.group_count, 2);
	group = collectives_default_group(&dump.collectives);
	assert_string_equal(group->name, "0");
	assert_string_equal(group->backend, "nccl");
	assert_int_equal(group->rank_count, 1);
	assert_int_equal(group->ranks[0], 0);
	assert_int_equal(group->rank, 0);
	assert_int_equal(group->size, 1);
	assert_int_equal(group->seq, 7);
	assert_int_equal(group->enqueued, 7);
	assert_int_equal(group->started, -1);
	assert_int_equal(group->completed, 6);
	assert_int_equal(group->unfinished, -1);
	assert_string_equal(dump.collectives.groups[1].description, "pair");
	assert_int_equal(dump.collectives.groups[1].completed, 1);
	flight_recorder_dump_clear(&dump);
	assert_int_equal(dump.rank, -1);
}

static void the_calls_that_timed_out_have_not_ended(void **state)
{
	struct flight_recorder_dump dump = FLIGHT_RECORDER_DUMP_INIT;
	const struct collective_entry *entry;

	(void)state;
	read_file(&dump, "torch-2.11-nccl-rank_0");
	assert_int_equal(dump.collectives.entry_count, 9);
	entry = &dump.collectives.entries[0];
	assert_int_equal(entry->created, 1795752291982389674);
	assert_int_equal(entry->started, -1);
	assert_int_equal(entry->completed, 1795752292008590468);
	assert_true(entry->is_retired);
	entry = &dump.collectives.entries[8];
	assert_int_equal(entry->id, 8);
	assert_int_equal(entry->group, 1);
	assert_int_equal(entry->seq, 2);
	assert_string_equal(entry->operation, "nccl:all_reduce");
	assert_int_equal(entry->completed, -1);
	assert_false(entry->is_retired);
	assert_int_equal(entry->timeout, 600000);
	assert_int_equal(entry->thread, 140710279831872);
	assert_string_equal(entry->thread_name, "python3");
	assert_int_equal(json_array_size(entry->input_sizes), 1);
	assert_int_equal(entry->stack->frame_count, 3);
	assert_string_equal(entry->stack->frames[0].code->func, "all_reduce");
	assert_int_equal(entry->stack->frames[0].lineno, 3068);
	assert_string_equal(entry->stack->frames[2].code->file, "/tmp/a.py");
	assert_int_equal(entry->stack->frames[2].code->type, FRAME_PYTHON);
	flight_recorder_dump_clear(&dump);
}

static void assert_same_text(const char *a, const char *b)
{
	if (a && b)
		assert_string_equal(a, b);
	else
		assert_ptr_equal(a, b);
}

static void both_forms_say_the_same(void **state)
{
	struct flight_recorder_dump pickle = FLIGHT_RECORDER_DUMP_INIT;
	struct flight_recorder_dump json = FLIGHT_RECORDER_DUMP_INIT;

	(void)state;
	read_file(&pickle, "torch-2.14-gloo-rank_1");
	read_file(&json, "torch-2.14-gloo-rank_1.json");
	assert_int_equal(json.rank, pickle.rank);
	assert_int_equal(json.collectives.group_count, 3);
	assert_int_equal(pickle.collectives.group_count, 3);
	assert_int_equal(json.collectives.entry_count, pickle.collectives.entry_count);
	for (size_t i = 0; i < 3; i++) {
		const struct process_group *a = &pickle.collectives.groups[i];
		const struct process_group *b = &json.collectives.groups[i];

		assert_string_equal(a->name, b->name);
		assert_same_text(a->description, b->description);
		assert_int_equal(a->seq, b->seq);
		assert_int_equal(a->completed, b->completed);
		assert_int_equal(a->rank, i == 0 ? 1 : -1);
		assert_int_equal(b->rank, a->rank);
	}
	for (size_t i = 0; i < json.collectives.entry_count; i++) {
		const struct collective_entry *a = &pickle.collectives.entries[i];
		const struct collective_entry *b = &json.collectives.entries[i];

		assert_int_equal(a->id, b->id);
		assert_int_equal(a->group, b->group);
		assert_int_equal(a->seq, b->seq);
		assert_string_equal(a->operation, b->operation);
		assert_int_equal(a->created, b->created);
		assert_int_equal(b->completed, -1);
		assert_int_equal(a->thread, b->thread);
		assert_true(json_equal(a->output_sizes, b->output_sizes));
		assert_non_null(a->stack);
		assert_null(b->stack);
	}
	flight_recorder_dump_clear(&pickle);
	flight_recorder_dump_clear(&json);
}

static void a_dump_without_collectives_says_so(void **state)
{
	struct flight_recorder_dump dump = FLIGHT_RECORDER_DUMP_INIT;

	(void)state;
	read_file(&dump, "torch-2.6-empty");
	assert_int_equal(dump.rank, -1);
	assert_int_equal(dump.collectives.entry_count, 0);
	assert_int_equal(dump.collectives.group_count, 0);
	assert_non_null(strstr(dump.collectives.missing, "no collectives"));
	flight_recorder_dump_clear(&dump);
}

static void the_rank_ends_the_name(void **state)
{
	static const struct {
		const char *name;
		int rank;
	} cases[] = {
		{ "nccl_trace_rank_12", 12 },
		{ "rank_3.json", 3 },
		{ "12", 12 },
		{ "rank", -1 },
		{ "dump.5", 5 },
		{ "rank_7.pickle.gz", -1 },
		{ "rank_99999999999999999999", -1 },
		{ "rank_4294967296", -1 },
		{ ".json", -1 },
		{ "torch-2.6-empty", -1 },
	};
	char folder[] = "/tmp/probetui-test-XXXXXX";

	(void)state;
	assert_non_null(mkdtemp(folder));
	for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
		struct flight_recorder_dump dump = FLIGHT_RECORDER_DUMP_INIT;
		char *path = xasprintf("%s/%s", folder, cases[i].name);
		FILE *file = fopen(path, "w");

		assert_non_null(file);
		fputs("{" VERSION "}", file);
		fclose(file);
		assert_int_equal(flight_recorder_dump_read(&dump, path, NULL), 0);
		assert_int_equal(dump.rank, cases[i].rank);
		flight_recorder_dump_clear(&dump);
		remove(path);
		free(path);
	}
	remove(folder);
}

static void groups_are_joined(void **state)
{
	struct flight_recorder_dump dump = { .rank = 6 };
	const struct process_group *group;

	(void)state;
	parse(&dump,
	      "{" VERSION ",\"entries\":[{" ENTRY "}],\"pg_config\":{\"0\":{\"ranks\":"
	      "\"[4, 6, 9]\"},\"7\":{\"desc\":\"idle\",\"ranks\":\"[6,4]\"},\"\":{\"name\":"
	      "\"\",\"ranks\":\"[0]\"},\"8\":{\"ranks\":\"[1, x]\"},\"9\":{\"ranks\":\"[]\"}},"
	      "\"pg_status\":{\"0\":{\"last_enqueued_collective\":\"9\"},\"5\":{}}}");
	assert_int_equal(dump.collectives.group_count, 4);
	group = &dump.collectives.groups[0];
	assert_int_equal(group->rank_count, 3);
	assert_int_equal(group->ranks[2], 9);
	assert_int_equal(group->rank, 1);
	assert_int_equal(group->enqueued, 9);
	assert_int_equal(group->seq, 9);
	assert_string_equal(dump.collectives.groups[1].description, "idle");
	assert_int_equal(dump.collectives.groups[1].rank, 0);
	assert_int_equal(dump.collectives.groups[1].seq, -1);
	assert_null(dump.collectives.groups[1].backend);
	assert_int_equal(dump.collectives.groups[2].rank_count, 0);
	assert_int_equal(dump.collectives.groups[3].rank_count, 0);
	assert_int_equal(dump.collectives.recorded, 6);
	flight_recorder_dump_clear(&dump);
}

/* NCCL counts point-to-point calls in last_enqueued_collective by a number of their own. */
static void point_to_point_calls_are_no_collectives(void **state)
{
	struct flight_recorder_dump dump = FLIGHT_RECORDER_DUMP_INIT;

	(void)state;
	parse(&dump, "{" VERSION ",\"entries\":[{" ENTRY ",\"p2p_seq_id\":9,\"is_p2p\":true}],"
		     "\"pg_status\":{\"0\":{\"last_enqueued_collective\":9}}}");
	assert_int_equal(dump.collectives.groups[0].enqueued, 9);
	assert_int_equal(dump.collectives.groups[0].seq, 3);
	assert_true(dump.collectives.entries[0].is_p2p);
	flight_recorder_dump_clear(&dump);
}

static void frames_of_cxx_are_native(void **state)
{
	struct flight_recorder_dump dump = FLIGHT_RECORDER_DUMP_INIT;
	const struct stack *stack;

	(void)state;
	parse(&dump, "{" VERSION ",\"entries\":[{" ENTRY ",\"frames\":[{\"name\":\"c10d::f()\","
		     "\"filename\":\"??\",\"line\":0},{\"name\":\"g\",\"filename\":\"Ops.cpp\","
		     "\"line\":1},{\"name\":\"h\",\"filename\":\"\",\"line\":0},{\"name\":\"step\","
		     "\"filename\":\"/bin/train\",\"line\":-4},7]}]}");
	stack = dump.collectives.entries[0].stack;
	assert_int_equal(stack->frame_count, 5);
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(stack->frames[i].code->type, FRAME_NATIVE);
	assert_int_equal(stack->frames[3].code->type, FRAME_PYTHON);
	assert_int_equal(stack->frames[3].lineno, 0);
	flight_recorder_dump_clear(&dump);
}

static void the_newest_entries_are_kept(void **state)
{
	struct flight_recorder_dump dump = FLIGHT_RECORDER_DUMP_INIT;
	struct buffer text = BUFFER_INIT;

	(void)state;
	buffer_append_string(&text, "{" VERSION ",\"entries\":[");
	for (int i = 0; i < COLLECTIVE_ENTRIES_MAXIMUM + 3; i++)
		buffer_printf(&text, "%s{\"record_id\":%d,\"process_group\":[\"0\"]}", i ? "," : "",
			      i);
	buffer_append_string(&text, "]}");
	parse(&dump, text.data);
	assert_int_equal(dump.collectives.entry_count, COLLECTIVE_ENTRIES_MAXIMUM);
	assert_int_equal(dump.collectives.entries[0].id, 3);
	assert_int_equal(dump.collectives.recorded, COLLECTIVE_ENTRIES_MAXIMUM + 3);
	flight_recorder_dump_clear(&dump);
	buffer_clear(&text);
}

static void what_is_wrong_is_refused(void **state)
{
	static const struct {
		const char *text, *says;
	} cases[] = {
		{ "", "no Flight Recorder dump: the file is empty" },
		{ "PK\003\004",
		  "no Flight Recorder dump: neither a pickle of protocol 2 nor JSON" },
		{ "\x80\x02]q", "the pickle ends too early, at byte 4" },
		{ "\x80\x02].", "no Flight Recorder dump: \"version\" is missing" },
		{ "{\"version\":2}", "no Flight Recorder dump: \"version\" is missing" },
		{ "{\"version\":\"3.0\"}", "Flight Recorder dumps of version 3.0 are not known" },
		{ "{" VERSION ",\"entries\":{}}", "\"entries\" is not an array" },
		{ "{" VERSION ",\"entries\":[7]}", "entry: not a JSON object" },
		{ "{" VERSION ",\"entries\":[{}]}", "entry: \"record_id\" is missing" },
		{ "{" VERSION ",\"entries\":[{\"record_id\":1}]}",
		  "entry: \"process_group\" is not a name and a description" },
		{ "{" VERSION ",\"entries\":[{\"record_id\":\"1\"}]}",
		  "entry: \"record_id\" is not an integer from 0 to 9223372036854775807" },
		{ "{" VERSION ",\"entries\":[{\"input_sizes\":[3]}]}",
		  "collective: element 0 of \"input_sizes\" is invalid" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
		struct flight_recorder_dump dump = FLIGHT_RECORDER_DUMP_INIT;
		struct error error = ERROR_INIT;

		assert_int_equal(flight_recorder_dump_parse(&dump, cases[i].text,
							    strlen(cases[i].text), &error),
				 -1);
		assert_string_equal(error.message, cases[i].says);
		assert_int_equal(dump.collectives.group_count, 0);
		flight_recorder_dump_clear(&dump);
	}
}

static void a_missing_file_is_an_error(void **state)
{
	struct flight_recorder_dump dump = FLIGHT_RECORDER_DUMP_INIT;
	struct error error = ERROR_INIT;

	(void)state;
	assert_int_equal(flight_recorder_dump_read(&dump, "/nonexistent/rank_1", &error), -1);
	assert_string_equal(error.message,
			    "cannot open the dump /nonexistent/rank_1: No such file or directory");
	assert_int_equal(dump.rank, -1);
}

/* 600 MB in jansson, from 5 MB. */
static void json_of_too_many_values_is_refused(void **state)
{
	struct flight_recorder_dump dump = FLIGHT_RECORDER_DUMP_INIT;
	struct buffer text = BUFFER_INIT;
	struct error error = ERROR_INIT;

	(void)state;
	buffer_append_string(&text, "{" VERSION ",\"entries\":[{}");
	for (int i = 0; i < 1700000; i++)
		buffer_append_string(&text, ",{}");
	buffer_append_string(&text, "]}");
	assert_int_equal(flight_recorder_dump_parse(&dump, text.data, text.length, &error), -1);
	assert_string_equal(error.message, "the values need too much memory");
	buffer_clear(&text);
}

/* Each beginning of a dump is refused; with a byte changed it is read or refused. */
static void broken_dumps_are_harmless(void **state)
{
	struct flight_recorder_dump dump = FLIGHT_RECORDER_DUMP_INIT;
	char *path = path_of("torch-2.11-nccl-rank_0");
	struct buffer bytes = BUFFER_INIT;

	(void)state;
	assert_int_equal(file_read(path, "the dump", &bytes, NULL), 0);
	for (size_t i = 0; i < bytes.length; i++)
		assert_int_equal(flight_recorder_dump_parse(&dump, bytes.data, i, NULL), -1);
	for (size_t i = 0; i < bytes.length; i++)
		for (int bit = 0; bit < 8; bit++) {
			bytes.data[i] ^= (char)(1 << bit);
			flight_recorder_dump_parse(&dump, bytes.data, bytes.length, NULL);
			bytes.data[i] ^= (char)(1 << bit);
		}
	assert_int_equal(flight_recorder_dump_parse(&dump, bytes.data, bytes.length, NULL), 0);
	flight_recorder_dump_clear(&dump);
	buffer_clear(&bytes);
	free(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_watchdogs_file_is_read),
		cmocka_unit_test(the_calls_that_timed_out_have_not_ended),
		cmocka_unit_test(both_forms_say_the_same),
		cmocka_unit_test(a_dump_without_collectives_says_so),
		cmocka_unit_test(the_rank_ends_the_name),
		cmocka_unit_test(groups_are_joined),
		cmocka_unit_test(point_to_point_calls_are_no_collectives),
		cmocka_unit_test(frames_of_cxx_are_native),
		cmocka_unit_test(the_newest_entries_are_kept),
		cmocka_unit_test(what_is_wrong_is_refused),
		cmocka_unit_test(a_missing_file_is_an_error),
		cmocka_unit_test(json_of_too_many_values_is_refused),
		cmocka_unit_test(broken_dumps_are_harmless),
	};

	return cmocka_run_group_tests_name("test-flight-recorder-dump", tests, NULL, NULL);
}
