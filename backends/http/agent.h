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
 * OPENING sends AGENT_REQUEST_IDENTITY, then AGENT_REQUEST_SESSION. OPEN: one
 * AGENT_REQUEST_EVENTS waits at the agent at all times. SILENT is OPEN with a
 * sentence in debugger.why. WAITING: debugger.why says why; each delay is longer
 * than the last. agent.c has all transitions. Requests are sent as they come,
 * each with a deadline, and never wait for each other here.
 *
 * Booleans are facts that hold in several states: is_read_only and takes_once
 * of the agent, has_ended of the process's Python, is_debugger of the role of
 * this connection, is_telling of the call stack.
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

/* An answer, unless a request says how long. */
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
	struct debugger debugger; /* as it was told, or will be next */
	struct agent_endpoint way;
	enum agent_state state;
	struct loop_timer *retry;   /* WAITING */
	struct loop_timer *pausing; /* it was asked to stand; NULL */
	int64_t paused;		    /* a thread that is to stop and did not yet; 0: none */
	struct loop_timer *resting; /* before it is listened to again; NULL */
	double listened;	    /* since then, on the loop's clock */
	double delay;		    /* before the next try */
	int64_t inner_pid;	    /* of the process, as it knows itself */
	int64_t number;		    /* of the last DAP request */
	int sampling;		    /* samples that are asked for */
	bool has_ended;		    /* the event `terminated` came: no thread is stopped */
	bool is_read_only;
	bool takes_once;		 /* the agent refuses a request that comes twice */
	bool is_telling;		 /* within agent_tell() */
	bool is_debugger;		 /* connected to, or asked to debug; else the agent only
					  * runs code, and no event names this connection */
	struct agent_request *ejecting;	 /* that takes the agent out of the process; NULL: none */
	char *session;			 /* NULL: none */
	int64_t after;			 /* the last event that was taken */
	struct agent_request *requests;	 /* what is under way */
	struct stopped_thread *stops;	 /* threads that stand, the one shown first */
	int64_t heard;			 /* so many stops were told of */
	uint64_t epoch;			 /* of the newest sample that they were put into */
	json_t *breakpoints;		 /* wanted; NULL: none were */
	struct round *rounds;		 /* lists of them under way, the oldest first */
	json_t *counts;			 /* of stops, by a breakpoint's number */
	json_t *filters;		 /* of exceptions, wanted; NULL: none were */
	struct agent_request *filtering; /* that sets them now; NULL: none does */
};

struct agent *agent_new(struct node *node, const struct process *process,
			const struct target *target, struct error *error);
/* Leaves its session, which ends what is ours there. */
void agent_free(struct agent *agent);
/* OPEN or SILENT: the agent has given a session. */
bool agent_is_open(const struct agent *agent);
/* The agent cannot be reached now: WAITING, or OVER if the process has ended. */
void agent_lose(struct agent *agent, const char *why);
/* Its process has ended, as far as is known: never of one elsewhere. */
bool agent_is_gone(const struct agent *agent);
/* OVER. */
void agent_end(struct agent *agent, const char *why);
/* From now on it is the debugger of its process; false: another one is. */
bool agent_become_debugger(struct agent *agent);
/* Tells `debugger`, `stopped` or `continued`. */
void agent_tell(struct agent *agent);
/* A sentence about its state, until that changes. */
void agent_say_why(struct agent *agent, const char *why);
/* An answer was late (SILENT), or came in time (OPEN). */
void agent_note_silence(struct agent *agent, bool is_silent);
/* The same as `debugger`: it stands where it stood. */
void agent_tell_again(struct agent *agent);
/* What the agent calls a thread, and what we do; 0: it is not known. */
pid_t agent_tid(const struct agent *agent, int64_t thread);

/*
 * agent_request: a request to the agent, and the function for the answer. A
 * request is idle until agent_request_send(), waits for a session, is under way,
 * or waits to be sent again.
 */
enum agent_request_kind {
	AGENT_REQUEST_DAP,
	AGENT_REQUEST_PLAIN,	/* an HTTP request that is no DAP */
	AGENT_REQUEST_IDENTITY, /* plain; these three make the connection */
	AGENT_REQUEST_SESSION,	/* DAP's initialize */
	AGENT_REQUEST_EVENTS,
};

/* Why `done` has an error, where the agent did not say so. */
enum agent_request_failure {
	AGENT_REQUEST_ANSWERED,
	AGENT_REQUEST_LOST,    /* the connection has ended */
	AGENT_REQUEST_LATE,    /* no answer came in time */
	AGENT_REQUEST_REFUSED, /* the answer was none to the request */
};

struct agent_request {
	struct agent_request *next;
	struct agent *agent;
	struct http_transfer *transfer;
	struct message request; /* of the screen; name NULL: no answer is due */
	int64_t number;		/* seq of the DAP request; 0: not sent, or no DAP */
	/* Called once. error NULL: success. body: an object, of the answer. */
	void (*done)(struct agent_request *query, json_t *body, const struct error *error);
	/* Whatever done needs: */
	int64_t value;
	json_t *context; /* owned */
	struct round *round;
	enum agent_request_kind kind;
	enum agent_request_failure failure;
	bool is_once; /* the agent takes the request once, however often it comes */
	/* Not sent yet, as there is no session, or it is sent again soon: */
	char *command; /* of DAP, or the path of a plain one; NULL: sent, or idle */
	json_t *arguments;
	double seconds;
	/* What was sent, as long as it may be sent again; NULL: it may not. */
	char *sent_command;
	json_t *sent_arguments;
	double busy_until;	  /* on the loop's clock: until then the agent may be busy */
	struct loop_timer *again; /* NULL: it is under way */
};

/* request NULL: the answer is dropped. */
struct agent_request *agent_request_new(struct agent *agent, const struct message *request,
					void (*done)(struct agent_request *query, json_t *body,
						     const struct error *error));
/* A second request to the agent for the same request of the screen. */
struct agent_request *agent_request_follow(struct agent_request *query,
					   void (*done)(struct agent_request *query, json_t *body,
							const struct error *error));
/* agent_request_send() was not called. */
bool agent_request_is_idle(const struct agent_request *query);
/* Sends a DAP request; owned_query is answered in any case. */
void agent_request_send(struct agent_request *owned_query, const char *command,
			json_t *owned_arguments, double seconds);
/* Sends a GET, or where there is a body a POST: AGENT_REQUEST_DAP becomes AGENT_REQUEST_PLAIN. */
void agent_request_send_plain(struct agent_request *owned_query, const char *path,
			      json_t *owned_body, double seconds);
/* Sends the requests that waited for a session. */
void agent_requests_begin(struct agent *agent);
/* Answers the request of the screen, if any. */
void agent_request_respond(struct agent_request *query, json_t *owned_body,
			   const struct error *error);
/* For `done`: answers with an empty body, or the sentence. */
void agent_request_answer(struct agent_request *query, json_t *body, const struct error *error);
/* Ends the session in the background; takes agent->way. */
void agent_request_leave(struct agent *agent);
/* Fails all requests. */
void agent_requests_fail(struct agent *agent, const char *why);

/* agent-events.c: waits for events from now on, one request after the other. */
void agent_listen(struct agent *agent);
bool agent_is_listening(const struct agent *agent);

#endif
