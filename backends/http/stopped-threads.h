/*
 * stopped-threads: the threads that the agent has stopped in its process. The thread that stopped
 * first is shown until it resumes. A stop is reported as soon as the thread's stack is known.
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
	int64_t reference; /* DAP's sourceReference, for source without a file; 0: none */
};

struct stopped_thread {
	struct stopped_thread *next;
	int64_t thread; /* the agent's threadId */
	pid_t tid;	/* the thread's tid; 0: unknown */
	int64_t number; /* the agent's number of the stop, which rises per process */
	int64_t heard;	/* value of agent->heard after the report of this stop */
	uint64_t count; /* debugger.h's `stops` */
	enum stop_reason reason;
	enum stop_event at;
	char *value;
	char *exception;
	char *description;
	int hits[STOP_HITS_MAXIMUM];
	size_t hit_count;
	double since;		   /* time of the stop, loop_now() */
	double lease;		   /* time when the agent will resume the thread, loop_now(); -1:
				    * never */
	bool is_known;		   /* the stack was received */
	struct halt_frame *frames; /* innermost first */
	size_t frame_count;
};

/* Handles the agent's event `stopped`, or an entry of the answer to `state`. */
void stopped_threads_take(struct agent *agent, const json_t *body);
/* Handles the agent's event `continued`. */
void stopped_threads_take_continued(struct agent *agent, const json_t *body);
/* Asks the agent for all stopped threads, because events may have been lost. */
void stopped_threads_ask_state(struct agent *agent);
/* Removes the thread's stop with this number; number 0: any stop of the thread. */
void stopped_threads_release(struct agent *agent, int64_t thread, int64_t number);
/* Removes all stops without an event. */
void stopped_threads_clear(struct agent *agent);
/* Returns the stop of a thread; NULL: the thread is not stopped, or its stack is not known yet. */
struct stopped_thread *stopped_threads_find(const struct agent *agent, pid_t tid);
/* Returns the shown stop; NULL: none. */
struct stopped_thread *stopped_threads_shown(const struct agent *agent);
/* Returns the stop of the thread "tid" of the request, or the shown stop if the request has no
 * "tid"; NULL: none. */
struct stopped_thread *stopped_threads_find_asked(const struct agent *agent,
						  const struct message *request);
/* Whether the thread is stopped at an uncaught exception, so that it can be inspected but not
 * stepped. */
bool halt_is_held(const struct stopped_thread *stopped);
/* Like halt_is_held(), for the body of an event `stopped`. */
bool stopped_threads_tell_of_hold(const json_t *body);
/* Copies the shown stop into agent->debugger. */
void stopped_threads_describe(struct agent *agent);
/* In a sample: replaces the stacks of the stopped threads by those that the agent has sent. */
void stopped_threads_amend(struct agent *agent, struct process_sample *sample);

#endif
