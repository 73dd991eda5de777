/*
 * signals: what /proc says of a thread's signals, and which of them a stopped
 * process is resumed for.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "backends/linux/procfs.h"
#include "banned.h"
#include "base/array.h"
#include "base/buffer.h"

#define BIT(number) (UINT64_C(1) << ((number) - 1))

static void a_status_is_read(void **state)
{
	struct pending_signals signals;

	(void)state;
	pending_signals_parse(&signals, "Name:\tSigPnd: 7\nSigQ:\t1/2\n"
					"SigPnd:\t0000000000000200\n"
					"ShdPnd:\t0000000000004000\n"
					"SigBlk:\t8000000000000000\n"
					"SigIgn:\t0000000001001000\n"
					"SigCgt:\t0000000000004002\n");
	assert_int_equal(signals.pending, BIT(SIGUSR1));
	assert_int_equal(signals.shared, BIT(SIGTERM));
	assert_int_equal(signals.blocked, BIT(64));
	assert_int_equal(signals.ignored, BIT(SIGPIPE) | BIT(SIGXFSZ));
	assert_int_equal(signals.caught, BIT(SIGTERM) | BIT(SIGINT));
	pending_signals_parse(&signals, "Name:\tx\nSigPnd:");
	assert_int_equal(signals.pending, 0);
	pending_signals_parse(&signals, "");
	assert_int_equal(signals.caught, 0);
}

static void those_that_are_handled_or_end_it_count(void **state)
{
	static const struct {
		int number;
		bool is_caught;
		bool is_ignored;
		bool counts;
	} rows[] = {
		{ SIGTERM, true, false, true },
		{ SIGTERM, false, false, true },
		{ SIGTERM, false, true, false },
		{ SIGHUP, false, false, true },
		{ SIGUSR1, true, false, true },
		{ SIGALRM, false, true, false },
		{ SIGXCPU, false, false, true },
		{ 40, false, false, true },
		{ 64, true, false, true },
		/* To stop is no end, but a handler may write a checkpoint. */
		{ SIGTSTP, false, false, false },
		{ SIGTSTP, true, false, true },
		{ SIGSTOP, false, false, false },
		/* Nothing is lost where their handlers wait. */
		{ SIGCHLD, true, false, false },
		{ SIGCHLD, false, false, false },
		{ SIGCONT, true, false, false },
		{ SIGWINCH, true, false, false },
		{ SIGURG, false, false, false },
		/* Watches make use of it. */
		{ SIGTRAP, false, true, false },
		{ SIGTRAP, false, false, false },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		uint64_t bit = BIT(rows[i].number);
		struct pending_signals signals = {
			.caught = rows[i].is_caught ? bit : 0,
			.ignored = rows[i].is_ignored ? bit : 0,
		};

		assert_int_equal(pending_signals_that_count(&signals, bit),
				 rows[i].counts ? bit : 0);
		assert_int_equal(pending_signals_that_count(&signals, 0), 0);
	}
}

static void they_are_named(void **state)
{
	struct buffer out = BUFFER_INIT;

	(void)state;
	pending_signals_append(&out, BIT(SIGTERM) | BIT(SIGUSR1) | BIT(64));
	assert_string_equal(out.data, "SIGUSR1, SIGTERM, signal 64");
	buffer_clear(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_status_is_read),
		cmocka_unit_test(those_that_are_handled_or_end_it_count),
		cmocka_unit_test(they_are_named),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
