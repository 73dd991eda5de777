/* json: look-ups that survive anything, and the writer. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <locale.h>
#include <math.h>
#include <cmocka.h>

#include "banned.h"
#include "base/array.h"
#include "base/buffer.h"
#include "base/error.h"
#include "base/json.h"

static json_t *parse(const char *text)
{
	struct error error = ERROR_INIT;
	json_t *value = json_parse(text, strlen(text), &error);

	if (!value)
		fail_msg("%s: %s", text, error.message);
	return value;
}

static void what_is_written_reads_back(void **state)
{
	static const char *const texts[] = {
		"{}",
		"[]",
		"{\"z\":1,\"a\":{\"b\":[1,2,[]]},\"m\":null}",
		"[true,false,null,-9223372036854775808,9223372036854775807]",
		"[0.1,1.0,-2.5,1e+300,1e-07,0.30000000000000004]",
		"\"\\\"\\\\\\n\\t\\r\\b\\f\\u001b/\xc3\xbc\"",
		"\"\"",
		"7",
	};
	struct buffer out = BUFFER_INIT;

	(void)state;
	for (size_t i = 0; i < ARRAY_LENGTH(texts); i++) {
		json_t *value = parse(texts[i]);

		buffer_reset(&out);
		json_append(&out, value);
		assert_string_equal(out.data, texts[i]);
		json_decref(value);
	}
	buffer_clear(&out);
}

static void a_locale_changes_no_number(void **state)
{
	struct buffer out = BUFFER_INIT;
	json_t *value = json_real(1.5);

	(void)state;
	/* Skips itself where the system has no such locale. */
	if (setlocale(LC_ALL, "de_DE.UTF-8") == NULL)
		setlocale(LC_ALL, "C");
	json_append(&out, value);
	assert_string_equal(out.data, "1.5");
	setlocale(LC_ALL, "C");
	json_decref(value);
	buffer_clear(&out);
}

static void a_wrong_type_gives_the_fallback(void **state)
{
	json_t *object = parse("{\"i\":7,\"r\":2.5,\"b\":true,\"s\":\"x\",\"n\":null,\"a\":[]}");

	(void)state;
	assert_int_equal(json_get_integer(object, "i", -1), 7);
	assert_int_equal(json_get_integer(object, "r", -1), -1);
	assert_int_equal(json_get_integer(object, "missing", -1), -1);
	assert_int_equal(json_get_integer(NULL, "i", -1), -1);
	assert_true(json_get_real(object, "r", 0) == 2.5);
	assert_true(json_get_real(object, "i", 0) == 7);
	assert_true(json_get_real(object, "s", 9) == 9);
	assert_true(json_get_boolean(object, "b", false));
	assert_true(json_get_boolean(object, "i", true));
	assert_string_equal(json_get_string(object, "s", NULL), "x");
	assert_null(json_get_string(object, "n", NULL));
	assert_string_equal(json_get_string(json_object_get(object, "a"), "s", "f"), "f");
	json_decref(object);
}

static void addresses_travel_as_hex(void **state)
{
	json_t *object = json_object();
	static const char *const bad[] = {
		"", "0x", "1f", "0x1g", "0x11223344556677889", "-0x1", "0x 1",
	};

	(void)state;
	json_set_hex(object, "a", UINT64_MAX);
	json_set_hex(object, "z", 0);
	assert_string_equal(json_get_string(object, "a", ""), "0xffffffffffffffff");
	assert_true(json_get_hex(object, "a") == UINT64_MAX);
	assert_true(json_get_hex(object, "z") == 0);
	for (size_t i = 0; i < ARRAY_LENGTH(bad); i++) {
		json_object_set_new(object, "b", json_string(bad[i]));
		assert_true(json_get_hex(object, "b") == 0);
	}
	json_object_set_new(object, "b", json_integer(4));
	assert_true(json_get_hex(object, "b") == 0);
	json_decref(object);
}

static void bad_utf8_is_repaired(void **state)
{
	json_t *object = json_object();

	(void)state;
	json_set_text(object, "a", "x\xffy");
	json_set_text(object, "b", NULL);
	json_set_text(object, "c", "\xc3\xbc");
	assert_string_equal(json_get_string(object, "a", ""), "x\xef\xbf\xbdy");
	assert_true(json_is_null(json_object_get(object, "b")));
	assert_string_equal(json_get_string(object, "c", ""), "\xc3\xbc");
	json_decref(object);
}

static void no_json_gives_a_sentence(void **state)
{
	static const char *const bad[] = {
		"",
		"{",
		"{}x",
		"[NaN]",
		"\"\xff\"",
		"[1e999]",
		"99999999999999999999",
		"\"\\u0000\"",
		"{\"a\":1,}",
		"\x1b[2J",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LENGTH(bad); i++) {
		struct error error = ERROR_INIT;

		assert_null(json_parse(bad[i], strlen(bad[i]), &error));
		assert_true(error_is_set(&error));
		assert_null(strchr(error.message, '\x1b'));
	}
}

static void deep_nesting_is_refused(void **state)
{
	struct buffer text = BUFFER_INIT;
	struct error error = ERROR_INIT;

	(void)state;
	for (int i = 0; i < 1000000; i++)
		buffer_append_char(&text, '[');
	assert_null(json_parse(text.data, text.length, &error));
	buffer_clear(&text);
}

static void only_bytes_given_are_read(void **state)
{
	json_t *value = json_parse("[1]garbage", 3, NULL);

	(void)state;
	assert_int_equal(json_array_size(value), 1);
	json_decref(value);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_written_reads_back),
		cmocka_unit_test(a_locale_changes_no_number),
		cmocka_unit_test(a_wrong_type_gives_the_fallback),
		cmocka_unit_test(addresses_travel_as_hex),
		cmocka_unit_test(bad_utf8_is_repaired),
		cmocka_unit_test(no_json_gives_a_sentence),
		cmocka_unit_test(deep_nesting_is_refused),
		cmocka_unit_test(only_bytes_given_are_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
