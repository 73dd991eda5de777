/*
 * control: for commands that act on the debuggers of several ranks at once (next, continue, ...):
 * chooses the ranks that can execute the command, asks for confirmation if it costs something, and
 * reports the result.
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
	CONTROL_STOPPED, /* stopped in a debugger that probetui is connected to */
	CONTROL_OURS,	 /* probetui is connected to its debugger */
	CONTROL_WAITING, /* stopped in a debugger that waits for a client */
	CONTROL_RUNNING, /* runs in a debugger, or runs without a debugger and can be stopped */
	CONTROL_THERE,	 /* the process exists, in any state */
};

/* The ranks of a command's set. */
struct control {
	const char *command; /* name of the command as typed: "next" */
	enum control_need need;
	bool has_pausing;	  /* also choose ranks that have not stopped yet after `pause` */
	struct rankset chosen;	  /* ranks that meet need */
	struct rankset others;	  /* ranks that do not meet need */
	struct rankset elsewhere; /* ranks that step in another frame: control_step_depth() */
};

void control_clear(struct control *control);
/*
 * Fills *control from the context's ranks; the caller has set command and need. -1 and *error with
 * the reason if no rank meets need.
 */
int control_choose(struct control *control, struct command_context *context, struct error *error);
/* Like command_confirm(), for the chosen ranks. */
int control_confirm(const struct control *control, struct command_context *context,
		    char *owned_question, struct error *error);
/*
 * Like command_confirm(), before the debuggers of the chosen ranks quit: "Rank 1 will raise
 * BdbQuit; 7 other ranks wait in all_reduce. Quit its debugger?"
 */
int control_confirm_quit(const struct control *control, struct command_context *context,
			 struct error *error);
/*
 * Question before the chosen ranks step into a collective that must wait for stopped ranks; is_far:
 * considers also a collective further down in the same function. free() it; NULL: no such
 * collective is known.
 */
char *control_collective_question(const struct control *control, const struct session *session,
				  bool is_far);
/*
 * Sets *error to why the rank does not meet need: a clause that follows "rank 1": "is running:
 * pause it first".
 */
void control_reason(const struct rank *rank, enum control_need need, struct error *error);
/*
 * Thread of rank that a step acts on: the thread at the prompt; for a ptrace-stopped rank the
 * selected thread, if that is stopped. NULL: not known.
 */
const struct thread *control_thread(const struct session *session, const struct rank *rank);
/*
 * tid of control_thread() for a ptrace-stopped rank; else of the thread at the debugger's prompt.
 */
pid_t control_tid(const struct session *session, const struct rank *rank);
/*
 * Depth of the frame in which a step begins and expressions are evaluated: the selected frame; else
 * the innermost frame (0), or the innermost user frame in a post-mortem debugger.
 */
int control_depth(const struct session *session, const struct rank *rank);
/*
 * Like control_depth(); but if a caller's frame is selected on another rank, and this rank has a
 * frame of the same function, returns the depth of that frame.
 */
int control_print_depth(const struct session *session, const struct rank *rank);
/*
 * Depth of the frame in which rank steps. If a caller's frame is selected: the frame of the same
 * function at the same distance from the outermost frame as on the selected rank; if rank has no
 * such frame, 0, and rank is added to control->elsewhere. Else the innermost frame (0).
 */
int control_step_depth(struct control *control, const struct session *session,
		       const struct rank *rank);
/*
 * In a shell: waits for the answers, writes which ranks acted ("next: rank 1; 3 other ranks are not
 * stopped") and each failure; -1 and *error if all failed. On a screen: reports the ranks; the
 * engine takes the answers later.
 */
int control_finish(const struct control *control, struct command_context *context,
		   struct rank_answers *owned_pending, struct error *error);
/* Appends "rank 1; 3 other ranks are not stopped". */
void control_append(struct buffer *out, const struct control *control);

/*
 * Question before the program exits: what closing the connections costs, or what happens to stopped
 * ranks. free() it; NULL: no rank is stopped, and closing costs nothing.
 */
char *control_end_question(const struct session *session);
/*
 * Question before the connections to the debuggers of these ranks are closed; ranks may be NULL:
 * all ranks. free() it; returns NULL: closing costs nothing.
 */
char *control_leave_question(const struct session *session, const struct rankset *ranks);
/*
 * Question before connecting to these ranks, which wait for a client: what closing the connections
 * costs later. free() it; NULL: nothing.
 */
char *control_connect_question(const struct session *session, const struct rankset *ranks);

#endif
