/* memory: what a snapshot costs has a bound. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "banned.h"

#include "backends/linux/memory.h"

#define READS_LEAST 1000000 /* what a deep stack of many threads takes */
#define READS_MOST 10000000

static uint64_t link_to_itself;

/* How often the link can be followed. */
static int follow(struct memory *memory)
{
	uint64_t address = link_to_itself;
	int count = 0;

	while (count < READS_MOST && memory_read_u64(memory, address, &address) == 0)
		count++;
	return count;
}

static void ends_a_circle(void **state)
{
	struct memory *memory = memory_new(getpid());

	(void)state;
	link_to_itself = (uint64_t)(uintptr_t)&link_to_itself;
	memory_begin(memory, false);
	assert_in_range(follow(memory), READS_LEAST, READS_MOST - 1);
	assert_int_equal(errno, EFAULT);
	assert_int_equal(follow(memory), 0);
	memory_begin(memory, true);
	assert_in_range(follow(memory), READS_LEAST, READS_MOST - 1);
	memory_free(memory);
}

static void counts_what_is_fetched_again(void **state)
{
	struct memory *memory = memory_new(getpid());
	uint64_t calls;
	uint64_t word;

	(void)state;
	memory_begin(memory, false);
	memory_group(memory);
	assert_int_equal(memory_read_u64(memory, (uint64_t)(uintptr_t)&link_to_itself, &word), 0);
	calls = memory_calls(memory);
	for (int i = 0; i < 200000; i++)
		memory_again(memory);
	assert_in_range(memory_calls(memory) - calls, 1000, 150000);
	memory_free(memory);
}

/* What the last one needed is one call; the rest is bounded. */
static void a_short_one_is_short(void **state)
{
	static uint8_t far[64 * 4096];
	struct memory *memory = memory_new(getpid());
	uint64_t first = (uint64_t)(uintptr_t)far;
	uint64_t calls;
	uint8_t byte;

	(void)state;
	memory_begin(memory, false);
	for (uint64_t i = 0; i < 32; i++)
		assert_int_equal(memory_read_u8(memory, first + i * 4096, &byte), 0);
	calls = memory_calls(memory);
	memory_begin_short(memory);
	for (uint64_t i = 0; i < 32; i++)
		assert_int_equal(memory_read_u8(memory, first + i * 4096, &byte), 0);
	assert_int_equal(memory_calls(memory) - calls, 1);
	for (uint64_t i = 32; i < 64; i++)
		memory_read_u8(memory, first + i * 4096, &byte);
	assert_int_equal(memory_calls(memory) - calls, 17);
	assert_in_range(follow(memory), 0, 10000);
	memory_begin(memory, true);
	assert_int_equal(memory_read_u8(memory, first + 63 * 4096, &byte), 0);
	memory_free(memory);
}

static void read_each(struct memory *memory, uint64_t first, uint64_t count)
{
	uint8_t byte;

	for (uint64_t i = 0; i < count; i++)
		assert_int_equal(memory_read_u8(memory, first + i * 4096, &byte), 0);
}

/* What a stand needed comes with the first call of the next one, as it is by
 * then; what none needs any more is left out. */
static void a_stand_reads_ahead(void **state)
{
	static uint8_t far[32 * 4096];
	struct memory *memory = memory_new(getpid());
	uint64_t first = (uint64_t)(uintptr_t)far;
	uint64_t word = 0;
	struct memory_part part = { (uint64_t)(uintptr_t)&link_to_itself, &word, sizeof(word), 0 };
	uint64_t calls;
	uint8_t byte;

	(void)state;
	memory_begin_stand(memory);
	assert_true(memory_is_standing(memory));
	memory_fetch_parts(memory, &part, 1);
	read_each(memory, first, 32);
	memory_end_stand(memory);
	assert_int_equal(memory_calls(memory), 33);
	for (int i = 0; i < 20; i++) {
		far[0] = (uint8_t)i;
		link_to_itself = (uint64_t)i;
		calls = memory_calls(memory);
		memory_begin_stand(memory);
		memory_fetch_parts(memory, &part, 1);
		assert_int_equal(part.done, sizeof(word));
		assert_int_equal(word, i);
		read_each(memory, first, 32);
		assert_int_equal(memory_look(memory, first, &byte, 1), 0);
		assert_int_equal(byte, i);
		assert_int_equal(memory_calls(memory) - calls, 1);
		memory_end_stand(memory);
	}
	for (int i = 0; i < 20; i++) {
		memory_begin_stand(memory);
		memory_fetch_parts(memory, &part, 1);
		memory_end_stand(memory);
	}
	memory_begin_stand(memory);
	calls = memory_calls(memory);
	read_each(memory, first, 32);
	assert_int_equal(memory_calls(memory) - calls, 32);
	/* Past the stand nothing of it is believed. */
	memory_end_stand(memory);
	far[0] = 99;
	assert_int_equal(memory_look(memory, first, &byte, 1), 0);
	assert_int_equal(byte, 99);
	memory_begin_stand(memory);
	memory_begin(memory, false);
	assert_false(memory_is_standing(memory));
	memory_free(memory);
}

/* Memory that was unmapped since costs one call more, once. */
static void a_stand_forgets_what_is_gone(void **state)
{
	uint8_t *pages =
		mmap(NULL, 4 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct memory *memory = memory_new(getpid());
	uint64_t first = (uint64_t)(uintptr_t)pages;
	uint64_t calls;
	uint8_t byte;

	(void)state;
	assert_true(pages != MAP_FAILED);
	memory_begin_stand(memory);
	read_each(memory, first, 4);
	assert_int_equal(munmap(pages + 4096, 4096), 0);
	memory_begin_stand(memory);
	assert_int_equal(memory_read_u8(memory, first + 3 * 4096, &byte), 0);
	assert_int_equal(memory_read_u8(memory, first + 4096, &byte), -1);
	memory_begin_stand(memory);
	calls = memory_calls(memory);
	read_each(memory, first, 1);
	read_each(memory, first + 2 * 4096, 2);
	assert_int_equal(memory_calls(memory) - calls, 1);
	memory_free(memory);
	munmap(pages, 4096);
	munmap(pages + 2 * 4096, 2 * 4096);
}

static void a_run_ends_where_memory_does(void **state)
{
	char *pages =
		mmap(NULL, 4 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct memory *memory = memory_new(getpid());
	uint8_t bytes[4 * 4096];

	(void)state;
	assert_true(pages != MAP_FAILED);
	assert_int_equal(munmap(pages + 2 * 4096, 4096), 0);
	assert_int_equal(
		memory_fetch_run(memory, (uint64_t)(uintptr_t)pages + 8, bytes, sizeof(bytes) - 8),
		2 * 4096 - 8);
	assert_int_equal(memory_calls(memory), 1);
	munmap(pages, 4 * 4096);
	memory_free(memory);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ends_a_circle),
		cmocka_unit_test(counts_what_is_fetched_again),
		cmocka_unit_test(a_short_one_is_short),
		cmocka_unit_test(a_stand_reads_ahead),
		cmocka_unit_test(a_stand_forgets_what_is_gone),
		cmocka_unit_test(a_run_ends_where_memory_does),
	};

	return cmocka_run_group_tests_name("memory", tests, NULL, NULL);
}
