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
 * Seconds at one place before a rank is called hung or odd: ranks of a healthy job are at
 * one place for some tenths of a second, too.
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
/* True if the user should look: there is an outlier, or the job is hung or crashed. */
bool verdict_is_finding(const struct verdict *verdict);

/* Ranks whose main Python thread has the same stack (functions and lines). */
struct rank_class {
	struct rankset ranks;
	const struct stack *stack; /* borrowed; NULL: gone or unreadable */
	struct activity activity;
	size_t user_frame; /* index into stack->frames; frame_count: none */
	bool is_outlier;
	int mark; /* 0 majority, 1 outlier or smallest class, 2… further classes: index into the
		   * screen's glyphs */
};

struct verdict {
	enum verdict_state state;
	char *sentence; /* never NULL after verdict_make */
	struct rankset outliers;
	struct rank_class *classes; /* most ranks first */
	size_t class_count;
	int majority;	/* index of the class with more than half of the ranks; -1 none */
	int world_size; /* 0 unknown */
	size_t ranks_found;
	char *job;
};

void verdict_clear(struct verdict *verdict);
/*
 * Judges the session's ranks. Replaces *verdict, and sets class_index and is_outlier of
 * each rank.
 */
void verdict_make(struct verdict *verdict, struct session *session);

/*
 * The character for a class of ranks, by verdict.h's `mark`: 0 the majority, 1
 * the outlier, then further classes.
 */

/* Returns a code point; '?' for a mark below 0. */
int32_t classmark(int mark);
/* Parses a mark in Unicode or ASCII; -1: no mark. */
int classmark_find(const char *text, size_t length);

#endif
