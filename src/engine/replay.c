#include "engine/replay.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "banned.h"
#include "base/alloc.h"
#include "base/buffer.h"
#include "base/error.h"
#include "base/json.h"
#include "base/log.h"
#include "base/loop.h"
#include "base/map.h"
#include "engine/engine.h"
#include "engine/recording.h"
#include "engine/replay-time.h"
#include "model/job.h"
#include "model/rank-filter.h"

/* A wall clock above this maximum, in seconds since 1970, is ignored. */
#define WALL_MAXIMUM 1e11

struct part {
	struct recording *recording;
	double shift; /* session time minus the recording's time */
	struct recording_cursor cursor;
	struct changes *changes; /* NULL: not searched yet */
};

struct replay {
	struct part *parts;
	size_t count;
	double wall; /* wall clock at session time 0; -1: not known */
};

static double replay_first_of(const struct part *part)
{
	return recording_first(part->recording) + part->shift;
}

static bool has_wall(const struct recording *recording)
{
	return recording->wall > 0 && recording->wall < WALL_MAXIMUM;
}

/* Session time 0 is the earliest time 0 of the recordings with a wall clock. */
static void align(struct replay *replay)
{
	double first = INFINITY;

	replay->wall = -1;
	for (size_t i = 0; i < replay->count; i++) {
		const struct recording *recording = replay->parts[i].recording;

		if (has_wall(recording) && (replay->wall < 0 || recording->wall < replay->wall))
			replay->wall = recording->wall;
	}
	for (size_t i = 0; i < replay->count; i++) {
		struct part *part = &replay->parts[i];

		if (!has_wall(part->recording))
			continue;
		part->shift = part->recording->wall - replay->wall;
		first = fmin(first, replay_first_of(part));
	}
	for (size_t i = 0; i < replay->count; i++) {
		struct part *part = &replay->parts[i];

		if (!has_wall(part->recording) && isfinite(first) &&
		    first > recording_first(part->recording))
			part->shift = first - recording_first(part->recording);
	}
}

static struct replay *replay_make(size_t count)
{
	struct replay *replay = xcalloc(1, sizeof(*replay));

	replay->parts = xcalloc(count, sizeof(*replay->parts));
	return replay;
}

/*
 * Adds a recording and returns replay. If owned_recording is NULL, frees replay and returns NULL.
 */
static struct replay *replay_add(struct replay *replay, struct recording *owned_recording)
{
	struct part *part;

	if (!owned_recording) {
		replay_free(replay);
		return NULL;
	}
	part = &replay->parts[replay->count++];
	part->recording = owned_recording;
	recording_cursor_init(&part->cursor, part->recording);
	return replay;
}

struct replay *replay_new(char *const *paths, size_t count, struct error *error)
{
	struct replay *replay = replay_make(count);
	struct recording_budget budget;

	recording_budget_init(&budget);
	for (size_t i = 0; i < count && replay; i++)
		replay = replay_add(replay, recording_new(paths[i], &budget, error));
	if (replay)
		align(replay);
	return replay;
}

struct replay *replay_new_bytes(const char *name, const void *bytes, size_t length,
				struct error *error)
{
	struct recording_budget budget;
	struct replay *replay;

	recording_budget_init(&budget);
	replay = replay_add(replay_make(1),
			    recording_new_bytes(name, bytes, length, &budget, error));
	if (replay)
		align(replay);
	return replay;
}

void replay_free(struct replay *replay)
{
	if (!replay)
		return;
	for (size_t i = 0; i < replay->count; i++) {
		changes_free(replay->parts[i].changes);
		recording_cursor_clear(&replay->parts[i].cursor);
		recording_free(replay->parts[i].recording);
	}
	free(replay->parts);
	free(replay);
}

size_t replay_count(const struct replay *replay)
{
	return replay->count;
}

const char *replay_path(const struct replay *replay, size_t node)
{
	return replay->parts[node].recording->path;
}

/*
 * Returns the recording with the earliest next line, or NULL if there is none. Sets *result to -1
 * if a recording is damaged, else to 0.
 */
static struct part *next_part(struct replay *replay, double *time, int *result, struct error *error)
{
	struct part *next = NULL;

	*result = 0;
	for (size_t i = 0; i < replay->count; i++) {
		struct part *part = &replay->parts[i];
		double at;
		int has = recording_cursor_time(&part->cursor, &at, error);

		if (has < 0) {
			*result = -1;
			return NULL;
		}
		if (has == 0 || (next && at + part->shift >= *time))
			continue;
		next = part;
		*time = at + part->shift;
	}
	return next;
}

