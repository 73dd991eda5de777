/*
 * step-group: ranks that were told to run ("next", "continue") or to stand
 * ("pause"), and which of them stopped since.
 */
#ifndef UI_STEP_GROUP_H
#define UI_STEP_GROUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buffer;
struct engine;
struct rankset;
struct session;

struct step_group_rank {
	int rank;
	uint64_t stops; /* of its debugger, when it was told */
};

struct step_group {
	char *command; /* as it was said; NULL: there is none */
	char *name;    /* what it is called; NULL: by its command */
	struct step_group_rank *ranks;
	size_t count;
	double began_at;    /* session time */
	double offer_after; /* seconds until resuming the others is offered */
	uint64_t number;    /* of the pending command */
	bool is_answered;   /* who stands as before was refused */
	bool is_silent;	    /* it may take for ever, and was said */
};

void step_group_clear(struct step_group *motion);
/*
 * The ranks that a pending command after this number told to run are the motion
 * from now on; false when no command did.
 */
bool step_group_begin(struct step_group *motion, const struct engine *engine, uint64_t number);
/* From now on it is called so: "to line 12". */
void step_group_name(struct step_group *motion, const char *name);
/* To be called whenever the session has changed. */
void step_group_settle(struct step_group *motion, const struct engine *engine);
/*
 * Of a step: adds the ranks that have not stopped yet; where one has, but
 * those that wait in a collective.
 */
void step_group_add_running(struct rankset *ranks, const struct step_group *motion,
			    const struct session *session);
/* Some stand where they stood: they could not be told. */
bool step_group_is_refused(const struct step_group *motion, const struct session *session);
/* A key was pressed: what is over, or may take for ever, is said no more. */
void step_group_key(struct step_group *motion, const struct session *session);
/*
 * Appends "next: 6 of 8 stopped; 2 in all_reduce (3,5), 3.2 s"; nothing when
 * none runs any more, except of `pause`: "pause: 8 ranks stopped within 1.2
 * ms".
 */
void step_group_append(struct buffer *out, const struct step_group *motion,
		       const struct session *session);
/*
 * Some have run for longer than a step takes, while other ranks stand that
 * they may wait for: `release` resumes those.
 */
bool step_group_is_stuck(const struct step_group *motion, const struct session *session);

#endif
