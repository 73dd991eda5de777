/*
 * stop-limit: resumes the ranks that a debugger of this node has stopped before
 * a collective that waits for these ranks times out and ends the job.
 *
 * While a rank is stopped, the node reads twice a second when the collectives
 * in flight in all ranks of the job time out (collective-deadline.h). Where no
 * deadline can be read, the time-out that the rank's agent has reported counts,
 * else torch's default. The node resumes the ranks, even if the screen is
 * suspended, busy or gone. stop_limit_set_stay() turns that off.
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
/* Takes the new state of a process's debugger, before its event is sent. */
void stop_limit_hear(struct stop_limit *limit, pid_t pid, const struct debugger *debugger);
/* Adds to the body of a debugger's event: `lease`, the seconds after which the rank
 * is resumed, or the reason and description of this module's resume. */
void stop_limit_amend(struct stop_limit *limit, pid_t pid, const struct debugger *debugger,
		      json_t *body);
/* Learns from each sample whether the main thread is in a collective. */
void stop_limit_sampled(struct stop_limit *limit, const struct process_sample *sample);
/* True: this module resumes no rank. */
void stop_limit_set_stay(struct stop_limit *limit, bool stays);
/* This module does not resume the jobs that have stopped ranks now, until all ranks
 * of a job have run; a step does not end this. */
void stop_limit_stay_once(struct stop_limit *limit);
/* Reports, before a process is stopped, which ranks have time-outs that no
 * agent raises. */
void stop_limit_announce(struct stop_limit *limit, pid_t pid);

#endif
