/* collectives: there and back, and what is refused. */
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
#include "protocol/collectives.h"
#include "protocol/stack.h"

static const char *const whole =
	"{\"version\":\"2.13.0\",\"recorded\":11,\"groups\":[{\"name\":\"0\",\"description\":"
	"\"default_pg\",\"backend\":\"gloo\",\"rank\":1,\"size\":2,\"is_default\":true,\"seq\":"
	"10,"
	"\"unfinished\":1,\"operation\":\"ALLREDUCE\",\"ranks\":[4,5]}],\"stacks\":[{\"id\":1,"
	"\"codes\":[[1,\"step\",\"step\",\"/train.py\",3,0]],\"frames\":[[1,7]]}],\"entries\":[{"
	"\"id\":9,\"group\":0,\"seq\":10,\"p2p_seq\":0,\"op_id\":10,\"operation\":\"gloo:all_"
	"reduce\","
	"\"created\":1795746101211072544,\"timeout\":1800000,\"thread\":\"0x7f13\","
	"\"input_sizes\":[[128,3],[]],\"input_dtypes\":[\"Float\",\"Long\"],\"output_sizes\":[],"
	"\"output_dtypes\":[],\"stack\":1}]}";

static int take(struct collectives *collectives, const char *text, struct error *error)
{
	json_t *json = json_parse(text, strlen(text), error);
	int result = json ? collectives_from_json(collectives, json, error) : -1;

	json_decref(json);
	return result;
}

static void they_come_back_as_they_were(void **state)
{
	struct collectives collectives = COLLECTIVES_INIT;
	struct error error = ERROR_INIT;
	const struct collective_entry *entry;
	struct buffer out = BUFFER_INIT;
	json_t *json;

	(void)state;
	assert_int_equal(take(&collectives, whole, &error), 0);
	assert_int_equal(collectives.group_count, 1);
	assert_ptr_equal(collectives_default_group(&collectives), &collectives.groups[0]);
	assert_int_equal(collectives.groups[0].ranks[1], 5);
	assert_int_equal(collectives.groups[0].completed, -1);
	assert_int_equal(collectives.entry_count, 1);
	entry = &collectives.entries[0];
	assert_int_equal(entry->started, -1);
	assert_int_equal(entry->stack->frames[0].lineno, 7);
	json = collectives_to_json(&collectives, SIZE_MAX);
	json_append(&out, json);
	assert_non_null(strstr(out.data, "\"input_sizes\":[[128,3],[]]"));
	assert_non_null(strstr(out.data, "\"created\":1795746101211072544"));
	json_decref(json);
	buffer_clear(&out);
	collectives_clear(&collectives);
	assert_null(collectives_default_group(&collectives));
}

/* The ranks of a group as a set where they rise, else in their order. */
static void ranks_of_groups(void **state)
{
	static const struct {
		const char *given, *written;
		size_t count;
	} cases[] = {
		{ "[0,1,2,3,8]", "\"ranks\":\"0-3,8\"", 5 },
		{ "\"0-3,8\"", "\"ranks\":\"0-3,8\"", 5 },
		{ "[3,1,2]", "\"ranks\":[3,1,2]", 3 },
		{ "[1,1]", "\"ranks\":[1,1]", 2 },
		{ "[-1,2]", "\"ranks\":[-1,2]", 2 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
		struct collectives collectives = COLLECTIVES_INIT;
		struct error error = ERROR_INIT;
		struct buffer out = BUFFER_INIT;
		char *text =
			xasprintf("{\"groups\":[{\"name\":\"0\",\"ranks\":%s}]}", cases[i].given);
		json_t *json;

		assert_int_equal(take(&collectives, text, &error), 0);
		assert_int_equal(collectives.groups[0].rank_count, cases[i].count);
		json = collectives_to_json(&collectives, SIZE_MAX);
		json_append(&out, json);
		assert_non_null(strstr(out.data, cases[i].written));
		json_decref(json);
		buffer_clear(&out);
		free(text);
		collectives_clear(&collectives);
	}
}

static void what_is_wrong_is_refused(void **state)
{
	static const struct {
		const char *text, *says;
	} cases[] = {
		{ "{\"groups\":[{}]}", "process group: \"name\" is missing" },
		{ "{\"groups\":5}",
		  "collectives: \"groups\" is not an array of at most 4096 elements" },
		{ "{\"groups\":[{\"name\":\"0\",\"ranks\":[0,\"1\"]}]}",
		  "process group: \"ranks\" has an element that is no integer" },
		{ "{\"groups\":[{\"name\":\"0\",\"ranks\":\"0-x\"}]}",
		  "process group: \"ranks\" is no set of at most 65536 rising rank numbers" },
		{ "{\"groups\":[{\"name\":\"0\",\"ranks\":\"0-65536\"}]}",
		  "process group: \"ranks\" is no set of at most 65536 rising rank numbers" },
		{ "{\"groups\":[{\"name\":\"0\",\"ranks\":\"3,1\"}]}",
		  "process group: \"ranks\" is no set of at most 65536 rising rank numbers" },
		{ "{\"entries\":[{\"group\":0}]}", "collective: there is no group 0" },
		{ "{\"entries\":[{\"stack\":7}]}", "collective: stack 7 was not sent" },
		{ "{\"entries\":[{\"input_sizes\":[[1],[\"x\"]]}]}",
		  "collective: element 1 of \"input_sizes\" is invalid" },
		{ "{\"entries\":[{\"output_dtypes\":[3]}]}",
		  "collective: element 0 of \"output_dtypes\" is invalid" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
		struct collectives collectives = COLLECTIVES_INIT;
		struct error error = ERROR_INIT;

		assert_int_equal(take(&collectives, cases[i].text, &error), -1);
		assert_string_equal(error.message, cases[i].says);
		collectives_clear(&collectives);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(they_come_back_as_they_were),
		cmocka_unit_test(ranks_of_groups),
		cmocka_unit_test(what_is_wrong_is_refused),
	};

	return cmocka_run_group_tests_name("test-collectives", tests, NULL, NULL);
}
