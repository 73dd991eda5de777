/*
 * engine: the session, the pipes that feed it, and the commands that act on
 * it. The screen and a shell command drive the same engine.
 *
 * One turn of the loop: links append what they read, the engine applies it to
 * the session and judges once, then calls changed() once.
 */
#ifndef ENGINE_ENGINE_H
#define ENGINE_ENGINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "engine/settings.h"
#include "model/session.h"

struct buffer;
struct error;
struct link;
struct loop;

struct engine {
	struct settings settings;
	struct session session;
	struct loop *loop;
	struct link **links;		/* one a node; index = session node */
	size_t link_count;
	double sampling_period;		/* 0: none running */
	int status;			/* exit status of the last command */
	void (*changed)(void *data);	/* the session changed; may be NULL */
	void *changed_data;
};

/* Takes the settings over. */
void engine_init(struct engine *engine, struct settings *owned_settings);
void engine_clear(struct engine *engine);
/*
 * Starts the node, or opens the recording, and asks for the ranks. Answers
 * arrive through the loop.
 */
int engine_start(struct engine *engine, struct error *error);
/*
 * Runs the loop until done(engine, data) or the time is over. 0 done, -1 not.
 * Shell commands wait so; a screen never does.
 */
int engine_wait(struct engine *engine,
		bool (*done)(const struct engine *engine, void *data),
		void *data, double seconds);
/* Samples all chosen ranks every period seconds; 0 stops. */
void engine_sample_every(struct engine *engine, double period);
/* One sample of all chosen ranks now. */
void engine_sample_once(struct engine *engine);
/* Asks for what the session lacks; asking twice is free. */
void engine_want_source(struct engine *engine, pid_t pid, const char *path);
void engine_want_frame(struct engine *engine, pid_t pid, pid_t tid, int depth);
void engine_want_children(struct engine *engine, pid_t pid, uint64_t address,
			  int64_t start);
/* Replays: moves to a time of the recording; elsewhere nothing. */
void engine_seek(struct engine *engine, double time);

#endif
