/*
 * commands-time: moving through a recording, freezing the display or the playback, and recording.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "banned.h"
#include "base/buffer.h"
#include "base/error.h"
#include "base/text.h"
#include "engine/arguments.h"
#include "engine/engine.h"
#include "engine/replay.h"
#include "ui/app.h"
#include "ui/commands.h"

#define BOUNDS_SLACK 0.5 /* seconds beyond the recording's end that are not reported */
#define COUNT_MAXIMUM 10000
#define SECONDS_MAXIMUM 1e9
#define DAY_SECONDS 86400.0

/* Parses a duration ("10", "10s", "1.5m", "2h") into seconds. Returns -1 if the text is not a
 * duration. */
static double parse_duration(const char *text)
{
	double seconds = text_seconds(text);

	return seconds >= 0 && seconds <= SECONDS_MAXIMUM ? seconds : -1;
}

/* Parses "1:30" or "3:12:09" into seconds and counts the colons. Returns -1 if the text is not such
 * a time. */
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
			return seconds;
		if (*end != ':' || ++*colons > 2)
			return -1;
		text = end + 1;
	}
}

/* Returns the session time at the local time of day of_day (seconds since midnight); -1 if that
 * time was not recorded. */
static double find_clock(const struct replay *replay, double of_day)
{
	double wall = replay_wall(replay);
	double begun = wall + replay_first_time(replay);
	time_t seconds = (time_t)begun;
	struct tm parts;
	double at;

	if (wall < 0 || !localtime_r(&seconds, &parts))
		return -1;
	at = begun - fmod(begun, 1) - (parts.tm_hour * 3600 + parts.tm_min * 60 + parts.tm_sec) +
	     of_day - wall;
	if (at < replay_first_time(replay) - 1)
		at += DAY_SECONDS;
	return at > replay_end_time(replay) ? -1 : at;
}

/* Returns the session time that the first word names, also outside the recording. Returns NAN and
 * sets the error if the word does not name a time. */
static double commands_time_parse_time(const struct engine *engine,
				       const struct arguments *arguments, struct error *error)
{
	const char *word = arguments->words[0];
	const struct replay *replay = engine->replay;
	double first = replay_first_time(replay);
	double seconds = parse_duration(word + (*word == '+' || *word == '-'));
	int colons;
	double clock;

	if (strcmp(word, "first") == 0)
		return first;
	if (strcmp(word, "last") == 0)
		return replay_end_time(replay);
	if (seconds >= 0 && *word == '+')
		return engine->session.now + seconds;
	if (seconds >= 0 && *word == '-')
		return engine->session.now - seconds;
	if (seconds >= 0)
		return first + seconds;
	seconds = parse_colons(word, &colons);
	clock = colons == 2 ? find_clock(replay, seconds) : -1;
	if (seconds >= 0 && clock >= 0)
		return clock;
	if (seconds >= 0 && first + seconds <= replay_end_time(replay))
		return first + seconds;
	if (seconds >= 0)
		error_set(error, "time %s is not in the recording", word);
	else
		arguments_refuse(arguments, error);
	return NAN;
}

/* Pauses the playback, so that the user can look at the chosen time. */
static void stand_still(struct app *app)
{
	app->view.is_held = true;
	engine_hold(app->engine, true);
}

/* If time is outside the recording, says where the recording ends or begins. */
static void say_bounds(struct app *app, double time)
{
	const struct replay *replay = app->engine->replay;
	double first = replay_first_time(replay);
	double last = replay_end_time(replay);
	struct buffer text = BUFFER_INIT;

	if (time > last + BOUNDS_SLACK) {
		buffer_append_string(&text, "the recording ends at ");
		buffer_printf(&text, "%ld:%02ld", (long)(last - first) / 60,
			      (long)(last - first) % 60);
		view_say(&app->view, false, text.data);
	} else if (time < first - BOUNDS_SLACK) {
		view_say(&app->view, false, "the recording begins here");
	}
	buffer_clear(&text);
}

static int go_to_change(struct app *app, const struct arguments *arguments, struct error *error)
{
	bool is_next = arguments_is(arguments, "next");
	int count = 1;

	if (arguments->count == 2) {
		double number = parse_duration(arguments->words[1]);

		if (!(number >= 1) || number > COUNT_MAXIMUM)
			return arguments_refuse(arguments, error);
		count = (int)number;
	}
	if (!engine_seek_change(app->engine, is_next ? count : -count))
		return error_set(error, "no change %s the shown time in the recording",
				 is_next ? "after" : "before");
	stand_still(app);
	return 0;
}

static int time_run(struct command_context *context, const struct arguments *arguments,
		    struct error *error)
{
	struct app *app = command_app(context);
	double time;

	if (app->engine->replay == NULL)
		return error_set(error, "the command time works only in a recording: open one with "
					"`probetui --replay FILE`");
	if (arguments_direction(arguments) != 0)
		return go_to_change(app, arguments, error);
	if (arguments->count != 1)
		return arguments_refuse(arguments, error);
	time = commands_time_parse_time(app->engine, arguments, error);
	if (isnan(time))
		return -1;
	engine_seek(app->engine, time);
	stand_still(app);
	say_bounds(app, time);
	return 0;
}

const struct command command_time = {
	.name = "time",
	.alias = "seek",
	.synopsis =
		"next [N] | previous [N] | first | last | +SECONDS | -SECONDS | SECONDS | HH:MM:SS",
	.help = "go to a time or a change in the recording",
	.takes = "next or previous, first or last, +10s or -1m, 90 or 1:30 (of the recording), or "
		 "03:12:09 (of the clock)",
	.flags = COMMAND_SCREEN,
	.run = time_run,
};

static int hold_run(struct command_context *context, const struct arguments *arguments,
		    struct error *error)
{
	struct app *app = command_app(context);
	bool is_held = !app->view.is_held;

	(void)arguments;
	(void)error;
	app->view.is_held = is_held;
	if (app->engine->replay != NULL)
		engine_hold(app->engine, is_held);
	else
		engine_sample_every(app->engine, is_held ? 0 : app->period);
	return 0;
}

const struct command command_hold = {
	.name = "hold",
	.synopsis = "",
	.help = "freeze the display (stop sampling) or resume it; in a recording: freeze or resume "
		"the replay",
	.flags = COMMAND_SCREEN,
	.run = hold_run,
};

static int record_run(struct command_context *context, const struct arguments *arguments,
		      struct error *error)
{
	struct app *app = command_app(context);
	const char *path = engine_record_path(app->engine);
	struct buffer text = BUFFER_INIT;

	if (arguments->count == 0 && path == NULL)
		return error_set(error, "probetui is not recording: use `:record FILE`");
	if (arguments->count == 1 && engine_record(app->engine, arguments->words[0], error) < 0)
		return -1;
	buffer_append_string(&text, arguments->count == 1 ? "recording to "
							  : "recording stopped, saved in ");
	path = arguments->count == 1 ? arguments->words[0] : path;
	text_escape(&text, path, strlen(path));
	if (arguments->count == 0)
		engine_record_stop(app->engine);
	view_say(&app->view, false, text.data);
	buffer_clear(&text);
	return 0;
}

const struct command command_record = {
	.name = "record",
	.synopsis = "[FILE]",
	.help = "record the job to a new file; without FILE: stop recording",
	.takes = "a file, or nothing to stop recording",
	.flags = COMMAND_SCREEN,
	.run = record_run,
};
