/*
 * verdict: the classes of ranks and the sentence about them, by the rules of
 * the headless contract ("Who is the odd one out"). It says only what was
 * seen: from one sample there is no "for 34 s" and no "not moving".
 */
#ifndef MODEL_VERDICT_H
#define MODEL_VERDICT_H

#include <stdbool.h>
#include <stddef.h>

#include "model/activity.h"
#include "protocol/rankset.h"

struct session;
struct stack;

/*
 * What is at one place is called hung, or odd, after so long there: every job
 * that is well is at one place for some tenths of a second.
 */
#define VERDICT_STILL_SECONDS 1.0

enum verdict_state {
	VERDICT_UNKNOWN,
	VERDICT_HUNG,
	VERDICT_PROGRESSING,
	VERDICT_CRASHED,
	VERDICT_STOPPED,
};

const char *verdict_state_name(enum verdict_state state);

struct verdict;
/* Whether somebody should look: there is an outlier, or the job stands. */
bool verdict_is_finding(const struct verdict *verdict);

/* Ranks whose main Python thread has the same stack (functions and lines). */
struct rank_class {
	struct rankset ranks;
	const struct stack *stack; /* lent; NULL: gone or unreadable */
	struct activity activity;
	size_t user_frame; /* index into stack->frames; their count: none */
	bool is_outlier;
	int mark; /* 0 majority, 1 outlier or smallest, 2… further ones:
		   * index into the screen's glyphs */
};

struct verdict {
	enum verdict_state state;
	char *sentence; /* never NULL after verdict_make */
	struct rankset outliers;
	struct rank_class *classes; /* largest first */
	size_t class_count;
	int majority;	/* class of more than half; -1 none */
	int world_size; /* 0 unknown */
	size_t ranks_found;
	char *job;
};

void verdict_clear(struct verdict *verdict);
/*
 * Judges the session's ranks now. Replaces *verdict, sets class_index and
 * is_outlier of each rank.
 */
void verdict_make(struct verdict *verdict, struct session *session);

#endif
