/*
 * agent: one connection to the agent of a process (docs/agent-protocol.md), as
 * one of its viewers.
 *
 *	         session             an answer is late
 *	OPENING ---------> OPEN <----------------------> SILENT
 *	 ^    |             |         any answer           |
 *	 |    |             +---- connection lost ---------+
 *	 |    | failed      |
 *	 |    v             v
 *	 +-- WAITING <------+        each state --> OVER: a new try would not help
 *	delay
 *
 * OPENING: sends AGENT_REQUEST_IDENTITY, then AGENT_REQUEST_SESSION. OPEN: one AGENT_REQUEST_EVENTS
 * is pending at the agent at all times. SILENT: like OPEN, with a sentence in debugger.why.
 * WAITING: debugger.why has the reason; each delay is longer than the last. agent.c has all
 * transitions. Each request is sent at once, with a deadline; it does not wait for other requests.
 *
 * The booleans are facts that hold in several states: about the agent (is_read_only, takes_once),
 * the process's Python (has_ended), the role of this connection (is_debugger), the call stack
 * (is_telling).
 */
#ifndef BACKENDS_HTTP_AGENT_H
#define BACKENDS_HTTP_AGENT_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "backends/backend.h"
#include "backends/http/agent-endpoint.h"
#include "protocol/debugger.h"
#include "protocol/message.h"

struct agent;
struct http_transfer;
struct error;
struct stopped_thread;
struct loop_timer;
struct process;
struct round;
struct target;

/* Seconds to wait for an answer, unless the request has its own limit. */
#define AGENT_SECONDS 5.0

enum agent_state {
	AGENT_OPENING,
	AGENT_OPEN,
	AGENT_SILENT,
	AGENT_WAITING,
	AGENT_OVER,
};

struct agent {
	struct connection base;
	struct debugger debugger; /* state as last reported, or to be reported next */
	struct agent_endpoint way;
	enum agent_state state;
	struct loop_timer *retry;   /* timer of the next try; NULL unless WAITING */
	struct loop_timer *pausing; /* timer after a pause request; NULL: none */
	int64_t paused;		    /* thread that is to pause and has not stopped yet; 0: none */
	struct loop_timer *resting; /* timer until the next poll of events; NULL: none */
	double listened;	    /* loop_now() of the last poll of events */
	double delay;		    /* seconds before the next try */
	int64_t inner_pid;	    /* pid in the process's own pid namespace */
	int64_t number;		    /* seq of the last DAP request */
	int sampling;		    /* number of pending samples */
	bool has_ended;		    /* the event `terminated` has arrived: no thread is stopped */
	bool is_read_only;
	bool takes_once;		 /* the agent refuses a request that arrives a second
					  * time */
	bool is_telling;		 /* within agent_tell() */
	bool is_debugger;		 /* the user has connected, or a request needs a
					  * debugger; else the agent only runs code, and no event
					  * names this connection */
	struct agent_request *ejecting;	 /* pending request that removes the agent; NULL: none */
	char *session;			 /* NULL: none */
	int64_t after;			 /* number of the last event received */
	struct agent_request *requests;	 /* pending requests, the newest first */
	struct stopped_thread *stops;	 /* stopped threads, the shown one first */
	int64_t heard;			 /* number of stops reported by the agent */
	uint64_t epoch;			 /* epoch of the newest amended sample */
	json_t *breakpoints;		 /* the last list sent; NULL: none */
	struct round *rounds;		 /* pending lists, the oldest first */
	json_t *counts;			 /* hits by breakpoint id */
	json_t *filters;		 /* requested exception filters; NULL: none */
	struct agent_request *filtering; /* pending request that sets the filters; NULL: none */
};

struct agent *agent_new(struct node *node, const struct process *process,
			const struct target *target, struct error *error);
/* Ends the session, and with it this client's breakpoints and exception filters. */
void agent_free(struct agent *agent);
/* Whether the agent has given a session: the state is OPEN or SILENT. */
bool agent_is_open(const struct agent *agent);
/* Enters WAITING because the agent cannot be reached now; if the process has ended, enters OVER. */
void agent_lose(struct agent *agent, const char *why);
/* Whether the process has exited; always false for a process on another machine. */
bool agent_is_gone(const struct agent *agent);
/* Enters OVER: the connection cannot be used any more. */
void agent_end(struct agent *agent, const char *why);
/* Makes the agent the debugger of its process. Returns false if another connection is the
 * debugger. */
