/*
 * replay: recordings in place of nodes, one recording per node: their messages in order of time,
 * from any time on.
 *
 * Recordings of several machines are aligned by the wall clock that each contains; a recording
 * without one begins when the first of the others does. Times are session times: those of the
 * recording with the earliest clock.
 */
#ifndef ENGINE_REPLAY_H
#define ENGINE_REPLAY_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "protocol/message.h"

struct engine;
struct error;
struct rank;
struct replay;

struct replay_line {
	size_t node;
	double time;		/* session time in seconds */
	struct message message; /* message.time is the recording's own time */
};

/* Opens recordings; the first line is next. NULL and a sentence for a damaged file. */
struct replay *replay_new(char *const *paths, size_t count, struct error *error);
/*
 * Like replay_new(), for one recording in memory, which is copied; name stands for its path in
 * errors.
 */
struct replay *replay_new_bytes(const char *name, const void *bytes, size_t length,
				struct error *error);
void replay_free(struct replay *replay);
size_t replay_count(const struct replay *replay);
/* Path of a node's recording, borrowed. */
const char *replay_path(const struct replay *replay, size_t node);
/*
 * Reads the next line if its time is not after until; the caller clears line->message. 1: read, 0:
 * no line, -1 and a sentence: a recording is damaged and has no further lines.
 */
int replay_next(struct replay *replay, double until, struct replay_line *line, struct error *error);
/*
 * Moves to the last snapshots before time: the lines from there on build a new session for that
 * time.
 */
void replay_seek(struct replay *replay, double time);
/* True if replay_seek() to a later time is quicker than reading all lines up to it. */
bool replay_is_far(const struct replay *replay, double time);
/* Session times of the first and the last line of all recordings. */
double replay_first_time(const struct replay *replay);
double replay_end_time(const struct replay *replay);
/* The wall clock (seconds since 1970) at session time 0; -1: not known. */
double replay_wall(const struct replay *replay);
/* Path of the first recording whose recorder was killed, borrowed; NULL: none. */
const char *replay_cut_path(const struct replay *replay);
/* A search for answers to a command, in segments with the flag. */
struct replay_search {
	const char *command; /* "source" */
	uint32_t flag;	     /* engine/recording.h */
	void (*each)(const struct replay_line *line, void *data);
	void *data;
};
/*
 * Calls search->each() for all such answers in all recordings, one recording after the other. -1
 * and a sentence if a recording is damaged.
 */
int replay_each(const struct replay *replay, const struct replay_search *search,
		struct error *error);
/*
 * The nearest time after (is_forward) or before time at which a rank appeared, ended, changed its
 * state, or its main thread's stack changed; -1: there is none. Reads at most the recordings
 * between the two times.
 */
double replay_find_change(struct replay *replay, double time, bool is_forward);

/*
 * Recorded answers to `tensor` and `parameters`: the newest answer to the same
 * request about a process, up to the time that is shown.
 */

struct replay_answers {
	const char *command; /* "tensor" "parameters" */
	const char *expression;
	bool is_of_gradients;
	bool has_values; /* plain values requested, too */
	int64_t start;	 /* first index of the page */
};

/* A new reference to the answer's body; NULL and a sentence: not recorded. */
json_t *replay_answers_find(const struct engine *engine, const struct rank *rank,
			    const struct replay_answers *recalled, struct error *error);

#endif
