/*
 * timeout-extension: for how long the other ranks of a job wait in a collective for one
 * that a debugger of ours holds, before a time-out ends the job.
 *
 * As soon as a process may be held (it stands, it has breakpoints, it is to be
 * held at exceptions), the agents in the other ranks of its job, here or where
 * we are connected to them, are asked to raise the limits of their groups; once
 * none may be, to restore them. They do that by themselves, too, when we are
 * gone.
 */
#ifndef BACKENDS_TIMEOUT_EXTENSION_H
#define BACKENDS_TIMEOUT_EXTENSION_H

#include <jansson.h>
#include <stdbool.h>
#include <sys/types.h>

struct debugger;
struct node;
struct patience;

struct patience *patience_new(struct node *node);
void patience_free(struct patience *patience);
/* All that is known of a debugger, whenever it changes. */
void patience_hear(struct patience *patience, pid_t pid, const struct debugger *debugger);
/* Whether the agent in it holds exceptions. */
void patience_hear_catch(struct patience *patience, pid_t pid, bool is_on);
/* Whether it is to stop where exceptions are raised, as was asked for. */
void patience_hear_filters(struct patience *patience, pid_t pid, bool has_some);
/* What an agent told of its groups (GET /watchdogs). */
void patience_learn(struct patience *patience, pid_t pid, const json_t *told);
/* An agent can be asked that could not be before. */
void patience_look(struct patience *patience);
/* Its agent did not do what it was asked for, or is late: asked again soon. */
void patience_miss(struct patience *patience, pid_t pid);
/* Its agent knows nothing more of what it was asked for. */
void patience_forget(struct patience *patience, pid_t pid);
/*
 * The process is to be stopped soon: the agents of its job are asked now. The
 * limits stay raised for some seconds, whether it is stopped or not.
 */
void patience_expect(struct patience *patience, pid_t pid);
/* How far that is. */
enum patience_progress {
	PATIENCE_ALONE,	 /* there is no agent, or no group, whose limit helps */
	PATIENCE_ASKED,	 /* an agent has not answered yet */
	PATIENCE_RAISED, /* all that answer have raised theirs; *since: at the
			  * latest on the loop's clock */
};
enum patience_progress patience_progress(const struct patience *patience, pid_t pid, double *since);
/* Its agent has raised the limits of its process. */
bool patience_has_raised(const struct patience *patience, pid_t pid);
/* The least limit that an agent told of the groups of its process; -1: it told
 * none. */
double patience_limit(const struct patience *patience, pid_t pid);
/* What the others wait for this one; -1: not known of all of them. */
double patience_seconds(const struct patience *patience, pid_t pid);

#endif
