/*
 * stops: one list of three kinds of events of all ranks, in the order in which they happened:
 * stops, output of log points, and resumes that no client requested. A script prints each entry
 * exactly once, so an entry has copies of all printed data: before it is printed, the rank may
 * resume or end. The last STOPS_KEPT entries are kept.
 */
#ifndef MODEL_STOPS_H
#define MODEL_STOPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "protocol/debugger.h"

struct previous;
struct rank;
struct session;
struct variables;

#define STOPS_KEPT 1024

struct stop {
	int rank;
	pid_t tid;
	enum stop_reason reason;
	enum stop_event at;
	char *value;	   /* returned or raised value; NULL: unknown */
	char *description; /* never NULL */
	char *said; /* not NULL: the entry is output of log point hits[0], not a stop: only rank,
		     * said and hits are valid */
	int hits[STOP_HITS_MAXIMUM];
	size_t hit_count;
	/*
	 * Not RESUME_REQUEST: the entry is a resume, not a stop: only rank, resumed_for and
	 * description (a sentence) are valid.
	 */
	enum resume_reason resumed_for;
	double held; /* seconds from the stop to its report */
	/* The innermost frame at the stop; func NULL: unknown. */
	char *func;
	char *qualname;
	char *file;
	int line;
	bool is_user;
};

struct stops {
	struct stop *ring; /* ring of STOPS_KEPT entries; NULL: no entry yet */
	uint64_t count;	   /* number of entries ever added */
};

void stops_clear(struct stops *stops);
/* Adds the current stop of the rank's debugger. */
void stops_add(struct stops *stops, const struct rank *rank);
/* Adds the current resume of the rank's debugger, with its resumed_for. */
void stops_add_resume(struct stops *stops, const struct rank *rank);
/* Adds the output of a rank's log point; id is the breakpoint's id. */
void stops_add_said(struct stops *stops, int rank, int id, const char *text);
/*
 * Returns entry n of all entries ever added, from 0 on, borrowed; NULL: dropped, or not added yet.
 */
const struct stop *stops_find(const struct stops *stops, uint64_t n);

/*
 * previous: the values that variables of stopped frames had at the stop before, if they were
 * requested then; used to mark changed values. Values are stored as hashes, for a limited number of
 * frames.
 */

struct previous *previous_new(void);
void previous_free(struct previous *previous);
/*
 * Sets stops and is_changed of newly received variables. is_changed is true for a variable that is
 * new, or whose value differs from the last stop at which the frame's variables were requested.
 */
void previous_compare(struct session *session, struct variables *variables);

#endif
