/*
 * replay: recordings in place of nodes, one a node: their messages in the
 * order of time, from any time on.
 *
 * Recordings of several machines are put together by the wall clock that each
 * has; one without it begins when the first of the others does. Times here
 * are the session's, which are those of the one that began first.
 */
#ifndef ENGINE_REPLAY_H
#define ENGINE_REPLAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "protocol/message.h"

struct error;
struct replay;

struct replay_line {
	size_t node;
	double time;		/* the session's */
	struct message message; /* its time is the recording's own */
};

/* At the first line. NULL and a sentence for a broken file. */
struct replay *replay_new(char *const *paths, size_t count, struct error *error);
/* One recording of bytes, copied, called name. */
struct replay *replay_new_bytes(const char *name, const void *bytes, size_t length,
				struct error *error);
void replay_free(struct replay *replay);
size_t replay_count(const struct replay *replay);
/* Lends the path of a node's recording. */
const char *replay_path(const struct replay *replay, size_t node);
/*
 * Gives the next line when its time is not after until; the caller clears its
 * message. 1 a line, 0 none, -1 and a sentence where a recording is broken:
 * nothing more comes of that one.
 */
int replay_next(struct replay *replay, double until, struct replay_line *line, struct error *error);
/*
 * The next lines are for a session that knows nothing yet and shall be as at
 * that time: they begin with the last snapshots before it.
 */
void replay_seek(struct replay *replay, double time);
/* Whether replay_seek() saves reading on from here to a later time. */
bool replay_is_far(const struct replay *replay, double time);
/* Times of the first and last line of all. */
double replay_first_time(const struct replay *replay);
double replay_end_time(const struct replay *replay);
/* The wall clock (seconds since 1970) at session time 0; -1: not known. */
double replay_wall(const struct replay *replay);
/* The first that ends where its recorder was killed; NULL: none. */
const char *replay_cut_path(const struct replay *replay);
/* Answers to a command, which are in segments with this flag. */
struct replay_search {
	const char *command; /* "source" */
	uint32_t flag;	     /* engine/recording-segment.h */
	void (*each)(const struct replay_line *line, void *data);
	void *data;
};
/* Calls each for all of them, wherever they are, in their order. */
int replay_each(const struct replay *replay, const struct replay_search *search,
		struct error *error);
/*
 * The nearest time before (or after) time at which a rank came, went, changed
 * its state, or its main thread's stack changed; -1: there is none. Is_forward
 * chooses. Reads at most what lies between.
 */
double replay_find_change(struct replay *replay, double time, bool is_forward);

#endif
