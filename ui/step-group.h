/*
 * step-group: the ranks that one command made run ("next", "continue") or stop ("pause"), and which
 * of these ranks have stopped since. The screen shows the newest step group.
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
	uint64_t stops; /* debugger.stops of the rank when the command was sent */
};

struct step_group {
	char *command; /* name of the command; NULL: there is no group */
	char *name;    /* name in messages, "to line 12"; NULL: command */
	struct step_group_rank *ranks;
	size_t count;
	double began_at;    /* session time of the command */
	double offer_after; /* seconds until the screen offers to resume stopped ranks */
	uint64_t number;    /* rank_answers.number of the command */
	bool is_answered;   /* all ranks have answered; a rank that is still at its old stop has
			     * refused the command */
	bool is_silent;	    /* not shown any more, because a key was pressed and the ranks may run
			     * for ever */
};

void step_group_clear(struct step_group *motion);
/*
 * Makes a group of the ranks of the newest pending command, if its rank_answers.number is greater
 * than number; false: there is no such command.
 */
bool step_group_begin(struct step_group *motion, const struct engine *engine, uint64_t number);
/* Sets the group's name in messages: "to line 12". */
void step_group_name(struct step_group *motion, const char *name);
/* Updates is_answered; call it after each change of the session. */
void step_group_settle(struct step_group *motion, const struct engine *engine);
/*
 * Adds to ranks the ranks of a step that have not stopped yet. Once a rank has stopped, ranks that
 * wait in a collective are left out, because they may wait for it.
 */
void step_group_add_running(struct rankset *ranks, const struct step_group *motion,
			    const struct session *session);
/* True if a rank is still at its old stop, because it has refused the command. */
bool step_group_is_refused(const struct step_group *motion, const struct session *session);
/* Called at each key: hides a group that is over, or whose ranks may run for ever. */
void step_group_key(struct step_group *motion, const struct session *session);
/*
 * Appends "next: 6 of 8 stopped; 2 in all_reduce (3,5), 3.2 s". When all ranks have stopped: for
 * `pause` "pause: 8 ranks stopped within 1.2 ms", for other commands nothing.
 */
void step_group_append(struct buffer *out, const struct step_group *motion,
		       const struct session *session);
/*
 * True if ranks of a step have run for offer_after seconds and may wait for ranks that are stopped:
 * the command `release` resumes these.
 */
bool step_group_is_stuck(const struct step_group *motion, const struct session *session);

/*
 * stepqueue: command lines that resume ranks, typed before all ranks of the previous line had
 * stopped. Each line waits until these ranks have stopped, so that the ranks of a group stay
 * together.
 */

struct stepqueue {
	char **lines;
	size_t count;
	size_t capacity;
};

/* Empties the queue. */
void stepqueue_clear(struct stepqueue *queue);
/* Adds a line. A full queue (100 lines, if a key is held down) is left unchanged. */
void stepqueue_add(struct stepqueue *queue, const char *line);
/* Removes the first line and returns it; free() it. NULL: the queue is empty. */
char *stepqueue_take(struct stepqueue *queue);
/* Appends "next ×2, step". */
void stepqueue_append(struct buffer *out, const struct stepqueue *queue);

#endif
