/*
 * timeout-extension: raises the time-outs of the process groups of a job while a
 * debugger of this node stops one of its ranks.
 *
 * As soon as a process may be stopped (it is stopped, has breakpoints, or is to
 * stop at exceptions), the agents in all ranks of its job, here or connected by
 * HTTP, are asked to raise the time-outs of their groups; when no process may be
 * stopped any more, to restore them. An agent also restores them by itself when
 * the node is gone.
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
/* Takes the state of a process's debugger, whenever it changes. */
void timeout_extension_hear(struct timeout_extension *timeout_extension, pid_t pid,
			    const struct debugger *debugger);
/* Takes whether the process's agent stops at uncaught exceptions. */
void timeout_extension_hear_catch(struct timeout_extension *timeout_extension, pid_t pid,
				  bool is_on);
/* Takes whether a request has made the process stop where exceptions are raised. */
void timeout_extension_hear_filters(struct timeout_extension *timeout_extension, pid_t pid,
				    bool has_some);
/* Takes an agent's report of its groups (GET /watchdogs). */
void timeout_extension_learn(struct timeout_extension *timeout_extension, pid_t pid,
			     const json_t *told);
/* Asks the agents soon; called when an agent can be asked that could not be before. */
void timeout_extension_look(struct timeout_extension *timeout_extension);
/* The process's agent has failed or is late: it is asked again after 2 s. */
void timeout_extension_miss(struct timeout_extension *timeout_extension, pid_t pid);
/* The session with the process's agent has ended: forgets what the agent was asked. */
void timeout_extension_forget(struct timeout_extension *timeout_extension, pid_t pid);
/*
 * The process will be stopped soon: asks the agents of its job now. The time-outs
 * stay raised for 10 s, even if the process is not stopped.
 */
void timeout_extension_expect(struct timeout_extension *timeout_extension, pid_t pid);
/* How far the agents of a job are in raising the time-outs. */
enum timeout_extension_progress {
	TIMEOUT_EXTENSION_ALONE,  /* no agent has been asked, or none has groups */
	TIMEOUT_EXTENSION_ASKED,  /* an agent has not answered yet */
	TIMEOUT_EXTENSION_RAISED, /* all agents that answer have raised them; *since: when the
				   * last one did, loop_now() */
};
enum timeout_extension_progress
timeout_extension_progress(const struct timeout_extension *timeout_extension, pid_t pid,
			   double *since);
/* Whether the process's agent has raised the time-outs of its groups. */
bool timeout_extension_has_raised(const struct timeout_extension *timeout_extension, pid_t pid);
/* Returns the shortest time-out that the process's agent has reported, in seconds; -1:
 * none was reported. */
double timeout_extension_limit(const struct timeout_extension *timeout_extension, pid_t pid);
/* Returns the shortest time-out of the job's other ranks, in seconds; -1: not known of all. */
double timeout_extension_seconds(const struct timeout_extension *timeout_extension, pid_t pid);

#endif
