/*
 * watch-nan: finds the first NaN or infinity in the value of an expression in several ranks.
 *
 * A rank with an agent gets a data breakpoint and reports the line that made the NaN. The memory of
 * other ranks is read from outside; one such reading is called a look. Looks go from rank to rank,
 * one request at a time, with pauses such that looks take about WATCH_NAN_SHARE of a core. A NaN
 * that a look finds may be older, and the report says so. One expression is watched at a time,
 * until a NaN is found, watch_nan_clear() is called, or no rank is left.
 *
 * If the value is neither a number nor a tensor (a module, an optimizer, a list or dict), all
 * tensors in it are watched, and the first with a NaN is named.
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
/* Number of known names of variables that hold the number of the training step. */
#define WATCH_NAN_STEPS 8

struct nan_find {
	int rank;	   /* -1: nothing found */
	char *value;	   /* "nan"; for a tensor "3 NaN, 1 Inf of 256" */
	char *tensor;	   /* name of the tensor in a container; NULL: no container */
	int64_t nan_count; /* -1: not known */
	int64_t infinity_count;
	int64_t first; /* flat index of the first NaN in a tensor; -1: none */
	/*
	 * func, file, line and depth of the rank's frame when the NaN was found; func NULL: not
	 * known.
	 */
	char *func;
	char *file;
	int line;
	int depth;
	char *step_name; /* NULL: the frame has no such variable */
	char *step_value;
	bool is_exact; /* found by an agent at the assignment, not by a later look */
};

enum watch_nan_state {
	WATCH_NAN_NONE,	    /* nothing is watched */
	WATCH_NAN_LOOKING,  /* no NaN was found yet */
	WATCH_NAN_STEPPING, /* found; waiting for the number of the step */
	WATCH_NAN_FOUND,
	WATCH_NAN_OVER, /* ended without a NaN: no rank is left */
};

struct watch_nan {
	enum watch_nan_state state;
	char *expression;
	bool is_of_gradients;	    /* gradients of the tensors are watched */
	bool stops;		    /* pause all ranks when a NaN is found */
	struct rankset ranks;	    /* watched ranks */
	struct rankset listed;	    /* watched ranks whose value is a container of tensors */
	struct request_group *ways; /* `diagnose`, which finds agents; NULL: no open request */
	struct rankset exact;	    /* watched ranks whose agents have the breakpoint */
	/*
	 * Ranks of exact that a look has read after their agents had set the breakpoint. A NaN that
	 * is older is found by that look alone: an agent reports at the next line, which a blocked
	 * thread may never reach.
	 */
	struct rankset settled;
	int suspect;	     /* rank of exact in which the last look has found a NaN; -1: none */
	bool is_armed_look;  /* the rank of the present look was in exact when the look began */
	int breakpoint;	     /* id of the agents' breakpoint; 0: none */
	uint64_t stops_seen; /* number of the session's stops handled so far */
	struct loop_timer *timer;    /* expires at the next look; NULL: a look is running */
	struct request *look;	     /* open request of a look; NULL: none */
	int rank;		     /* rank of the present look, or of the last one */
	int64_t start;		     /* index of the first tensor in the requested page */
	double asked_at;	     /* loop_now() when the look began */
	struct request_group *steps; /* requests for the step's variables; NULL: none */
	uint64_t looks;		     /* number of looks that have read the value */
	char *failure;		     /* why a look failed last; NULL: none failed */
	bool is_failure_told;	     /* a script has reported failure */
	struct nan_find found;
	bool is_told; /* a script has reported the result */
};

void watch_nan_clear(struct engine *engine);
/*
 * From now on watches the expression in ranks (copied), in place of the expression watched before;
 * stops: pauses all ranks when a NaN is found. Returns 0; -1 and *error: there is no rank to watch.
 */
int watch_nan_begin(struct engine *engine, const char *expression, bool is_of_gradients, bool stops,
		    const struct rankset *ranks, struct error *error);
/* Call after a batch of messages: handles stops of agents and ended ranks. */
void watch_nan_follow(struct engine *engine);
/* Appends "Rank 3: loss is nan, in train (train.py:27), step 41; …". */
void watch_nan_append(struct buffer *out, const struct watch_nan *watch);
/* Returns a new object {"event": "nan", …}, which scripts print. */
json_t *watch_nan_to_json(const struct watch_nan *watch);
/*
 * True if every agent that was sent the breakpoint has set or refused it; a shell waits for this.
 */
bool watch_nan_is_armed(const struct engine *engine);

/* The functions below are private to watch-nan*.c. */

/* Asks the node which ranks have agents, and sends the breakpoint to these agents. */
void watch_nan_ask_agents(struct engine *engine);
/*
 * Updates watch_nan.exact, the ranks whose agents have set the breakpoint: there are no more looks
 * at these ranks.
 */
void watch_nan_note_armed(struct engine *engine);
/* Removes the agents' breakpoint. */
void watch_nan_disarm(struct engine *engine);
/* True if an agent has stopped at the breakpoint; then watch_nan.found is filled. */
bool watch_nan_take_stop(struct engine *engine);
/* Resumes a rank that stopped at the breakpoint, unless watch_nan.stops. */
void watch_nan_release(struct engine *engine, int rank);

/*
 * Appends which ranks are watched by agents, and which by looks, so that a NaN may be reported
 * late.
 */
void watch_nan_append_way(struct buffer *out, const struct watch_nan *watch);
/* For scripts: appends the NaN that was found, only once. */
void watch_nan_append_event(struct command_context *context);

#endif
