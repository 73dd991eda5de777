/*
 * stop-limit: ranks that a debugger of this node has stopped are resumed before a collective that
 * waits for these ranks times out and thereby ends the job.
 *
 * While a rank is stopped, the node reads twice a second when the collectives in flight in all
 * ranks of the job time out (collective-deadline.h). Where no deadline can be read, the time-out
 * that the rank's agent has reported is assumed, else torch's default time-out. The node resumes
 * the ranks even if the screen is suspended, busy or gone. stop_limit_set_stay() turns this module
 * off.
 */
#ifndef BACKENDS_STOP_LIMIT_H
#define BACKENDS_STOP_LIMIT_H

#include <jansson.h>
#include <stdbool.h>
#include <sys/types.h>

struct debugger;
struct stop_limit;
struct node;
struct process_sample;

struct stop_limit *stop_limit_new(struct node *node);
void stop_limit_free(struct stop_limit *limit);
/* Called with each new state of a process's debugger, before the event with that state is sent. */
void stop_limit_hear(struct stop_limit *limit, pid_t pid, const struct debugger *debugger);
/* Adds to the body of a debugger's event: for a stopped rank `lease`, the seconds until this module
 * resumes it; for a rank that this module has resumed, the reason and a description. */
void stop_limit_amend(struct stop_limit *limit, pid_t pid, const struct debugger *debugger,
		      json_t *body);
/* Called with each sample, whose stack shows whether the main thread is in a collective. */
void stop_limit_sampled(struct stop_limit *limit, const struct process_sample *sample);
/* stays: this module resumes no rank until it is set to false again. */
void stop_limit_set_stay(struct stop_limit *limit, bool stays);
/* For each job that has stopped ranks now: this module resumes none of its ranks until all of them
 * have been resumed. A step does not count as a resume. */
void stop_limit_stay_once(struct stop_limit *limit);
/* Called before a process is stopped: reports which ranks of its job have time-outs that no agent
 * raises. */
void stop_limit_announce(struct stop_limit *limit, pid_t pid);

#endif
