/* waits: what is taken is told, in order, and then it is forgotten. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>
#include <unistd.h>

#include <cmocka.h>

#include "banned.h"

#include "backends/tracer/waits.h"
#include "base/loop.h"

#define TID 7
#define TURNS 1000
#define STATUSES 1000 /* in each; 8 MB in all */
#define ROOM (2 << 20)

static void count(pid_t tid, int status, void *data)
{
	int *told = data;

	assert_int_equal(tid, TID);
	/* They come in their order. */
	assert_int_equal(status, (*told)++ % STATUSES << 8 | 0x7f);
}

static size_t resident(void)
{
	FILE *file = fopen("/proc/self/statm", "r");
	size_t pages = 0;

	assert_non_null(file);
	assert_int_equal(fscanf(file, "%*u %zu", &pages), 1);
	fclose(file);
	return pages * (size_t)sysconf(_SC_PAGESIZE);
}

static void keeps_nothing_of_what_it_told(void **state)
{
	struct loop *loop = loop_new();
	struct waits *waits = waits_new(loop);
	size_t before = resident();
	int told = 0;

	(void)state;
	waits_add(waits, TID, count, &told);
	for (int turn = 0; turn < TURNS; turn++) {
		for (int i = 0; i < STATUSES; i++)
			waits_return(waits, TID, i << 8 | 0x7f);
		assert_int_equal(waits_take(waits), STATUSES);
	}
	assert_int_equal(told, TURNS * STATUSES);
	assert_true(resident() < before + ROOM);
	waits_forget(waits, TID);
	waits_free(waits);
	loop_free(loop);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(keeps_nothing_of_what_it_told),
	};

	return cmocka_run_group_tests_name("waits", tests, NULL, NULL);
}
