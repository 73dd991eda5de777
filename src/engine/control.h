/*
 * control: commands that act on the debuggers of several ranks at once: chooses the ranks that can
 * execute the command, asks about its cost, and reports the result.
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

/* State that a command requires of a rank. */
enum control_need {
	CONTROL_STOPPED, /* connected to us, at its prompt */
	CONTROL_OURS,
	CONTROL_WAITING, /* waits for a client */
	CONTROL_RUNNING, /* runs in a debugger, or runs without a debugger and can be stopped */
	CONTROL_THERE,	 /* the process exists, in any state */
};

/* The ranks of a command's set. */
struct control {
	const char *command; /* name of the command as typed: "next" */
	enum control_need need;
	bool has_pausing;	  /* also ranks that were told to stop and still run */
	struct rankset chosen;	  /* ranks that meet need */
	struct rankset others;	  /* ranks that do not meet need */
	struct rankset elsewhere; /* ranks without the selected frame */
};

void control_clear(struct control *control);
/*
 * Fills *control (the caller sets command and need) from the context's ranks. -1 and a sentence
 * with the reason if no rank meets need.
 */
int control_choose(struct control *control, struct command_context *context, struct error *error);
/* Like command_confirm(), for the chosen ranks. */
int control_confirm(const struct control *control, struct command_context *context,
		    char *owned_question, struct error *error);
/*
 * Asks before the debuggers of the chosen ranks quit: "Rank 1 will raise BdbQuit; 7 others wait in
 * all_reduce. Quit its debugger?"
 */
int control_confirm_quit(const struct control *control, struct command_context *context,
			 struct error *error);
/*
 * Question before the chosen ranks step into a collective that also needs stopped ranks; is_far:
 * also a collective later in the same function. free() it; NULL: no such collective is known.
 */
char *control_collective_question(const struct control *control, const struct session *session,
				  bool is_far);
/* Why the rank does not meet need, a clause that follows "rank 1": "is running: pause it first". */
void control_reason(const struct rank *rank, enum control_need need, struct error *error);
/*
 * Thread of rank that a step acts on: the thread at the prompt; for a ptrace-stopped rank the
 * selected thread, if that is stopped. NULL: not known.
 */
const struct thread *control_thread(const struct session *session, const struct rank *rank);
/* tid of control_thread(); if that was not read, of the thread at the prompt. */
pid_t control_tid(const struct session *session, const struct rank *rank);
/*
 * Depth of the frame in which a step begins and expressions are evaluated: the selected frame; else
 * the innermost (0), or after an exception the innermost user frame.
 */
int control_depth(const struct session *session, const struct rank *rank);
/*
 * Like control_depth(), for any rank: if a caller's frame is selected on another rank, the frame of
 * the same function on this rank, if there is one.
 */
int control_print_depth(const struct session *session, const struct rank *rank);
/*
 * Depth of the frame in which rank steps: the frame of the same function at the same distance from
 * the outermost frame as on the selected rank. If there is none: 0, and rank is added to
 * control->elsewhere. If no frame was selected, each rank steps in its innermost frame (0).
 */
int control_step_depth(struct control *control, const struct session *session,
		       const struct rank *rank);
/*
 * Shell: waits for the answers, writes the ranks that acted ("next: rank 1; 3 others are not
 * stopped") and each failure; -1 and a sentence if all failed. Screen: reports the ranks and lets
 * the engine take the answers later.
 */
int control_finish(const struct control *control, struct command_context *context,
		   struct rank_answers *owned_pending, struct error *error);
/* "rank 1; 3 others are not stopped" */
void control_append(struct buffer *out, const struct control *control);

/*
 * Question before the program exits: the cost of closing the connections, or the fate of stopped
 * ranks. free() it; NULL: no rank is stopped and nothing is lost.
 */
char *control_end_question(const struct session *session);
/*
 * Question before the connections of these ranks are closed; ranks NULL: of all ranks. free() it;
 * NULL: closing costs nothing.
 */
char *control_leave_question(const struct session *session, const struct rankset *ranks);
/*
 * Question before connecting to these ranks, which wait for a client. free() it; NULL: closing the
 * connection later costs nothing.
 */
char *control_connect_question(const struct session *session, const struct rankset *ranks);

#endif
