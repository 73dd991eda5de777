/*
 * commands-time: moving through a recording, freezing the display or the playback, and recording.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "base/buffer.h"
#include "base/error.h"
#include "base/text.h"
#include "engine/arguments.h"
#include "engine/engine.h"
#include "engine/replay-time.h"
#include "engine/replay.h"
#include "ui/app.h"
#include "ui/commands.h"

#define BOUNDS_SLACK 0.5 /* seconds beyond the recording's end that are not reported */
#define COUNT_MAXIMUM 10000

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
		if (arguments_integer(arguments->words[1], "number of changes", 1, COUNT_MAXIMUM,
				      &count, error) < 0)
			return -1;
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
	struct replay_time time;
	char *word;
	double at;
	int result;

	if (app->engine->replay == NULL)
		return error_set(error, "the command time works only in a recording: open one with "
					"`probetui --replay FILE`");
	if (arguments_direction(arguments) != 0)
		return go_to_change(app, arguments, error);
	/* A date and a time of day are two words. */
	word = arguments_join(arguments, 0, arguments->count);
	result = replay_time_parse(&time, word);
	at = result < 0 ? 0
			: replay_time_find(&time, app->engine->replay, app->engine->session.now);
	if (isnan(at))
		error_set(error, "time %.40s is not in the recording", word);
	free(word);
	if (result < 0)
		return arguments_refuse(arguments, error);
	if (isnan(at))
		return -1;
	engine_seek(app->engine, at);
	stand_still(app);
	say_bounds(app, at);
	return 0;
}

const struct command command_time = {
	.name = "time",
	.alias = "seek",
	.synopsis =
		"next [N] | previous [N] | first | last | +SECONDS | -SECONDS | SECONDS | [DATE] "
		"HH:MM:SS",
	.help = "go to a time or a change in the recording",
	.takes = "next or previous, " REPLAY_TIME_FORMS,
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
