/*
 * replay-time: times in a recording as people write them, for --at and the command time.
 */
#ifndef ENGINE_REPLAY_TIME_H
#define ENGINE_REPLAY_TIME_H

#include <stdbool.h>

struct replay;

enum replay_time_kind {
	REPLAY_TIME_FIRST,   /* "first" */
	REPLAY_TIME_LAST,    /* "last" */
	REPLAY_TIME_LATER,   /* "+10s": that long after the present time */
	REPLAY_TIME_EARLIER, /* "-1m": that long before it */
	REPLAY_TIME_ELAPSED, /* "90", "1:30": since the recording's first line */
	/* "3:12:09": of the clock, or, if that time was not recorded, elapsed */
	REPLAY_TIME_CLOCK,
	REPLAY_TIME_DATE, /* "2026-11-24 03:12:09", also with T */
};

/* The forms, for messages and help. */
#define REPLAY_TIME_FORMS                                                                          \
	"first or last, +10s or -1m, 90 or 1:30 (of the recording), 03:12:09, 2026-11-24 "         \
	"03:12:09 "                                                                                \
	"(of the clock; with UTC behind it, in UTC)"

struct replay_time {
	enum replay_time_kind kind;
	/* Seconds; of REPLAY_TIME_CLOCK since midnight, of REPLAY_TIME_DATE since 1970. */
	double seconds;
	bool is_utc; /* a clock's time is in UTC; else it is in the local time zone */
};

/*
 * Parses one of the forms; a clock's time may have a fraction, and "UTC" or "Z" behind it. Returns
 * 0, or -1.
 */
int replay_time_parse(struct replay_time *time, const char *text);
/*
 * Returns the session time, which may be outside the recording; now: the present session time. NaN:
 * the clock's time was not recorded.
 */
double replay_time_find(const struct replay_time *time, const struct replay *replay, double now);

#endif
