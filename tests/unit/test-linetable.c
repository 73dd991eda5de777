/* linetable: tables as compilers write them, and as nobody does. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "banned.h"

#include "backends/cpython/line-table.h"
#include "base/array.h"

static int find(int minor, const uint8_t *bytes, size_t length, uint64_t at)
{
	const struct line_table table = { bytes, length, 10 };

	return line_table_find(&table, minor, at);
}

static void finds_lines_of_lnotab(void **state)
{
	/* 4 bytes of line 10, 6 of line 12, then line 11. */
	static const uint8_t bytes[] = { 4, 2, 6, 0xff };

	(void)state;
	assert_int_equal(find(8, bytes, sizeof(bytes), 0), 10);
	assert_int_equal(find(8, bytes, sizeof(bytes), 3), 10);
	assert_int_equal(find(9, bytes, sizeof(bytes), 4), 12);
	assert_int_equal(find(9, bytes, sizeof(bytes), 10), 11);
}

static void finds_lines_of_pairs(void **state)
{
	/* 4 bytes of line 10, 2 of none, 2 of line 13. */
	static const uint8_t bytes[] = { 4, 0, 2, 0x80, 2, 3 };

	(void)state;
	assert_int_equal(find(10, bytes, sizeof(bytes), 2), 10);
	assert_int_equal(find(10, bytes, sizeof(bytes), 4), 0);
	assert_int_equal(find(10, bytes, sizeof(bytes), 6), 13);
	assert_int_equal(find(10, bytes, sizeof(bytes), 8), 0);
}

static void finds_lines_of_locations(void **state)
{
	static const uint8_t bytes[] = {
		0x80 | 3 << 3 | 1, 0x00,	     /* short, 2 units: 10 */
		0x80 | 11 << 3,	   0x00, 0x05,	     /* one line more: 11 */
		0x80 | 13 << 3,	   0x50, 0x01,	     /* no columns, +40 */
		0x80 | 14 << 3,	   0x03, 0,    0, 0, /* long, -1 */
		0x80 | 15 << 3,			     /* none */
	};

	(void)state;
	assert_int_equal(find(11, bytes, sizeof(bytes), 2), 10);
	assert_int_equal(find(12, bytes, sizeof(bytes), 4), 11);
	assert_int_equal(find(13, bytes, sizeof(bytes), 6), 51);
	assert_int_equal(find(14, bytes, sizeof(bytes), 8), 50);
	assert_int_equal(find(14, bytes, sizeof(bytes), 10), 0);
	assert_int_equal(find(14, bytes, sizeof(bytes), 1000), 0);
}

/* No crash and no line below 0, whatever the bytes. */
static void survives_any_bytes(void **state)
{
	uint8_t bytes[64];
	uint32_t random = 1;

	(void)state;
	for (int i = 0; i < 100000; i++) {
		for (size_t j = 0; j < sizeof(bytes); j++) {
			random = random * 1664525u + 1013904223u;
			bytes[j] = (uint8_t)(random >> 24);
		}
		for (int minor = 8; minor <= 14; minor++)
			assert_true(find(minor, bytes, random >> 26, random >> 24) >= 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds_lines_of_lnotab),
		cmocka_unit_test(finds_lines_of_pairs),
		cmocka_unit_test(finds_lines_of_locations),
		cmocka_unit_test(survives_any_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
