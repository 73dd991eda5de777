/* replay-time: each form of a time, and what is none. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <cmocka.h>

#include "banned.h"
#include "base/array.h"
#include "base/error.h"
#include "engine/replay-time.h"
#include "engine/replay.h"

/* From 23:59:00 on 2026-11-24, UTC, for two minutes; its first line has the time 5. */
#define WALL 1795564735.0
#define NOW 65.0

static const char lines[] =
	"{\"time\":5,\"seq\":0,\"type\":\"event\",\"event\":\"snapshot\",\"body\":{\"host\":\"a\","
	"\"wall\":1795564740}}\n"
	"{\"time\":125,\"seq\":1,\"type\":\"event\",\"event\":\"x\",\"body\":{}}\n";

static void each_form_is_found(void **state)
{
	static const struct {
		const char *text;
		double at;
	} cases[] = {
		{ "first", 5 },
		{ "last", 125 },
		{ "+10s", NOW + 10 },
		{ "+1m", NOW + 60 },
		{ "-30", NOW - 30 },
		{ "-2h", NOW - 7200 },
		{ "0", 5 },
		{ "90", 95 },
		{ "1.5m", 95 },
		{ "1:30", 95 },
		{ "0:01:30", 95 }, /* not a time of this clock */
		{ "23:59:10", 15 },
		{ "00:00:30", 95 }, /* the day after */
		{ "2026-11-24 23:59:10", 15 },
		{ "2026-11-25T00:00:30", 95 },
		{ "23:59:10.5", 15.5 },
		{ "23:59:10.250 UTC", 15.25 },
		{ "00:00:30Z", 95 },
		{ "2026-11-24 23:59:10 UTC", 15 },
		{ "24:00:00", 5 + 86400 }, /* of the recording */
		{ "12:00:00", NAN },
		{ "2026-11-23 23:59:10", NAN },
		{ "2027-11-24 23:59:10", NAN },
	};
	struct error error = ERROR_INIT;
	struct replay *replay = replay_new_bytes("lines", lines, sizeof(lines) - 1, &error);

	(void)state;
	assert_string_equal(error.message, "");
	assert_true(replay_wall(replay) == WALL);
	for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
		struct replay_time time;
		double at;

		assert_int_equal(replay_time_parse(&time, cases[i].text), 0);
		at = replay_time_find(&time, replay, NOW);
		if (isnan(cases[i].at) ? !isnan(at) : fabs(at - cases[i].at) > 1e-6)
			fail_msg("%s is at %g, not at %g", cases[i].text, at, cases[i].at);
	}
	replay_free(replay);
}

static void what_is_no_time_is_refused(void **state)
{
	static const char *const texts[] = {
		"",    "soon", "+",	  "-",		"+first",	    "1:",
		":1",  "1:60", "1:2:3:4", "-1:30",	"10 apples",	    "nan",
		"inf", "1e99", "2026-11", "2026-11-24", "2026-11-24 12:00", "1:30 UTC",
		"UTC", "Z",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LENGTH(texts); i++) {
		struct replay_time time;

		if (replay_time_parse(&time, texts[i]) == 0)
			fail_msg("'%s' is taken for a time", texts[i]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_form_is_found),
		cmocka_unit_test(what_is_no_time_is_refused),
	};

	setenv("TZ", "UTC", 1);
	tzset();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
