/*
 * replay: recordings in place of nodes, one recording per node. Delivers the messages of all
 * recordings in order of time, from any time on.
 *
 * Recordings of several machines are aligned by the wall clock time that each contains; a recording
 * without a wall clock time begins together with the first other recording. Times are session
 * times, which are the times of the recording with the earliest wall clock.
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
	/* Lines before it were left out: it makes sense only after replay_seek() to its time. */
	bool is_behind_damage;
};

/*
 * Opens recordings; replay_next() reads from their first lines on. NULL and *error if nothing of a
 * file can be read.
 */
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
 * Reads the next line if its time is not after `until`; the caller clears line->message. Returns 1;
 * 0: there is no such line; -1 and *error: a segment of a recording is damaged, and is left out
 * from now on.
 */
int replay_next(struct replay *replay, double until, struct replay_line *line, struct error *error);
/*
 * Moves to the last snapshots before time that can be read: the lines from these snapshots on
 * restore the session at that time in a new session.
 */
void replay_seek(struct replay *replay, double time);
/*
 * Why a recording cannot be read at time, a sentence, borrowed; NULL: no damage was found there.
 * Damage is found by reading.
 */
const char *replay_damage(const struct replay *replay, double time);
/* True if replay_seek() to a later time is quicker than reading all lines up to it. */
bool replay_is_far(const struct replay *replay, double time);
/* Session times of the first and the last line of all recordings. */
double replay_first_time(const struct replay *replay);
double replay_end_time(const struct replay *replay);
/* The wall clock (seconds since 1970) at session time 0; -1: not known. */
double replay_wall(const struct replay *replay);
/* Path of the first recording whose recorder was killed, borrowed; NULL: none. */
const char *replay_cut_path(const struct replay *replay);
/* A search for answers to a command, only in segments with the flag. */
struct replay_search {
	const char *command; /* "source" */
	uint32_t flag;	     /* of enum recording_segment_flag */
	void (*each)(const struct replay_line *line, void *data);
	void *data;
};
/*
 * Calls search->each() for each answer that search describes and that can be read, in all
 * recordings, one after the other.
 */
void replay_each(const struct replay *replay, const struct replay_search *search);
/*
 * Returns the nearest time after (is_forward) or before time at which a rank appeared, ended,
 * changed its state, or its main thread's stack changed; -1: there is none.
 */
double replay_find_change(struct replay *replay, double time, bool is_forward);

/*
 * Recorded answers to `tensor` and `parameters`: in place of a request, the newest recorded answer
 * to the same request is used, up to the time that is shown.
 */

struct replay_answers {
	const char *command; /* "tensor" "parameters" */
	const char *expression;
	bool is_of_gradients;
	bool has_values; /* true: plain values were requested, too */
	int64_t start;	 /* first index of the page */
};

/* Returns a new reference to the body of the answer about rank; NULL and *error: not recorded. */
json_t *replay_answers_find(const struct engine *engine, const struct rank *rank,
			    const struct replay_answers *recalled, struct error *error);

#endif
