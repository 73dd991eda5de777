/* c10d: what is found in the machine code of torch's libraries, and which layout a version has. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "banned.h"
#include "backends/c10d/c10d-layout.h"
#include "backends/c10d/c10d-library.h"
#include "base/buffer.h"

#define FUNCTION UINT64_C(0x668e6e0)

/* The start of dump_fr_trace_json() of torch 2.13, from the address FUNCTION + 25 on. */
static const uint8_t direct[] = {
	0x0f, 0xb6, 0x05, 0xb0, 0xc9, 0x33, 0x0e, /* movzbl 0xe33c9b0(%rip), %eax */
	0x84, 0xc0,				  /* test %al, %al */
	0x0f, 0x84, 0xca, 0x00, 0x00, 0x00,	  /* je */
	0x66, 0x0f, 0xef, 0xc0, 0x4c, 0x8d, 0x74, 0x24, 0x40, 0x0f, 0xb6, 0xcb, 0x45, 0x0f,
	0xb6, 0xc4, 0x0f, 0x11, 0x44, 0x24, 0x18, 0x4c, 0x8d, 0x6c, 0x24, 0x30, 0x4c, 0x89,
	0xf2, 0x48, 0x89, 0xef, 0x48, 0x8b, 0x35, 0x89, 0xc9, 0x33, 0x0e, /* mov 0xe33c989(%rip),
									     %rsi */
};

static void the_pointer_is_behind_its_guard(void **state)
{
	uint64_t pointer = 0;

	(void)state;
	assert_int_equal(c10d_code_find_pointer(direct, sizeof(direct), FUNCTION + 25, &pointer),
			 0);
	assert_int_equal(pointer, 0x149cb0b8);
	/* Without the load of the pointer it may be the guard of something else. */
	assert_int_equal(
		c10d_code_find_pointer(direct, sizeof(direct) - 1, FUNCTION + 25, &pointer), -1);
	assert_int_equal(c10d_code_find_pointer(direct, 3, FUNCTION + 25, &pointer), -1);
}

static void calls_are_found_in_their_order(void **state)
{
	static const uint8_t code[] = { 0x90, 0xe8, 0x10, 0x00, 0x00, 0x00,
					0x90, 0xe8, 0xf0, 0xff, 0xff, 0xff };

	(void)state;
	assert_int_equal(c10d_code_call(code, sizeof(code), 0x1000, 0), 0x1016);
	assert_int_equal(c10d_code_call(code, sizeof(code), 0x1000, 1), 0x0ffc);
	assert_int_equal(c10d_code_call(code, sizeof(code), 0x1000, 2), 0);
	assert_int_equal(c10d_code_call(code, 4, 0x1000, 0), 0);
}

static void the_offset_is_that_of_a_getter(void **state)
{
	static const uint8_t getter[] = { 0x48, 0x8b, 0x87, 0xc8, 0x01, 0x00, 0x00, 0xc3 };
	static const uint8_t longer[] = { 0x48, 0x8b, 0x87, 0xc8, 0x01, 0x00, 0x00, 0x90 };

	(void)state;
	assert_int_equal(c10d_code_find_offset(getter, sizeof(getter)), 0x1c8);
	assert_int_equal(c10d_code_find_offset(longer, sizeof(longer)), -1);
	assert_int_equal(c10d_code_find_offset(getter, 7), -1);
}

static void a_version_has_a_layout_for_each_abi(void **state)
{
	const struct c10d_layout *layout = c10d_layout_find(2013, false);
	struct buffer known = BUFFER_INIT;

	(void)state;
	assert_non_null(layout);
	assert_int_equal(layout->string_size, 32);
	assert_int_equal(layout->entry_size, 512);
	assert_int_equal(c10d_layout_find(2006, true)->string_size, 8);
	assert_null(c10d_layout_find(2005, false));
	assert_null(c10d_layout_find(2999, false));
	assert_null(c10d_layout_find(-1, false));
	c10d_layout_append_versions(&known);
	assert_string_equal(known.data, "2.6 to 2.14");
	buffer_clear(&known);
	for (int version = 2006; version <= 2014; version++)
		for (int old = 0; old < 2; old++) {
			layout = c10d_layout_find(version, old);
			assert_in_range(layout->entry_size, 1, C10D_ENTRY_BYTES);
			assert_in_range(layout->recorder_size, 1, C10D_RECORDER_BYTES);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_pointer_is_behind_its_guard),
		cmocka_unit_test(calls_are_found_in_their_order),
		cmocka_unit_test(the_offset_is_that_of_a_getter),
		cmocka_unit_test(a_version_has_a_layout_for_each_abi),
	};

	return cmocka_run_group_tests_name("test-c10d", tests, NULL, NULL);
}