bool agent_become_debugger(struct agent *agent);
/* Emits `debugger`, `stopped` or `continued`, depending on the debugger's state. */
void agent_tell(struct agent *agent);
/* Sets debugger.why, a sentence about the state, and reports it. NULL: clears debugger.why. */
void agent_say_why(struct agent *agent, const char *why);
/* Enters SILENT if an answer was late (is_silent), OPEN if an answer came in time. */
void agent_note_silence(struct agent *agent, bool is_silent);
/* Emits `debugger` whatever the state is; for changes other than stops and resumes. */
void agent_tell_again(struct agent *agent);
/* Returns the tid of a thread, given the agent's number of the thread; 0: unknown. */
pid_t agent_tid(const struct agent *agent, int64_t thread);

/*
 * agent_request: a request to the agent, with a callback for the answer. A request is idle until
 * agent_request_send(); then it waits for a session, is sent, or waits to be sent again.
 */
enum agent_request_kind {
	AGENT_REQUEST_DAP,
	AGENT_REQUEST_PLAIN,	/* another HTTP request than DAP's */
	AGENT_REQUEST_IDENTITY, /* GET /; if a request of this or of the next two kinds fails,
				 * the connection ends */
	AGENT_REQUEST_SESSION,	/* DAP's initialize */
	AGENT_REQUEST_EVENTS,	/* GET /events */
};

/* The cause of the error passed to `done`. */
enum agent_request_failure {
	AGENT_REQUEST_ANSWERED,
	AGENT_REQUEST_LOST,    /* the connection has ended */
	AGENT_REQUEST_LATE,    /* no answer came in time */
	AGENT_REQUEST_REFUSED, /* the agent was busy, or the answer was not valid */
};

struct agent_request {
	struct agent_request *next;
	struct agent *agent;
	struct http_transfer *transfer;
	struct message request; /* request of the screen; name NULL: the answer is not forwarded */
	int64_t number;		/* seq of the DAP request; 0: not sent, or not DAP */
	/* Called once. error NULL: success. body: an object, the body of the answer. */
	void (*done)(struct agent_request *query, json_t *body, const struct error *error);
	/* Data for done: */
	int64_t value;
	json_t *context; /* owned */
	struct round *round;
	enum agent_request_kind kind;
	enum agent_request_failure failure;
	bool is_once; /* the agent serves the request only once, even if it arrives twice */
	/* While the request waits for a session or to be sent again: */
	char *command; /* DAP command, or path of a plain request; NULL: sent, or idle */
	json_t *arguments;
	double seconds;
	/* The sent request, kept for sending it again; NULL: not sent. */
	char *sent_command;
	json_t *sent_arguments;
	double busy_until;	  /* loop_now() until which the request is sent again after
				   * status 503 */
	struct loop_timer *again; /* sends the request again; NULL: none */
};

/* request NULL: the answer is dropped. */
struct agent_request *agent_request_new(struct agent *agent, const struct message *request,
					void (*done)(struct agent_request *query, json_t *body,
						     const struct error *error));
/* Makes a further request to the agent, for the same request of the screen. */
struct agent_request *agent_request_follow(struct agent_request *query,
					   void (*done)(struct agent_request *query, json_t *body,
							const struct error *error));
/* Whether agent_request_send() was not called yet. */
bool agent_request_is_idle(const struct agent_request *query);
/* Sends a DAP request. `done` is called in any case, after which owned_query is freed. */
void agent_request_send(struct agent_request *owned_query, const char *command,
			json_t *owned_arguments, double seconds);
/* Sends a GET or, with owned_body, a POST. The kind AGENT_REQUEST_DAP becomes
 * AGENT_REQUEST_PLAIN. */
void agent_request_send_plain(struct agent_request *owned_query, const char *path,
			      json_t *owned_body, double seconds);
/* Sends the requests that have waited for a session. */
void agent_requests_begin(struct agent *agent);
/* Answers the request of the screen, if there is one. */
void agent_request_respond(struct agent_request *query, json_t *owned_body,
			   const struct error *error);
/* A callback for `done` that answers the request of the screen with an empty body or with the
 * error. */
void agent_request_answer(struct agent_request *query, json_t *body, const struct error *error);
/* Ends the session in the background; takes over the contents of agent->way. */
void agent_request_leave(struct agent *agent);
/* Fails all pending requests. */
void agent_requests_fail(struct agent *agent, const char *why);

/* Starts to poll for events, by one request after the other. */
void agent_listen(struct agent *agent);
/* Whether a poll of events is pending, or will follow after a short rest. */
bool agent_is_listening(const struct agent *agent);

#endif
