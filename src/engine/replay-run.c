/*
 * replay-run: recordings feed the session. For a shell command they are applied up to the time of
 * --at, or to the end; on the screen they play at the speed of recording. Seeking backward, or far
 * forward, makes a new session from the last snapshots before the time.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "base/alloc.h"
#include "base/buffer.h"
#include "base/error.h"
#include "base/json.h"
#include "base/log.h"
#include "base/loop.h"
#include "base/map.h"
#include "engine/engine.h"
#include "engine/recording-segment.h"
#include "engine/replay.h"
#include "model/job.h"
#include "model/rank-filter.h"

/*
 * Period of the display's update: durations on the screen have a resolution of tenths of a second.
 */
#define TICK_SECONDS 0.1

/*
 * Applies the --job, --ranks and --pid of the recording's own command line, unless this command
 * line has its own.
 */
static void apply_choice(struct engine *engine, const struct replay_line *line)
{
	const struct message *message = &line->message;

	if (message->type == MESSAGE_REQUEST && strcmp(message->name, "discover") == 0)
		rank_filter_recorded(&engine->session, line->node, message->body);
}

static void replay_run_apply_line(struct engine *engine, const struct replay_line *line)
{
	engine->session.now = line->time;
	apply_choice(engine, line);
	engine_apply(engine, line->node, &line->message, line->time);
}

/* -1 and a sentence if a recording is damaged; all lines of the others are applied. */
static int apply_until(struct engine *engine, double until, struct error *error)
{
	struct replay_line line;
	int result = 0;
	int got;

	while ((got = replay_next(engine->replay, until, &line, error)) != 0) {
		if (got < 0) {
			result = -1;
			continue;
		}
		replay_run_apply_line(engine, &line);
		message_clear(&line.message);
	}
	return result;
}

/* Like apply_until(), on a screen: logs an error, and shows the rest of the recording. */
static void play_until(struct engine *engine, double until)
{
	struct error error = ERROR_INIT;

	if (apply_until(engine, until, &error) < 0)
		log_write(LOG_ERROR, "%s", error.message);
}

/* Logs what the recording lacks, which would look like a fault of the job. */
static void warn_of_cut(const struct engine *engine)
{
	const char *path = replay_cut_path(engine->replay);

	if (!engine->session.is_discovered)
		log_write(LOG_WARNING, "the recording %s ends before all ranks were found",
			  replay_path(engine->replay, 0));
	else if (path)
		log_write(LOG_WARNING,
			  "the recording %s ends where its recorder was killed; what came later is "
			  "missing",
			  path);
}

/* Warns of ranks that are in two recordings; the screen shows only one of the two. */
static void warn_of_twice(const struct engine *engine)
{
	const struct session *session = &engine->session;
	struct rankset twice = RANKSET_INIT;
	struct buffer text = BUFFER_INIT;

	for (size_t i = 0; i < session->other_count && session->job >= 0; i++) {
		const struct rank *other = session->others[i];
		const struct rank *shown = session_find_rank(session, other->process.rank);

		if (shown && shown->node != other->node && rank_filter_has(session, other) &&
		    job_has(session, &session->jobs[session->job], other))
			rankset_add(&twice, other->process.rank);
	}
	rankset_append(&text, &twice);
	if (text.length > 0)
		log_write(LOG_WARNING, "more than one recording has rank%s %s; one is shown",
			  rankset_count(&twice) == 1 ? "" : "s", text.data);
	buffer_clear(&text);
	rankset_clear(&twice);
}

static void replay_run_apply_source(const struct replay_line *line, void *data)
{
	struct engine *engine = data;

	engine_apply(engine, line->node, &line->message, line->time);
}

static void add_nodes(struct engine *engine)
{
	engine->session.is_replay = true;
	for (size_t i = 0; i < replay_count(engine->replay); i++)
		session_add_node(&engine->session, "recording");
}

/*
 * Resets the session to the state before the first line; keeps the person's choices, and the source
 * files, which are the same at any time.
 */
static void begin_again(struct engine *engine)
{
	struct session *session = &engine->session;
	struct choice choice = session->choice;
	struct strmap *sources = session->sources;
	uint64_t revision = session->revision;

	session->choice = (struct choice){ .wanted_text = NULL };
	session->sources = NULL;
	session_clear(session);
	session_init(session);
	strmap_free(session->sources);
	session->choice = choice;
	session->sources = sources;
	session->revision = revision + 1;
	add_nodes(engine);
}

