/*
 * verdict: the classes of ranks and the sentence about them, by the rules of the headless
 * contract ("Who is the odd one out"). It states only what the samples show: after one
 * sample there is no "for 34 s" and no "not moving".
 */
#ifndef MODEL_VERDICT_H
#define MODEL_VERDICT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/activity.h"
#include "protocol/rankset.h"

struct session;
struct stack;

/*
 * Seconds that a rank must be at one place before it is called hung or an outlier: ranks of a
 * healthy job, too, stay at one place for some tenths of a second.
 */
#define VERDICT_STILL_SECONDS 1.0

enum verdict_state {
	VERDICT_UNKNOWN,
	VERDICT_HUNG,
	VERDICT_PROGRESSING,
	VERDICT_CRASHED,
	VERDICT_STOPPED,
};

/* Returns "unknown" "hung" "progressing" "crashed" "stopped". */
const char *verdict_state_name(enum verdict_state state);

struct verdict;
/* True if something is wrong: there is an outlier, or the job is hung or crashed. */
bool verdict_is_finding(const struct verdict *verdict);

/* Ranks whose main Python thread has the same stack (functions and lines). */
struct rank_class {
	struct rankset ranks;
	const struct stack *stack; /* borrowed; NULL: gone or unreadable */
	struct activity activity;
	size_t user_frame; /* index into stack->frames; frame_count: none */
	bool is_outlier;
	int mark; /* 0: majority, 1: outlier or smallest class, 2…: further classes; see
		   * classmark() */
};

struct verdict {
	enum verdict_state state;
	char *sentence; /* never NULL after verdict_make */
	struct rankset outliers;
	struct rank_class *classes; /* most ranks first */
	size_t class_count;
	int majority;	/* index of the class with more than half of the ranks; -1: none */
	int world_size; /* 0: unknown */
	size_t ranks_found;
	char *job;
};

void verdict_clear(struct verdict *verdict);
/*
 * Computes the verdict on the session's ranks: replaces *verdict, and sets class_index and
 * is_outlier of each rank.
 */
void verdict_make(struct verdict *verdict, struct session *session);

/* classmark: the character for a class of ranks, by rank_class.mark. */

/* Returns a code point; '?' for a mark below 0. */
int32_t classmark(int mark);
/* Returns the number of a mark's character, in Unicode or ASCII; -1: text is not a mark. */
int classmark_find(const char *text, size_t length);

#endif
