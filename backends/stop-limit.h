/*
 * stop-limit: resumes the ranks that a debugger of this node has stopped before
 * a collective that waits for these ranks times out and ends the job.
 *
 * While a rank is stopped, the node reads twice a second when the collectives
 * in flight in all ranks of the job time out (collective-deadline.h). Where no deadline
 * can be read, the limit that the rank's agent has reported counts, else
 * torch's default. The node resumes the ranks, so a screen that is suspended,
 * busy or gone makes no difference. stop_limit_set_stay() turns that off.
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
/* The new state of a process's debugger, before its event is sent. */
void stop_limit_hear(struct stop_limit *limit, pid_t pid, const struct debugger *debugger);
/* Adds to the body of a debugger's event: `lease`, after which the rank is
 * resumed, or the reason and description of such a resume. */
void stop_limit_amend(struct stop_limit *limit, pid_t pid, const struct debugger *debugger,
		      json_t *body);
/* Learns from each sample whether the main thread is in a collective. */
void stop_limit_sampled(struct stop_limit *limit, const struct process_sample *sample);
/* True: no rank is resumed by this module. */
void stop_limit_set_stay(struct stop_limit *limit, bool stays);
/* The ranks that are stopped now, and what is stopped beside them or by their
 * steps, are not resumed by this module before all of them have run. */
void stop_limit_stay_once(struct stop_limit *limit);
/* Reports, before a process is stopped, which ranks have time-outs that no
 * agent raises. */
void stop_limit_announce(struct stop_limit *limit, pid_t pid);

#endif
