/* buffer and array: growing, bounds, passing out. */
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

static void an_empty_buffer_can_be_printed(void **state)
{
	struct buffer buffer = BUFFER_INIT;

	(void)state;
	assert_string_equal(buffer.data, "");
	buffer_clear(&buffer);
	buffer_reset(&buffer);
	buffer_truncate(&buffer, 0);
	buffer_consume(&buffer, 3);
	assert_string_equal(buffer.data, "");
	assert_string_equal(buffer_empty, "");
}

static void appending_grows(void **state)
{
	struct buffer buffer = BUFFER_INIT;

	(void)state;
	for (int i = 0; i < 1000; i++)
		assert_int_equal(buffer_append_char(&buffer, 'x'), 0);
	buffer_append(&buffer, "a\0b", 3);
	assert_int_equal(buffer.length, 1003);
	assert_memory_equal(buffer.data + 1000, "a\0b", 4);
	buffer_clear(&buffer);
}

static void printf_grows(void **state)
{
	struct buffer buffer = BUFFER_INIT;

	(void)state;
	buffer_printf(&buffer, "%s", "");
	assert_int_equal(buffer.length, 0);
	buffer_printf(&buffer, "rank %d: %0100d", 3, 7);
	assert_int_equal(buffer.length, 108);
	buffer_printf(&buffer, "%s", "!");
	assert_string_equal(buffer.data + 100, "00000007!");
	buffer_clear(&buffer);
}

static void the_maximum_holds(void **state)
{
	struct buffer buffer;

	(void)state;
	buffer_init(&buffer, 4);
	assert_int_equal(buffer_append_string(&buffer, "abcd"), 0);
	assert_int_equal(buffer_append_char(&buffer, 'e'), -1);
	assert_int_equal(buffer_printf(&buffer, "%d", 1), -1);
	assert_string_equal(buffer.data, "abcd");
	buffer_consume(&buffer, 1);
	assert_int_equal(buffer_printf(&buffer, "%d", 12), -1);
	assert_string_equal(buffer.data, "bcd");
	assert_int_equal(buffer_printf(&buffer, "%d", 1), 0);
	assert_string_equal(buffer.data, "bcd1");
	buffer_clear(&buffer);
	assert_int_equal(buffer.maximum, 4);
	assert_int_equal(buffer_append(&buffer, "abcde", 5), -1);
	assert_int_equal(buffer.length, 0);
}

static void consume_and_truncate_drop(void **state)
{
	struct buffer buffer = BUFFER_INIT;

	(void)state;
	buffer_append_string(&buffer, "first second");
	buffer_consume(&buffer, 6);
	assert_string_equal(buffer.data, "second");
	buffer_truncate(&buffer, 99);
	assert_string_equal(buffer.data, "second");
	buffer_truncate(&buffer, 3);
	assert_string_equal(buffer.data, "sec");
	buffer_consume(&buffer, 99);
	assert_int_equal(buffer.length, 0);
	buffer_clear(&buffer);
}

static void take_passes_out(void **state)
{
	struct buffer buffer = BUFFER_INIT;
	char *taken;

	(void)state;
	taken = buffer_take(&buffer);
	assert_string_equal(taken, "");
	free(taken);
	buffer_append_string(&buffer, "mine");
	taken = buffer_take(&buffer);
	assert_string_equal(taken, "mine");
	assert_int_equal(buffer.length, 0);
	assert_string_equal(buffer.data, "");
	free(taken);
}

static void arrays_grow_by_one(void **state)
{
	int *items = NULL;
	size_t count = 0;
	size_t capacity = 0;

	(void)state;
	for (int i = 0; i < 1000; i++) {
		ARRAY_GROW(items, count, capacity);
		items[count++] = i;
	}
	for (int i = 0; i < 1000; i++)
		assert_int_equal(items[i], i);
	assert_true(capacity >= 1000 && capacity <= 2048);
	items = array_grow(items, 5000, &capacity, sizeof(*items));
	assert_true(capacity >= 5000);
	assert_int_equal(items[999], 999);
	free(items);
}

static void strings_are_copied(void **state)
{
	char *text = xstrndup("abcdef", 3);

	(void)state;
	assert_string_equal(text, "abc");
	free(text);
	text = xstrndup("ab", 30);
	assert_string_equal(text, "ab");
	free(text);
	assert_null(xstrdup_or_null(NULL));
	text = xasprintf("%d-%s", 3, "x");
	assert_string_equal(text, "3-x");
	free(text);
	free(xmalloc(0));
	free(xcalloc(0, 8));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_empty_buffer_can_be_printed),
		cmocka_unit_test(appending_grows),
		cmocka_unit_test(printf_grows),
		cmocka_unit_test(the_maximum_holds),
		cmocka_unit_test(consume_and_truncate_drop),
		cmocka_unit_test(take_passes_out),
		cmocka_unit_test(arrays_grow_by_one),
		cmocka_unit_test(strings_are_copied),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
