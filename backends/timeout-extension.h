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
struct timeout_extension;

struct timeout_extension *timeout_extension_new(struct node *node);
void timeout_extension_free(struct timeout_extension *timeout_extension);
/* All that is known of a debugger, whenever it changes. */
void timeout_extension_hear(struct timeout_extension *timeout_extension, pid_t pid,
			    const struct debugger *debugger);
/* Whether the agent in it holds exceptions. */
void timeout_extension_hear_catch(struct timeout_extension *timeout_extension, pid_t pid,
				  bool is_on);
/* Whether it is to stop where exceptions are raised, as was asked for. */
void timeout_extension_hear_filters(struct timeout_extension *timeout_extension, pid_t pid,
				    bool has_some);
/* What an agent told of its groups (GET /watchdogs). */
void timeout_extension_learn(struct timeout_extension *timeout_extension, pid_t pid,
			     const json_t *told);
/* An agent can be asked that could not be before. */
void timeout_extension_look(struct timeout_extension *timeout_extension);
/* Its agent did not do what it was asked for, or is late: asked again soon. */
void timeout_extension_miss(struct timeout_extension *timeout_extension, pid_t pid);
/* Its agent knows nothing more of what it was asked for. */
void timeout_extension_forget(struct timeout_extension *timeout_extension, pid_t pid);
/*
 * The process is to be stopped soon: the agents of its job are asked now. The
 * limits stay raised for some seconds, whether it is stopped or not.
 */
void timeout_extension_expect(struct timeout_extension *timeout_extension, pid_t pid);
/* How far that is. */
enum timeout_extension_progress {
	TIMEOUT_EXTENSION_ALONE,  /* there is no agent, or no group, whose limit helps */
	TIMEOUT_EXTENSION_ASKED,  /* an agent has not answered yet */
	TIMEOUT_EXTENSION_RAISED, /* all that answer have raised theirs; *since: at the
				   * latest on the loop's clock */
};
enum timeout_extension_progress
timeout_extension_progress(const struct timeout_extension *timeout_extension, pid_t pid,
			   double *since);
/* Its agent has raised the limits of its process. */
bool timeout_extension_has_raised(const struct timeout_extension *timeout_extension, pid_t pid);
/* The least limit that an agent told of the groups of its process; -1: it told
 * none. */
double timeout_extension_limit(const struct timeout_extension *timeout_extension, pid_t pid);
/* What the others wait for this one; -1: not known of all of them. */
double timeout_extension_seconds(const struct timeout_extension *timeout_extension, pid_t pid);

#endif
