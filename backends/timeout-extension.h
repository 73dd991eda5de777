/*
 * timeout-extension: raises the time-outs of the process groups of a job while a
 * debugger of this node stops one of its ranks.
 *
 * As soon as a process may be stopped (it is stopped, has breakpoints, or is to stop at
 * exceptions), the agents in all ranks of its job, on this machine or connected by HTTP, are asked
 * to raise the time-outs of their process groups. When no process of the job may be stopped any
 * more, the agents are asked to restore the time-outs. An agent also restores them by itself when
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
/* Called with the new state of a process's debugger whenever the state changes. */
void timeout_extension_hear(struct timeout_extension *timeout_extension, pid_t pid,
			    const struct debugger *debugger);
/* Called when the process's agent begins (is_on) or ceases to stop at uncaught exceptions. */
void timeout_extension_hear_catch(struct timeout_extension *timeout_extension, pid_t pid,
				  bool is_on);
/* Called when a request has set (has_some) or removed the filters by which the process stops where
 * exceptions are raised. */
void timeout_extension_hear_filters(struct timeout_extension *timeout_extension, pid_t pid,
				    bool has_some);
/* Called with an agent's report of its process groups (the answer to GET /watchdogs). */
void timeout_extension_learn(struct timeout_extension *timeout_extension, pid_t pid,
			     const json_t *told);
/* Asks the agents in the next turn of the loop. To be called when an agent that could not be asked
 * before may have become available. */
void timeout_extension_look(struct timeout_extension *timeout_extension);
/* Called when the process's agent has failed or is late: the agent is asked again after 2 s. */
void timeout_extension_miss(struct timeout_extension *timeout_extension, pid_t pid);
/* Called when the session with the process's agent has ended: forgets the agent's state. */
void timeout_extension_forget(struct timeout_extension *timeout_extension, pid_t pid);
/*
 * Called when the process will be stopped soon: asks the agents of its job now. The time-outs stay
 * raised for 10 s, even if the process is not stopped.
 */
void timeout_extension_expect(struct timeout_extension *timeout_extension, pid_t pid);
/* How far the agents of a job have got with raising the time-outs. */
enum timeout_extension_progress {
	TIMEOUT_EXTENSION_ALONE,  /* no agent has been asked, or none has groups */
	TIMEOUT_EXTENSION_ASKED,  /* an agent has not answered yet */
	TIMEOUT_EXTENSION_RAISED, /* all agents that answer have raised the time-outs; *since:
				   * time of the last raise, loop_now() */
};
enum timeout_extension_progress
timeout_extension_progress(const struct timeout_extension *timeout_extension, pid_t pid,
			   double *since);
/* Whether the process's agent has raised the time-outs of its groups. */
bool timeout_extension_has_raised(const struct timeout_extension *timeout_extension, pid_t pid);
/* Returns the shortest time-out that the process's agent has reported, in seconds; -1:
 * none was reported. */
double timeout_extension_limit(const struct timeout_extension *timeout_extension, pid_t pid);
/* Returns the shortest time-out of the job's other ranks, in seconds; -1: the time-out of at least
 * one of them is unknown. */
double timeout_extension_seconds(const struct timeout_extension *timeout_extension, pid_t pid);

#endif
