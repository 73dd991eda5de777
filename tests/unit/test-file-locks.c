/* Who holds the lock of a file that a process waits for, as lines of /proc/locks say. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "backends/linux/file-locks.h"
#include "banned.h"
#include "base/array.h"

static const char lines[] = "1: FLOCK  ADVISORY  WRITE 100 fe:00:2149124 0 EOF\n"
			    "1: -> FLOCK  ADVISORY  WRITE 101 fe:00:2149124 0 EOF\n"
			    "1:  -> FLOCK  ADVISORY  WRITE 102 fe:00:2149124 0 EOF\n"
			    "2: POSIX  ADVISORY  WRITE 200 fe:00:77 0 9\n"
			    "2: -> POSIX  ADVISORY  WRITE 201 fe:00:77 0 9\n"
			    "3: OFDLCK ADVISORY  WRITE -1 fe:00:78 0 EOF\n"
			    "3: -> OFDLCK ADVISORY  WRITE 301 fe:00:78 0 EOF\n"
			    "4: LEASE  ACTIVE    READ  400 fe:00:79 0 EOF\n"
			    "no line of a lock\n"
			    "5: POSIX  ADVISORY  READ 500 fe:00:80 0 EOF\n"
			    "5: -> POSIX  ADVISORY  WRITE 500 fe:00:80 0 EOF\n";

static pid_t find(pid_t waiter)
{
	FILE *file = fmemopen((void *)(uintptr_t)lines, strlen(lines), "r");
	pid_t holder;

	assert_non_null(file);
	holder = file_locks_find(file, waiter);
	fclose(file);
	return holder;
}

static void holders_are_found(void **state)
{
	static const struct {
		pid_t waiter, holder;
	} cases[] = {
		{ 101, 100 }, { 102, 100 }, /* one that waits behind another one */
		{ 201, 200 }, { 301, 0 },   /* of an open file, no process */
		{ 100, 0 },   { 400, 0 },   { 500, 0 }, { 999, 0 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LENGTH(cases); i++)
		assert_int_equal(find(cases[i].waiter), cases[i].holder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(holders_are_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
