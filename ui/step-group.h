/*
 * step-group: the ranks that one command told to run ("next", "continue") or to stop ("pause"), and
 * the stops of these ranks since.
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
	uint64_t stops; /* stop count of the rank's debugger at the command */
};

struct step_group {
	char *command; /* name of the command; NULL: there is no group */
	char *name;    /* name in messages, "to line 12"; NULL: the command */
	struct step_group_rank *ranks;
	size_t count;
	double began_at;    /* session time */
	double offer_after; /* seconds until the user is offered to resume stopped ranks */
	uint64_t number;    /* number of the pending command */
	bool is_answered;   /* all ranks have answered; a rank still at its old stop was refused */
	bool is_silent;	    /* not shown: the command may run for ever, and a key was pressed */
};

void step_group_clear(struct step_group *motion);
/*
 * Makes a group of the ranks of the newest pending command with a greater number; false: there is
 * no such command.
 */
bool step_group_begin(struct step_group *motion, const struct engine *engine, uint64_t number);
/* Sets the name of the group in messages: "to line 12". */
void step_group_name(struct step_group *motion, const char *name);
/* Updates is_answered; to be called after each change of the session. */
void step_group_settle(struct step_group *motion, const struct engine *engine);
/*
 * Adds the ranks of a step that have not stopped yet; when a rank has stopped, without the ranks
 * that wait in a collective.
 */
void step_group_add_running(struct rankset *ranks, const struct step_group *motion,
			    const struct session *session);
/* True: a rank is still at its old stop, because the command was refused. */
bool step_group_is_refused(const struct step_group *motion, const struct session *session);
/* Called at each key: ends the display of a group that is over, or that may run for ever. */
void step_group_key(struct step_group *motion, const struct session *session);
/*
 * Appends "next: 6 of 8 stopped; 2 in all_reduce (3,5), 3.2 s". When no rank runs any more:
 * nothing, or for `pause` "pause: 8 ranks stopped within 1.2 ms".
 */
void step_group_append(struct buffer *out, const struct step_group *motion,
		       const struct session *session);
/*
 * True: ranks of a step have run for offer_after seconds, and may wait for other ranks, which are
 * stopped: `release` resumes those.
 */
bool step_group_is_stuck(const struct step_group *motion, const struct session *session);

/*
 * Command lines that resume ranks, typed before all ranks of the previous line had
 * stopped. Each line waits for the previous one, so that the ranks of a group stay together.
 */

struct stepqueue {
	char **lines;
	size_t count;
	size_t capacity;
};

/* Empties the queue. */
void stepqueue_clear(struct stepqueue *queue);
/* Adds a line; a full queue (100 lines, by a held key) stays as it is. */
void stepqueue_add(struct stepqueue *queue, const char *line);
/* Takes the first line, to be freed; NULL: the queue is empty. */
char *stepqueue_take(struct stepqueue *queue);
/* Appends "next ×2, step". */
void stepqueue_append(struct buffer *out, const struct stepqueue *queue);

#endif
