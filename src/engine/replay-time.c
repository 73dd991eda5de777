#include "engine/replay-time.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "banned.h"
#include "base/alloc.h"
#include "base/array.h"
#include "base/text.h"
#include "engine/replay.h"

#define SECONDS_MAXIMUM 1e9
#define DAY_SECONDS 86400.0
/* A clock's time is given without fractions: it may be so much before the first line's. */
#define CLOCK_SECONDS 1.0

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

/* Removes "UTC" or "Z", with blanks before it, from the end; returns true if it was there. */
static bool take_utc(char *text)
{
	static const char *const names[] = { "UTC", "Z" };
	size_t length = strlen(text);

	for (size_t i = 0; i < ARRAY_LENGTH(names); i++) {
		size_t size = strlen(names[i]);

		if (length <= size || strcmp(text + length - size, names[i]) != 0)
			continue;
		for (length -= size; length > 0 && text[length - 1] == ' '; length--)
			;
		text[length] = '\0';
		return true;
	}
	return false;
}

/* Removes a fraction of a second, ".123", from the end; returns it. */
static double take_fraction(char *text)
{
	char *dot = strrchr(text, '.');

	if (!dot || dot[1] == '\0' || dot[1 + strspn(dot + 1, "0123456789")] != '\0')
		return 0;
	*dot = '\0';
	return strtod(dot + 1, NULL) / pow(10, (double)strlen(dot + 1));
}

/* Parses a date and time of day into seconds since 1970. Returns -1: it is not one. */
static double parse_date(const char *text, bool is_utc)
{
	struct tm parts = { .tm_isdst = -1 };
	const char *end = strptime(text, "%Y-%m-%d", &parts);

	if (!end || (*end != ' ' && *end != 'T'))
		return -1;
	end = strptime(end + 1, "%H:%M:%S", &parts);
	if (!end || *end != '\0')
		return -1;
	return (double)(is_utc ? timegm(&parts) : mktime(&parts));
}

/* Parses the times of a clock, and those of a recording that have colons. */
static int parse_clock(struct replay_time *time, char *text)
{
	double fraction;
	int colons;

	time->is_utc = take_utc(text);
	fraction = take_fraction(text);
	time->seconds = parse_colons(text, &colons);
	time->kind = REPLAY_TIME_ELAPSED;
	if (time->seconds >= 0 && (colons == 2 || !time->is_utc)) {
		if (colons == 2 && time->seconds < DAY_SECONDS)
			time->kind = REPLAY_TIME_CLOCK;
	} else {
		time->kind = REPLAY_TIME_DATE;
		time->seconds = parse_date(text, time->is_utc);
	}
	time->seconds += time->seconds >= 0 ? fraction : 0;
	return time->seconds >= 0 ? 0 : -1;
}

int replay_time_parse(struct replay_time *time, const char *text)
{
	bool is_signed = *text == '+' || *text == '-';
	double seconds = text_seconds(text + is_signed);
	char *copy;
	int result;

	*time = (struct replay_time){ .kind = REPLAY_TIME_ELAPSED, .seconds = seconds };
	if (is_signed)
		time->kind = *text == '+' ? REPLAY_TIME_LATER : REPLAY_TIME_EARLIER;
	if (seconds >= 0 || is_signed)
		return seconds >= 0 && seconds <= SECONDS_MAXIMUM ? 0 : -1;
	if (strcmp(text, "first") == 0 || strcmp(text, "last") == 0) {
		time->kind = *text == 'f' ? REPLAY_TIME_FIRST : REPLAY_TIME_LAST;
		return 0;
	}
	copy = xstrdup(text);
	result = parse_clock(time, copy);
	free(copy);
	return result;
}

/* Returns at, or the first time if at is so little before it; NaN: it is not in the recording. */
static double within(const struct replay *replay, double at)
{
	double first = replay_first_time(replay);

	if (at < first && at > first - CLOCK_SECONDS)
		at = first;
	return at >= first && at <= replay_end_time(replay) ? at : NAN;
}

/* Returns the first session time at which the clock shows of_day; NaN: it was not recorded. */
static double find_clock(const struct replay *replay, double of_day, bool is_utc)
{
	double wall = replay_wall(replay);
	double begun = wall + replay_first_time(replay);
	time_t seconds = (time_t)begun;
	struct tm parts;
	double at;

	if (wall < 0 || !(is_utc ? gmtime_r(&seconds, &parts) : localtime_r(&seconds, &parts)))
		return NAN;
	at = begun - fmod(begun, 1) - (parts.tm_hour * 3600 + parts.tm_min * 60 + parts.tm_sec) +
	     of_day - wall;
	if (at < replay_first_time(replay) - CLOCK_SECONDS)
		at += DAY_SECONDS;
	return within(replay, at);
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
		at = find_clock(replay, time->seconds, time->is_utc);
		return isnan(at) && elapsed <= replay_end_time(replay) ? elapsed : at;
	case REPLAY_TIME_DATE:
		return replay_wall(replay) < 0
			       ? NAN
			       : within(replay, time->seconds - replay_wall(replay));
	}
	return NAN;
}
