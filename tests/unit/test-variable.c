/* variable: there and back, and what is refused. */
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
#include "protocol/variable.h"

static void add(struct variable_list *list, const char *name, const char *value, uint64_t address,
		int64_t child_count)
{
	struct variable *variable = variable_list_add(list);

	variable->name = xstrdup(name);
	variable->type = xstrdup("int");
	variable->value = xstrdup(value);
	variable->address = address;
	variable->child_count = child_count;
}

static void the_shape_is_the_contract(void **state)
{
	struct variable_list list = { .total = -1 };
	struct buffer out = BUFFER_INIT;
	json_t *json;

	(void)state;
	add(&list, "step", "13", UINT64_C(0x7f0012345678), -1);
	add(&list, "gone", "unbound", 0, 4);
	list.items[1].kind = VARIABLE_CELL;
	json = variable_list_to_json(&list);
	json_append(&out, json);
	assert_string_equal(out.data,
			    "{\"variables\":[{\"name\":\"step\",\"kind\":\"local\",\"type\":"
			    "\"int\",\"value\":\"13\",\"address\":\"0x7f0012345678\",\"children\":"
			    "null},{\"name\":\"gone\",\"kind\":\"cell\",\"type\":\"int\",\"value\":"
			    "\"unbound\",\"children\":4,\"address\":null}],\"total\":null}");
	json_decref(json);
	buffer_clear(&out);
	variable_list_clear(&list);
}

static void values_of_secrets_are_masked(void **state)
{
	static const char *const rows[][3] = {
		{ "step", "13", "13" },
		{ "api_key", "'sk-1'", "<masked>" },
		{ "options", "{'password': 'hunter2'}", "<masked>" },
		{ "url", "'https://me:hunter2@host'", "<masked>" },
		{ "name", "'a'", "'a'" },
	};
	struct variable_list list = { .total = -1 };

	(void)state;
	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++)
		add(&list, rows[i][0], rows[i][1], 0, -1);
	variable_list_mask(&list);
	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++)
		assert_string_equal(list.items[i].value, rows[i][2]);
	variable_list_clear(&list);
}

static void a_text_says_all_or_not(void **state)
{
	static const struct {
		const char *text;
		bool says_all;
		bool with_names;
	} rows[] = {
		{ "1", true, true },
		{ "-1.5e-05", true, true },
		{ "(nan+infj)", true, true },
		{ "'a <b> \\' at 0x7f0012345678'", true, true },
		{ "b'\\x00'", true, true },
		{ "{'a': [1, 2.0, None], \"b\": (True,)}", true, true },
		{ "{'caf\u00e9', '\u2026'}", true, true },
		{ "set()", true, true },
		{ "OrderedDict({'a': 1})", true, true },
		{ "defaultdict(<class 'list'>, {1: [2]})", true, true },
		{ "torch.float32", true, true },
		{ "<Color.RED: 1>", true, true },
		{ "Color.RED = 1", true, true },
		{ "Point(x=1, y=-2)", false, true },
		{ "Net(width=8)", false, true },
		{ "", false, false },
		{ "Net (2 modules)", false, false },
		{ "Linear", false, false },
		{ "<function train.<locals>.<lambda> at play.py:18>", false, false },
		{ "<torch.optim.adam.Adam at 0x7f0012345678>", false, false },
		{ "<class '__main__.Net'>", false, false },
		{ "{'loss': tensor float32 [2] cpu}", false, false },
		{ "[1, 2, \u2026]", false, false },
		{ "'xxx'\u2026", false, false },
		{ "[1, ... 5 more]", false, false },
		{ "[[...]]", false, false },
		{ "'xxx'... 5 more", false, false },
		{ "[?]", false, false },
		{ "float32 [8, 32]", false, false },
		{ "<int of 40000 bits>", false, false },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++)
		if (variable_says_all(rows[i].text, false) != rows[i].says_all ||
		    variable_says_all(rows[i].text, true) != rows[i].with_names)
			fail_msg("%s", rows[i].text);
}

static void what_is_sent_arrives(void **state)
{
	struct variable_list sent = { .total = 250 };
	struct variable_list got = { .total = -1 };
	struct error error = ERROR_INIT;
	json_t *json;

	(void)state;
	add(&sent, "a", "1", 0, 0);
	add(&sent, "b", "2", UINT64_MAX, 7);
	sent.items[1].kind = VARIABLE_ITEM;
	add(&got, "old", "old", 1, 1);
	json = variable_list_to_json(&sent);
	if (variable_list_from_json(&got, json, &error) < 0)
		fail_msg("%s", error.message);
	assert_int_equal(got.count, 2);
	assert_int_equal(got.total, 250);
	assert_int_equal(got.items[0].child_count, 0);
	assert_true(got.items[0].address == 0);
	assert_string_equal(got.items[1].name, "b");
	assert_string_equal(got.items[1].type, "int");
	assert_int_equal(got.items[1].kind, VARIABLE_ITEM);
	assert_true(got.items[1].address == UINT64_MAX);
	json_decref(json);
	variable_list_clear(&got);
	variable_list_clear(&got);
	variable_list_clear(&sent);
}

static void a_long_value_is_cut(void **state)
{
	struct variable_list list = { .total = -1 };
	struct buffer value = BUFFER_INIT;
	json_t *json;
	const char *cut;

	(void)state;
	buffer_printf(&value, "%010000d", 1);
	add(&list, "x", value.data, 1, -1);
	json = variable_to_json(&list.items[0]);
	cut = json_get_string(json, "value", "");
	assert_int_equal(strlen(cut), VARIABLE_VALUE_MAXIMUM);
	assert_string_equal(cut + strlen(cut) - 3, "\xe2\x80\xa6");
	json_decref(json);
	buffer_clear(&value);
	variable_list_clear(&list);
}

static void hostile_values_are_refused(void **state)
{
	static const char *const bad[] = {
		"null",
		"{}",
		"{\"variables\":{}}",
		"{\"variables\":[7]}",
		"{\"variables\":[{}]}",
		"{\"variables\":[{\"name\":\"a\"}]}",
		"{\"variables\":[{\"name\":\"a\",\"value\":1}]}",
		"{\"variables\":[{\"name\":\"a\",\"value\":\"1\",\"kind\":\"x\"}]}",
		"{\"variables\":[{\"name\":\"a\",\"value\":\"1\",\"address\":\"12\"}]}",
		"{\"variables\":[{\"name\":\"a\",\"value\":\"1\",\"children\":-1}]}",
	};
	struct variable_list list = { .total = -1 };

	(void)state;
	for (size_t i = 0; i < ARRAY_LENGTH(bad); i++) {
		struct error error = ERROR_INIT;
		json_t *json = json_parse(bad[i], strlen(bad[i]), NULL);

		assert_int_equal(variable_list_from_json(&list, json, &error), -1);
		assert_true(error_is_set(&error));
		json_decref(json);
	}
	variable_list_clear(&list);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_shape_is_the_contract),
		cmocka_unit_test(values_of_secrets_are_masked),
		cmocka_unit_test(a_text_says_all_or_not),
		cmocka_unit_test(what_is_sent_arrives),
		cmocka_unit_test(a_long_value_is_cut),
		cmocka_unit_test(hostile_values_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
