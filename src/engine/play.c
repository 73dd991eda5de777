/*
 * play: a recording feeds the session. For a shell it is applied to its end;
 * on the screen it plays at the pace it was recorded, and seeking back makes
 * the session anew from its first line.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/json.h"
#include "base/log.h"
#include "base/loop.h"
#include "engine/engine.h"
#include "engine/replay.h"
#include "model/wanted.h"
#include "protocol/message.h"

/* Ages on the screen count in seconds; a tenth of one is smooth. */
#define TICK_SECONDS 0.1

/*
 * What the recorder chose with --job, --ranks and --pid is chosen again, unless
 * this command line chooses itself.
 */
static void apply_choice(struct engine *engine, const struct message *message)
{
	struct session *session = &engine->session;
	const char *job = json_get_string(message->body, "job", NULL);
	const char *ranks = json_get_string(message->body, "ranks", NULL);

	if (message->type != MESSAGE_REQUEST ||
	    strcmp(message->name, "discover") != 0)
		return;
	if (job && !session->wanted_job)
		session->wanted_job = xstrdup(job);
	if (ranks && !session->wanted_text)
		wanted_set(session, ranks, NULL);
	if (json_array_size(json_object_get(message->body, "pids")) > 0)
		session->has_wanted_pids = true;
}

static bool is_discovery(const struct message *message)
{
	return message->type == MESSAGE_RESPONSE && message->is_success &&
	       strcmp(message->name, "discover") == 0;
}

/* What the recording lacks is no fault of the job's. */
static void warn_of_cut(const struct engine *engine, bool is_discovered)
{
	const char *path = engine->settings.replay;

	if (!is_discovered)
		log_write(LOG_WARNING,
			  "the recording %s ends before all ranks were found",
			  path);
	else if (replay_is_cut(engine->replay))
		log_write(LOG_WARNING,
			  "the recording %s ends within a line; what came "
			  "later is missing",
			  path);
}

static void apply_until(struct engine *engine, double until)
{
	struct message message;

	while (replay_next(engine->replay, until, &message)) {
		engine->session.now = message.time;
		apply_choice(engine, &message);
		engine_apply(engine, 0, &message, message.time);
		message_clear(&message);
	}
}

/*
 * Source is the same at any time, so all of it is there from the start: the
 * person who recorded may have looked at a file long after the ranks hung.
 * True when the ranks' discovery is in the recording.
 */
static bool apply_sources(struct engine *engine)
{
	struct message message;
	bool is_discovered = false;

	while (replay_next(engine->replay, INFINITY, &message)) {
		if (message.type == MESSAGE_RESPONSE &&
		    strcmp(message.name, "source") == 0)
			engine_apply(engine, 0, &message, message.time);
		is_discovered |= is_discovery(&message);
		message_clear(&message);
	}
	replay_rewind(engine->replay);
	engine->session.now = 0;
	return is_discovered;
}

/* What the person chose, not the ranks, passes from one to the other. */
static void move_choice(struct session *to, struct session *from)
{
	to->wanted = from->wanted;
	to->wanted_select = from->wanted_select;
	to->wanted_focus = from->wanted_focus;
	to->wanted_text = from->wanted_text;
	to->wanted_job = from->wanted_job;
	to->has_wanted_pids = from->has_wanted_pids;
	to->focus = from->focus;
	to->is_focus_all = from->is_focus_all;
	to->names = from->names;
	to->name_count = from->name_count;
	to->selection = from->selection;
	from->wanted = (struct rankset)RANKSET_INIT;
	from->wanted_select = NULL;
	from->wanted_focus = NULL;
	from->wanted_text = NULL;
	from->wanted_job = NULL;
	from->focus = (struct rankset)RANKSET_INIT;
	from->names = NULL;
	from->name_count = 0;
}

/* The session of before the first line, with what the person chose kept. */
static void begin_again(struct engine *engine)
{
	struct session *session = &engine->session;
	struct session kept = { .revision = session->revision + 1 };

	move_choice(&kept, session);
	session_clear(session);
	session_init(session);
	move_choice(session, &kept);
	session->revision = kept.revision;
	session->is_replay = true;
	session_add_node(session, "recording");
	replay_rewind(engine->replay);
	apply_sources(engine);
}

static void on_tick(void *data)
{
	struct engine *engine = data;
	double now = loop_now() + engine->replay_offset;
	double end = replay_end_time(engine->replay);

	if (engine->session.now >= end)
		return;
	apply_until(engine, now);
	engine->session.now = now < end ? now : end;
	engine->session.revision++;
	engine_settle(engine);
}

void engine_seek(struct engine *engine, double time)
{
	double end;

	if (!engine->replay)
		return;
	end = replay_end_time(engine->replay);
	if (!(time >= 0))
		time = 0;
	if (time > end)
		time = end;
	if (time < engine->session.now)
		begin_again(engine);
	apply_until(engine, time);
	engine->session.now = time;
	engine->replay_offset = time - loop_now();
	engine->session.revision++;
	engine_settle(engine);
}

int engine_play(struct engine *engine, struct error *error)
{
	engine->replay = replay_new(engine->settings.replay, error);
	if (!engine->replay)
		return -1;
	if (!engine->loop)
		engine->loop = loop_new();
	engine->session.is_replay = true;
	session_add_node(&engine->session, "recording");
	if (!engine->is_screen) {
		apply_until(engine, INFINITY);
		warn_of_cut(engine, engine->session.is_discovered);
		return 0;
	}
	warn_of_cut(engine, apply_sources(engine));
	apply_until(engine, replay_next_time(engine->replay));
	engine->replay_offset = engine->session.now - loop_now();
	engine->replay_timer = loop_timer(engine->loop, TICK_SECONDS,
					  TICK_SECONDS, on_tick, engine);
	engine_settle(engine);
	return 0;
}
