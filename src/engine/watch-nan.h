/*
 * watch-nan: the first NaN, or infinity, that the value of an expression has
 * in any of several ranks.
 *
 * A rank whose agent listens gets a data breakpoint on it and tells at the
 * line that made it. The others are looked at from outside, one after the
 * other, one request at a time, and so slowly that all of it costs WATCH_NAN_
 * SHARE of a core: what is found there may be older than it looks, and is said
 * to be. One expression is watched at a time, until it is found, ended by
 * watch_nan_clear(), or no rank is left.
 *
 * Of what is neither a number nor a tensor (a module, an optimizer, a list or
 * dict) all tensors in it are watched, and the first that has some is named.
 */
#ifndef ENGINE_WATCH_NAN_H
#define ENGINE_WATCH_NAN_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "protocol/rankset.h"

struct buffer;
struct command_context;
struct engine;
struct error;
struct loop_timer;
struct request;
struct request_group;

#define WATCH_NAN_SHARE 0.02
/* Names that a step's number has, in the frame where it was found. */
#define WATCH_NAN_STEPS 8

struct nan_find {
	int rank;	   /* -1: nothing was found */
	char *value;	   /* "nan"; of a tensor "3 NaN, 1 Inf of 256" */
	char *tensor;	   /* its name in what is watched; NULL: that itself */
	int64_t nan_count; /* -1: not known */
	int64_t infinity_count;
	int64_t first; /* flat index of the first in a tensor; -1: none */
	/* Where the rank was then; func NULL: not known. */
	char *func;
	char *file;
	int line;
	int depth;
	char *step_name; /* NULL: no such variable is there */
	char *step_value;
	bool is_exact; /* seen as it came, not when it was looked at */
};

enum watch_nan_state {
	WATCH_NAN_NONE,
	WATCH_NAN_LOOKING,
	WATCH_NAN_STEPPING, /* it was found; which step is asked for */
	WATCH_NAN_FOUND,
	WATCH_NAN_OVER, /* no rank is left that could be looked at */
};

struct watch_nan {
	enum watch_nan_state state;
	char *expression;
	bool is_of_gradients; /* those of the tensors in it */
	bool stops;
	struct rankset ranks;	  /* that are watched */
	struct rankset listed;	  /* of them those where it has tensors in it */
	struct request *ways;	  /* who has an agent; NULL: not asked */
	struct rankset exact;	  /* of them those whose agents do it */
	int breakpoint;		  /* theirs; 0: there is none */
	uint64_t stops_seen;	  /* of the session's */
	struct loop_timer *timer; /* timer until the next look; NULL: a look is running */
	struct request *look;	  /* under way; NULL: none */
	int rank;		  /* that it is at, or was last */
	int64_t start;		  /* of a page of these */
	double asked_at;
	struct request_group *steps; /* the names of a step; NULL: not asked */
	uint64_t looks;		     /* that told something */
	char *failure;		     /* why the last one told nothing; NULL */
	bool is_failure_told;
	struct nan_find found;
	bool is_told; /* scripts: told once */
};

void watch_nan_clear(struct engine *engine);
/*
 * From now on that is watched in these ranks (copied), and nothing else; stops:
 * they are all paused as soon as it is found. -1 and a sentence: nobody can.
 */
int watch_nan_begin(struct engine *engine, const char *expression, bool is_of_gradients, bool stops,
		    const struct rankset *ranks, struct error *error);
/* After a batch of messages: agents that stopped, ranks that ended. */
void watch_nan_follow(struct engine *engine);
/* "Rank 3: loss is nan, in train (train.py:27), step 41; …" */
void watch_nan_append(struct buffer *out, const struct watch_nan *watch);
/* {"event": "nan", …}, as a script tells it: a new object. */
json_t *watch_nan_to_json(const struct watch_nan *watch);
/* Agents that are to have it have it; a shell waits for that. */
bool watch_nan_is_armed(const struct engine *engine);

/* Between its own files: */

/* Which ranks have an agent is asked. */
void watch_nan_ask_agents(struct engine *engine);
/* Which agents have the breakpoint by now; these ranks are not looked at any
 * more. */
void watch_nan_note_armed(struct engine *engine);
/* And no more. */
void watch_nan_disarm(struct engine *engine);
/* One has stopped for that: it is what was found. */
bool watch_nan_take_stop(struct engine *engine);
/* It continues, where nothing was to stop. */
void watch_nan_release(struct engine *engine, int rank);

/* How the ranks are watched, and that it may come late. */
void watch_nan_append_way(struct buffer *out, const struct watch_nan *watch);
/* For scripts: what was found, once. */
void watch_nan_append_event(struct command_context *context);

#endif