int replay_next(struct replay *replay, double until, struct replay_line *line, struct error *error)
{
	int result;
	struct part *part = next_part(replay, &line->time, &result, error);

	if (!part || line->time > until)
		return result;
	line->node = (size_t)(part - replay->parts);
	line->is_behind_damage = part->cursor.has_skipped;
	return recording_cursor_next(&part->cursor, &line->message, error);
}

/* Moves to the last segment at or before time that can be read; else, to the first such segment. */
static void seek_part(struct part *part, double time)
{
	const struct recording *recording = part->recording;
	size_t segment = recording_find_segment(recording, time - part->shift);
	double first;

	/* The difference may be rounded to the segment before. */
	if (segment + 1 < recording->segment_count &&
	    recording->segments[segment + 1].is.first + part->shift <= time)
		segment++;
	for (;; segment--) {
		if (recording->segments[segment].damage && segment > 0)
			continue;
		recording_cursor_go(&part->cursor, segment);
		if (recording_cursor_time(&part->cursor, &first, NULL) > 0 &&
		    part->cursor.segment == segment)
			return;
		if (segment == 0)
			return;
	}
}

void replay_seek(struct replay *replay, double time)
{
	for (size_t i = 0; i < replay->count; i++) {
		struct part *part = &replay->parts[i];

		seek_part(part, time);
	}
}

const char *replay_damage(const struct replay *replay, double time)
{
	for (size_t i = 0; i < replay->count; i++) {
		const struct part *part = &replay->parts[i];
		const char *damage = recording_damage(part->recording, time - part->shift);

		if (damage)
			return damage;
	}
	return NULL;
}

bool replay_is_far(const struct replay *replay, double time)
{
	for (size_t i = 0; i < replay->count; i++) {
		const struct part *part = &replay->parts[i];

		if (recording_find_segment(part->recording, time - part->shift) >
		    part->cursor.segment)
			return true;
	}
	return false;
}

double replay_first_time(const struct replay *replay)
{
	double first = INFINITY;

	for (size_t i = 0; i < replay->count; i++)
		first = fmin(first, replay_first_of(&replay->parts[i]));
	return first;
}

double replay_end_time(const struct replay *replay)
{
	double last = 0;

	for (size_t i = 0; i < replay->count; i++)
		last = fmax(last,
			    recording_last(replay->parts[i].recording) + replay->parts[i].shift);
	return last;
}

double replay_wall(const struct replay *replay)
{
	return replay->wall;
}

const char *replay_cut_path(const struct replay *replay)
{
	for (size_t i = 0; i < replay->count; i++) {
		if (replay->parts[i].recording->is_cut)
			return replay->parts[i].recording->path;
	}
	return NULL;
}

static void each_of(const struct replay *replay, size_t node, const struct replay_search *search)
{
	const struct part *part = &replay->parts[node];
	struct replay_line line = { .node = node };
	struct recording_cursor cursor;

	recording_cursor_init(&cursor, part->recording);
	for (size_t i = 0; i < part->recording->segment_count; i++) {
		if (!(part->recording->segments[i].is.flags & search->flag))
			continue;
		recording_cursor_go(&cursor, i);
		while (recording_cursor_find(&cursor, search->command, &line.message, NULL) > 0) {
			line.time = line.message.time + part->shift;
			search->each(&line, search->data);
			message_clear(&line.message);
		}
	}
	recording_cursor_clear(&cursor);
}

void replay_each(const struct replay *replay, const struct replay_search *search)
{
	for (size_t i = 0; i < replay->count; i++)
		each_of(replay, i, search);
}

double replay_find_change(struct replay *replay, double time, bool is_forward)
{
	double nearest = -1;

	for (size_t i = 0; i < replay->count; i++) {
		struct part *part = &replay->parts[i];
		double found;

		if (!part->changes)
			part->changes = changes_new(part->recording);
		found = changes_find(part->changes, time - part->shift, is_forward);
		if (found < 0)
			continue;
		found += part->shift;
		if (nearest < 0 || (found < nearest) == is_forward)
			nearest = found;
	}
	return nearest;
}

/*
 * In a replay, recordings feed the session. For a shell command they are applied up to the time of
 * --at, or to the end; on the screen they play at the speed of recording. Seeking backward, or far
 * forward, makes a new session from the last snapshots before the time.
 */

/*
 * Period of the display's update: durations on the screen have a resolution of tenths of a second.
 */
#define TICK_SECONDS 0.1

