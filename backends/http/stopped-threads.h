/*
 * stopped-threads: the threads of a process that its agent has stopped. One of them is
 * shown: the first that stopped, until it resumes. A stop is reported when its stack is
 * known.
 */
#ifndef BACKENDS_HTTP_STOPPED_THREADS_H
#define BACKENDS_HTTP_STOPPED_THREADS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "protocol/debugger.h"
#include "protocol/stack.h"

struct agent;
struct message;
struct process_sample;

struct halt_frame {
	struct code code;
	int line;
	int64_t id;	   /* DAP's frameId, valid in this session */
	int64_t reference; /* DAP's sourceReference of a source without file; 0: none */
};

struct stopped_thread {
	struct stopped_thread *next;
	int64_t thread; /* the agent's threadId */
	pid_t tid;	/* 0: unknown */
	int64_t number; /* the agent's number of the stop, rising per process */
	int64_t heard;	/* agent->heard after this stop was reported */
	uint64_t count; /* `stops` of debugger.h */
	enum stop_reason reason;
	enum stop_event at;
	char *value;
	char *exception;
	char *description;
	int hits[STOP_HITS_MAXIMUM];
	size_t hit_count;
	double since;		   /* time of the stop, loop_now() */
	double lease;		   /* time when the agent resumes it, loop_now(); -1: never */
	bool is_known;		   /* the stack was received */
	struct halt_frame *frames; /* innermost first */
	size_t frame_count;
};

/* Handles the event `stopped`, or an entry of the answer to `state`. */
void stopped_threads_take(struct agent *agent, const json_t *body);
/* Handles the event `continued`. */
void stopped_threads_take_continued(struct agent *agent, const json_t *body);
/* Asks the agent for all stopped threads: events may have been lost. */
void stopped_threads_ask_state(struct agent *agent);
/* Removes the thread's stop with this number; number 0: any stop of the thread. */
void stopped_threads_release(struct agent *agent, int64_t thread, int64_t number);
/* Removes all stops without an event. */
void stopped_threads_clear(struct agent *agent);
/* Returns the stop of a thread; NULL: not stopped, or its stack is not known yet. */
struct stopped_thread *stopped_threads_find(const struct agent *agent, pid_t tid);
/* Returns the shown stop; NULL: none. */
struct stopped_thread *stopped_threads_shown(const struct agent *agent);
/* Returns the stop of the request's "tid", without one the shown stop; NULL: none. */
struct stopped_thread *stopped_threads_find_asked(const struct agent *agent,
						  const struct message *request);
/* Whether the thread is stopped at an uncaught exception: it can be inspected, not stepped. */
bool halt_is_held(const struct stopped_thread *stopped);
/* halt_is_held() for the body of a `stopped` event. */
bool stopped_threads_tell_of_hold(const json_t *body);
/* Copies the shown stop into agent->debugger. */
void stopped_threads_describe(struct agent *agent);
/* Replaces the stacks of the stopped threads in a sample. */
void stopped_threads_amend(struct agent *agent, struct process_sample *sample);

#endif