static void on_tick(void *data);

/* The timer runs only while the replay plays: not while it is paused or at its end. */
static void set_ticks(struct engine *engine)
{
	bool moves = engine->is_played && !engine->is_held &&
		     engine->session.now < replay_end_time(engine->replay);

	if (moves && !engine->replay_timer)
		engine->replay_timer =
			loop_timer(engine->loop, TICK_SECONDS, TICK_SECONDS, on_tick, engine);
	if (moves || !engine->replay_timer)
		return;
	loop_timer_stop(engine->replay_timer);
	engine->replay_timer = NULL;
}

static void on_tick(void *data)
{
	struct engine *engine = data;
	double now = loop_now() + engine->replay_offset;
	double end = replay_end_time(engine->replay);

	play_until(engine, now);
	engine->session.now = now < end ? now : end;
	engine->session.revision++;
	set_ticks(engine);
	engine_settle(engine);
}

void engine_hold(struct engine *engine, bool is_held)
{
	engine->is_held = is_held;
	engine->replay_offset = engine->session.now - loop_now();
	set_ticks(engine);
}

/* Brings the session to that time; -1 and a sentence as in apply_until(). */
static int replay_run_go_to(struct engine *engine, double time, struct error *error)
{
	bool is_back = time < engine->session.now;
	int result;

	if (is_back || replay_is_far(engine->replay, time)) {
		begin_again(engine);
		replay_seek(engine->replay, time);
	}
	result = apply_until(engine, time, error);
	engine->session.now = time;
	engine->replay_offset = time - loop_now();
	engine->session.revision++;
	set_ticks(engine);
	return result;
}

void engine_seek(struct engine *engine, double time)
{
	struct error error = ERROR_INIT;
	double first;
	double end;

	if (!engine->replay)
		return;
	first = replay_first_time(engine->replay);
	end = replay_end_time(engine->replay);
	if (!(time >= first))
		time = first;
	if (time > end)
		time = end;
	if (replay_run_go_to(engine, time, &error) < 0)
		log_write(LOG_ERROR, "%s", error.message);
	engine_settle(engine);
}

bool engine_seek_change(struct engine *engine, int count)
{
	double time = engine->session.now;
	double found = -1;

	for (int i = 0; i < abs(count); i++) {
		double next = replay_find_change(engine->replay, time, count > 0);

		if (next < 0)
			break;
		found = next;
		time = next;
	}
	if (found < 0)
		return false;
	engine_seek(engine, found);
	return true;
}

/* A shell command shows the time of --at, or the end. */
static int apply_for_shell(struct engine *engine, struct error *error)
{
	double first = replay_first_time(engine->replay);
	double end = replay_end_time(engine->replay);
	double at = engine->settings.at;

	if (at >= 0 && first + at > end)
		return error_set(error, "--at %g is behind the end: the recording is %g s long", at,
				 end - first);
	if (replay_run_go_to(engine, at >= 0 ? first + at : end, error) < 0)
		return -1;
	warn_of_cut(engine);
	warn_of_twice(engine);
	return 0;
}

int engine_play(struct engine *engine, struct error *error)
{
	const struct settings *settings = &engine->settings;
	double at = settings->at >= 0 ? settings->at : 0;
	const struct replay_search sources = {
		.command = "source",
		.flag = RECORDING_SEGMENT_SOURCES,
		.each = replay_run_apply_source,
		.data = engine,
	};

	engine->replay = replay_new(settings->replays, settings->replay_count, error);
	if (!engine->replay)
		return -1;
	if (!engine->loop)
		engine->loop = loop_new();
	add_nodes(engine);
	if (!engine->is_screen)
		return apply_for_shell(engine, error);
	if (replay_each(engine->replay, &sources, error) < 0 ||
	    replay_run_go_to(engine, replay_end_time(engine->replay), error) < 0)
		return -1;
	/* Report damage and missing data once, whatever time is shown. */
	warn_of_cut(engine);
	warn_of_twice(engine);
	engine_seek(engine, replay_first_time(engine->replay) + at);
	engine->is_played = true;
	set_ticks(engine);
	return 0;
}
