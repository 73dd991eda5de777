#include "engine/replay-time.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "banned.h"
#include "base/text.h"
#include "engine/replay.h"

#define SECONDS_MAXIMUM 1e9
#define DAY_SECONDS 86400.0

/* Parses "1:30" or "3:12:09" into seconds and counts the colons. Returns -1: it is neither. */
static double parse_colons(const char *text, int *colons)
{
	double seconds = 0;

	*colons = 0;
	for (;;) {
		char *end;
		long part = strtol(text, &end, 10);

		if (end == text || part < 0 || part > 100000 || (*colons > 0 && part > 59))
			return -1;
		seconds = seconds * 60 + (double)part;
		if (*end == '\0')
			return *colons > 0 ? seconds : -1;
		if (*end != ':' || ++*colons > 2)
			return -1;
		text = end + 1;
	}
}

/* Parses a date and time of day into seconds since 1970. Returns -1: it is not one. */
static double parse_date(const char *text)
{
	struct tm parts = { .tm_isdst = -1 };
	const char *end = strptime(text, "%Y-%m-%d", &parts);

	if (!end || (*end != ' ' && *end != 'T'))
		return -1;
	end = strptime(end + 1, "%H:%M:%S", &parts);
	return end && *end == '\0' ? (double)mktime(&parts) : -1;
}

int replay_time_parse(struct replay_time *time, const char *text)
{
	bool is_signed = *text == '+' || *text == '-';
	double seconds = text_seconds(text + is_signed);
	int colons;

	*time = (struct replay_time){ .kind = REPLAY_TIME_ELAPSED, .seconds = seconds };
	if (is_signed)
		time->kind = *text == '+' ? REPLAY_TIME_LATER : REPLAY_TIME_EARLIER;
	if (seconds >= 0 || is_signed)
		return seconds >= 0 && seconds <= SECONDS_MAXIMUM ? 0 : -1;
	if (strcmp(text, "first") == 0 || strcmp(text, "last") == 0) {
		time->kind = *text == 'f' ? REPLAY_TIME_FIRST : REPLAY_TIME_LAST;
		return 0;
	}
	time->seconds = parse_colons(text, &colons);
	if (time->seconds >= 0) {
		time->kind = colons == 2 ? REPLAY_TIME_CLOCK : REPLAY_TIME_ELAPSED;
		return 0;
	}
	time->kind = REPLAY_TIME_DATE;
	time->seconds = parse_date(text);
	return time->seconds >= 0 ? 0 : -1;
}

/* Returns the first session time at which the clock shows of_day; NaN: it was not recorded. */
static double find_clock(const struct replay *replay, double of_day)
{
	double wall = replay_wall(replay);
	double begun = wall + replay_first_time(replay);
	time_t seconds = (time_t)begun;
	struct tm parts;
	double at;

	if (wall < 0 || !localtime_r(&seconds, &parts))
		return NAN;
	at = begun - fmod(begun, 1) - (parts.tm_hour * 3600 + parts.tm_min * 60 + parts.tm_sec) +
	     of_day - wall;
	/* The time of day is given without fractions: it may lie before the first line's. */
	if (at < replay_first_time(replay) - 1)
		at += DAY_SECONDS;
	return at > replay_end_time(replay) ? NAN : at;
}

double replay_time_find(const struct replay_time *time, const struct replay *replay, double now)
{
	double first = replay_first_time(replay);
	double elapsed = first + time->seconds;
	double at;

	switch (time->kind) {
	case REPLAY_TIME_FIRST:
		return first;
	case REPLAY_TIME_LAST:
		return replay_end_time(replay);
	case REPLAY_TIME_LATER:
		return now + time->seconds;
	case REPLAY_TIME_EARLIER:
		return now - time->seconds;
	case REPLAY_TIME_ELAPSED:
		return elapsed;
	case REPLAY_TIME_CLOCK:
		at = find_clock(replay, time->seconds);
		return isnan(at) && elapsed <= replay_end_time(replay) ? elapsed : at;
	case REPLAY_TIME_DATE:
		at = replay_wall(replay) < 0 ? NAN : time->seconds - replay_wall(replay);
		return at >= first - 1 && at <= replay_end_time(replay) ? at : NAN;
	}
	return NAN;
}
