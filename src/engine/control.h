/*
 * control: acts on the debuggers of several ranks at once: who of a set can be
 * told to do something, what that costs, and the sentence about it.
 */
#ifndef ENGINE_CONTROL_H
#define ENGINE_CONTROL_H

#include <stdbool.h>
#include <sys/types.h>

#include "protocol/rankset.h"

struct buffer;
struct command_context;
struct error;
struct rank_answers;
struct rank;
struct session;
struct thread;

/* What a rank's debugger must be, to be told. */
enum control_need {
	CONTROL_STOPPED, /* ours, at its prompt */
	CONTROL_OURS,
	CONTROL_WAITING, /* for a client */
	CONTROL_RUNNING, /* or there is none: to be stopped */
	CONTROL_THERE,	 /* the process, whatever its debugger is */
};

/* The ranks of a command's set. */
struct control {
	const char *command; /* as it is said: "next" */
	enum control_need need;
	bool has_pausing;	  /* also ranks that were told to stop, and run yet */
	struct rankset chosen;	  /* that can */
	struct rankset others;	  /* that cannot */
	struct rankset elsewhere; /* without the frame that is looked at */
};

void control_clear(struct control *control);
/*
 * Fills *control (command and need are given) from the context's ranks. -1 and
 * a sentence that says why when none can.
 */
int control_choose(struct control *control, struct command_context *context, struct error *error);
/* As command_confirm(), about the ranks that were chosen. */
int control_confirm(const struct control *control, struct command_context *context,
		    char *owned_question, struct error *error);
/* The same before their debuggers quit: "Rank 1 will raise BdbQuit; 7 others
 * wait in all_reduce. Quit its debugger?" */
int control_confirm_quit(const struct control *control, struct command_context *context,
			 struct error *error);
/*
 * What to ask before those of *control step on into a collective, while others
 * that it needs stand; is_far: when they may come to it later, in the function
 * that they are in. NULL: they do not, as far as is known.
 */
char *control_collective_question(const struct control *control, const struct session *session,
				  bool is_far);
/* Why it cannot be told, a clause behind "rank 1": "runs; pause stops it" */
void control_reason(const struct rank *rank, enum control_need need, struct error *error);
/*
 * The thread of it that a step is of: the one at the prompt; of a rank that
 * is stopped from outside the one looked at, if that stands. NULL: not known.
 */
const struct thread *control_thread(const struct session *session, const struct rank *rank);
/* Its tid; that of the thread at the prompt where it was not read. */
pid_t control_tid(const struct session *session, const struct rank *rank);
/*
 * The frame of it that a step begins in, and expressions are evaluated in: the
 * one looked at; else the innermost (0), or where it raised that of the user's.
 */
int control_depth(const struct session *session, const struct rank *rank);
/* The same of any rank: where a caller is looked at, its frame of that
 * function, if it has one. */
int control_print_depth(const struct session *session, const struct rank *rank);
/*
 * The same of another rank, where it runs the same function as far from its
 * outermost frame as the rank looked at; else 0, and it is one of *elsewhere.
 * Where no frame was chosen, each begins in its innermost one.
 */
int control_step_depth(struct control *control, const struct session *session,
		       const struct rank *rank);
/*
 * In a shell waits for the answers, writes what was done ("next: rank 1; 3
 * others are not stopped") and tells of each failure; -1 and a sentence when
 * all of them failed. On a screen says it, and leaves the answers to come.
 */
int control_finish(const struct control *control, struct command_context *context,
		   struct rank_answers *owned_pending, struct error *error);
/* "rank 1; 3 others are not stopped" */
void control_append(struct buffer *out, const struct control *control);

/* What to ask before the program ends: what leaving costs, or what becomes of
 * the ranks that are stopped. NULL: none is. */
char *control_end_question(const struct session *session);
/*
 * What to ask before the connections of these ranks are given up; all of them
 * where ranks is NULL. NULL: it costs nothing.
 */
char *control_leave_question(const struct session *session, const struct rankset *ranks);
/*
 * What to ask before these ranks, which wait for a client, are connected to.
 * NULL: leaving them will cost nothing.
 */
char *control_connect_question(const struct session *session, const struct rankset *ranks);

#endif
