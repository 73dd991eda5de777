/*
 * stopped-threads: the threads of a process that stand at a stop of its agent. One of
 * them is shown: the first that stopped, until it goes on. A stop counts once
 * its stack is known.
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
	int64_t id;	   /* the agent's, for this session */
	int64_t reference; /* of its source, where no file has it; 0: none */
};

struct stopped_thread {
	struct stopped_thread *next;
	int64_t thread; /* as the agent calls it */
	pid_t tid;
	int64_t number; /* rises with each stop of the process */
	int64_t heard;	/* which of those that were told of */
	uint64_t count; /* of debugger.h */
	enum stop_reason reason;
	enum stop_event at;
	char *value;
	char *exception;
	char *description;
	int hits[STOP_HITS_MAXIMUM];
	size_t hit_count;
	double since;		   /* the loop's clock */
	double lease;		   /* until then, on that clock; -1: for good */
	bool is_known;		   /* its stack has come */
	struct halt_frame *frames; /* innermost first */
	size_t frame_count;
};

/* The event `stopped`, or an entry of `state`. */
void stopped_threads_take(struct agent *agent, const json_t *body);
/* The event `continued`. */
void stopped_threads_take_continued(struct agent *agent, const json_t *body);
/* Asks which stand, for who may have missed an event. */
void stopped_threads_ask_state(struct agent *agent);
/* The thread has gone on from that stop, or from all (0). */
void stopped_threads_release(struct agent *agent, int64_t thread, int64_t number);
/* None is stopped, as far as is known; no event is sent. */
void stopped_threads_clear(struct agent *agent);
/* Lends; NULL: it does not stand. */
struct stopped_thread *stopped_threads_find(const struct agent *agent, pid_t tid);
/* The one that is shown. */
struct stopped_thread *stopped_threads_shown(const struct agent *agent);
/* That of the request's thread, else the one that is shown; as above. */
struct stopped_thread *stopped_threads_find_asked(const struct agent *agent,
						  const struct message *request);
/* It is held at an uncaught exception: it can be looked at, not stepped. */
bool halt_is_held(const struct stopped_thread *stopped);
/* The same of what the agent tells of a stop. */
bool stopped_threads_tell_of_hold(const json_t *body);
/* Puts what is known into debugger. */
void stopped_threads_describe(struct agent *agent);
/* Puts their stacks into a sample. */
void stopped_threads_amend(struct agent *agent, struct process_sample *sample);

#endif