/*
 * Applies the options --job, --ranks and --pid of the recorded command, unless this command line
 * has its own.
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

/*
 * Logs which data the recording lacks, and what ended it; otherwise missing data would look like a
 * fault of the job.
 */
static void warn_of_end(const struct engine *engine)
{
	const char *path = replay_cut_path(engine->replay);

	if (!engine->session.is_discovered)
		log_write(LOG_WARNING,
			  "at this time of the recording %s not all ranks were found yet",
			  replay_path(engine->replay, 0));
	else if (path)
		log_write(
			LOG_WARNING,
			"the recording %s is incomplete: its end is missing, as when probetui was "
			"killed while it recorded, or when the file was cut",
			path);
	for (size_t i = 0; i < engine->session.node_count; i++) {
		const char *signal = engine->session.nodes[i].recording_end;

		if (signal)
			log_write(LOG_WARNING, "the recording %s was ended by %s",
				  replay_path(engine->replay, i), signal);
	}
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
		log_write(LOG_WARNING,
			  "several recordings have rank%s %s: only one of them is shown",
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
 * Resets the session to the state before the first line. Keeps the user's choices, and the source
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

/*
 * Applies the lines up to time until. Where the recording is damaged, the session is that of the
 * last time before that can be read.
 */
static void apply_until(struct engine *engine, double until)
{
	struct replay_line line;
	bool has_sought = false;
	int got;

	while ((got = replay_next(engine->replay, until, &line, NULL)) != 0) {
		if (got < 0)
			continue;
		if (line.is_behind_damage && !has_sought) {
			begin_again(engine);
			replay_seek(engine->replay, until);
			has_sought = true;
		} else {
			replay_run_apply_line(engine, &line);
		}
		message_clear(&line.message);
	}
}

/* Like apply_until(); logs damage at the time, once. */
static void play_until(struct engine *engine, double until)
{
	const char *damage;

	apply_until(engine, until);
	damage = replay_damage(engine->replay, until);
	if (damage && damage != engine->playback.damage)
		log_write(LOG_ERROR, "%s; what follows is the last state before the damage",
			  damage);
	engine->playback.damage = damage;
}

bool engine_replays_partly(const struct engine *engine)
{
	return engine->replay && (engine->playback.damage ||
				  (replay_cut_path(engine->replay) &&
				   engine->session.now >= replay_end_time(engine->replay)));
}

static void on_tick(void *data);

/* The timer runs only while the replay plays: not while it is paused or at its end. */
static void set_ticks(struct engine *engine)
{
	bool moves = engine->playback.is_played && !engine->playback.is_paused &&
		     engine->session.now < replay_end_time(engine->replay);

	if (moves && !engine->playback.timer)
		engine->playback.timer =
			loop_timer(engine->loop, TICK_SECONDS, TICK_SECONDS, on_tick, engine);
	if (moves || !engine->playback.timer)
		return;
	loop_timer_stop(engine->playback.timer);
	engine->playback.timer = NULL;
}

static void on_tick(void *data)
{
	struct engine *engine = data;
	double now = loop_now() + engine->playback.offset;
	double end = replay_end_time(engine->replay);

	play_until(engine, now);
	engine->session.now = now < end ? now : end;
	engine->session.revision++;
	set_ticks(engine);
	engine_settle(engine);
}

void engine_hold(struct engine *engine, bool is_held)
{
	engine->playback.is_paused = is_held;
	engine->playback.offset = engine->session.now - loop_now();
	set_ticks(engine);
}

/* Brings the session to the given time. */
static void replay_run_go_to(struct engine *engine, double time)
{
	bool is_back = time < engine->session.now;

	if (is_back || replay_is_far(engine->replay, time)) {
		begin_again(engine);
		replay_seek(engine->replay, time);
	}
	play_until(engine, time);
	engine->session.now = time;
	engine->playback.offset = time - loop_now();
	engine->session.revision++;
	set_ticks(engine);
}

void engine_seek(struct engine *engine, double time)
{
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
	replay_run_go_to(engine, time);
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

/* Appends the date and time of day at a session time, in the local time zone. */
static void append_clock(struct buffer *out, const struct replay *replay, double time)
{
	time_t seconds = (time_t)(replay_wall(replay) + time);
	struct tm parts;
	char text[48];

	if (!localtime_r(&seconds, &parts))
		return;
	strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S (%Z)", &parts);
	buffer_append_string(out, text);
}

/* Appends "0.9 s long, from 2026-11-24 18:27:19 (CET) to 2026-11-24 18:27:20 (CET)". */
static void append_range(struct buffer *out, const struct replay *replay)
{
	double first = replay_first_time(replay);
	double end = replay_end_time(replay);

	buffer_printf(out, "%.1f s long", end - first);
	if (replay_wall(replay) < 0)
		return;
	buffer_append_string(out, ", from ");
	append_clock(out, replay, first);
	buffer_append_string(out, " to ");
	append_clock(out, replay, end);
}

/* Sets *at to the session time of --at; to `otherwise` if it was not given. */
static int find_at(const struct engine *engine, double otherwise, double *at, struct error *error)
{
	const struct replay *replay = engine->replay;
	const char *text = engine->settings.at;
	double first = replay_first_time(replay);
	double end = replay_end_time(replay);
	struct buffer range = BUFFER_INIT;
	struct replay_time time;

	*at = otherwise;
	if (!text || replay_time_parse(&time, text) < 0)
		return 0;
	*at = replay_time_find(&time, replay, time.kind == REPLAY_TIME_LATER ? first : end);
	if (*at >= first && *at <= end)
		return 0;
	append_range(&range, replay);
	error_set(error, "--at %.40s is not in the recording, which is %s", text, range.data);
	buffer_clear(&range);
	return -1;
}

int engine_play(struct engine *engine, struct error *error)
{
	const struct settings *settings = &engine->settings;
	const struct replay_search sources = {
		.command = "source",
		.flag = RECORDING_SEGMENT_SOURCES,
		.each = replay_run_apply_source,
		.data = engine,
	};
	double first;
	double end;
	double at;

	engine->replay = replay_new(settings->replays, settings->replay_count, error);
	if (!engine->replay)
		return -1;
	if (!engine->loop)
		engine->loop = loop_new();
	add_nodes(engine);
	first = replay_first_time(engine->replay);
	end = replay_end_time(engine->replay);
	if (find_at(engine, engine->is_screen ? first : end, &at, error) < 0)
		return -1;
	if (engine->is_screen)
		replay_each(engine->replay, &sources);
	replay_run_go_to(engine, engine->is_screen ? end : at);
	/* On a screen: independently of the time that is shown. */
	warn_of_end(engine);
	warn_of_twice(engine);
	if (!engine->is_screen)
		return 0;
	engine_seek(engine, at);
	engine->playback.is_played = true;
	set_ticks(engine);
	return 0;
}

struct finding {
	const struct engine *engine;
	const struct rank *rank;
	const struct replay_answers *recalled;
	json_t *body; /* the newest matching answer so far; NULL: none */
};

/*
 * True if the recorded request is that of a comparison: with a hash, and without slices, searches
 * or raw data. Answers to requests of a tensor pane or a watch, or of element comparisons, have
 * other contents.
 */
static bool replay_answers_is_whole(const json_t *asked)
{
	return json_get_boolean(asked, "hash", false) && !json_object_get(asked, "slice") &&
	       !json_object_get(asked, "find") && !json_object_get(asked, "data") &&
	       !json_object_get(asked, "blocks");
}

static void replay_answers_note(const struct replay_line *line, void *data)
{
	struct finding *finding = data;
	const struct replay_answers *recalled = finding->recalled;
	const json_t *body = line->message.body;
	const json_t *asked = json_object_get(body, "asked");
	const char *expression = json_get_string(asked, "expression", "");

	if (line->node != finding->rank->node || line->time > finding->engine->session.now ||
	    json_get_integer(asked, "pid", 0) != finding->rank->process.pid ||
	    strcmp(expression, recalled->expression) != 0 ||
	    json_get_boolean(asked, "gradients", false) != recalled->is_of_gradients ||
	    json_get_boolean(asked, "values", false) != recalled->has_values ||
	    json_get_integer(asked, "start", 0) != recalled->start ||
	    !replay_answers_is_whole(asked))
		return;
	json_decref(finding->body);
	finding->body = json_incref(line->message.body);
}

json_t *replay_answers_find(const struct engine *engine, const struct rank *rank,
			    const struct replay_answers *recalled, struct error *error)
{
	struct finding finding = {
		.engine = engine,
		.rank = rank,
		.recalled = recalled,
	};
	const struct replay_search search = {
		.command = recalled->command,
		.flag = RECORDING_SEGMENT_VALUES,
		.each = replay_answers_note,
		.data = &finding,
	};

	replay_each(engine->replay, &search);
	if (!finding.body)
		error_set(error, "the recording does not contain the value: record with "
				 "--record-locals");
	return finding.body;
}
