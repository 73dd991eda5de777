/*
 * request: one request to a node, and the function that is called with the answer.
 *
 * A request ends once: with the node's answer, with an error when the node is gone, or by
 * request_cancel(), which does not call done(). The engine calls done() in the order of the
 * answers, after the whole batch of messages was applied to the session, and never from within
 * request_start(). The engine owns a request until done() returns; done() may send and cancel
 * requests, and must not run the loop.
 *
 * Without done() the answer is kept for request_take(): a shell command waits for it (request_wait,
 * request_call). A screen never waits.
 */
#ifndef ENGINE_REQUEST_H
#define ENGINE_REQUEST_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct engine;
struct error;
struct loop_timer;
struct message;
struct request;
struct request_group;

/*
 * The node that runs on this machine: it starts jobs, and connects to the addresses of debuggers.
 */
#define LOCAL_NODE 0

/* Error of a request that was not answered in time; %g: the seconds waited. */
#define REQUEST_LATE "no answer within %g s: try a longer --timeout"

/*
 * body and error are borrowed. Success: error is NULL, body is set. Failure: error is a sentence,
 * body is the data that the node sent with the error, or NULL.
 */
typedef void request_done(struct engine *engine, json_t *body, const char *error, void *data);

/* The engine's requests. */
struct requests {
	struct request **open; /* requests without an answer, by rising seq */
	size_t open_count;
	size_t open_capacity;
	struct request **ended; /* requests whose done() must be called, in this order */
	size_t ended_count;
	size_t ended_capacity;
	struct loop_timer *timer; /* calls done() of requests that ended without a message; NULL:
				   * there are none */
	int64_t seq;		  /* sequence number of the last request */
};

/*
 * Sends a request to the node session.nodes[node]. Never returns NULL: if the node is gone, the
 * request ends with an error.
 */
struct request *request_start(struct engine *engine, size_t node, const char *command,
			      json_t *owned_arguments, request_done *done, void *data);
/* Drops the request and its answer; done() is not called. request may be NULL. */
void request_cancel(struct engine *engine, struct request *request);
bool request_is_answered(const struct request *request);
/* The request's `seq` in the protocol; 0: there was no node to send to. */
int64_t request_seq(const struct request *request);

/* Runs the loop until the answer has come, at most `seconds` seconds. */
void request_wait(struct engine *engine, const struct request *request, double seconds);
/*
 * Takes the answer and frees the request. Returns a new reference to the answer's body; NULL and
 * *error if the request failed or was not answered. error may be NULL.
 */
json_t *request_take(struct engine *engine, struct request *owned_request, struct error *error);
/* Sends a request, waits settings.timeout seconds at most, and returns request_take(). */
json_t *request_call(struct engine *engine, size_t node, const char *command,
		     json_t *owned_arguments, struct error *error);
/*
 * Sends a request without waiting for an answer, which only the session takes. Returns false if the
 * node is gone.
 */
bool request_post(struct engine *engine, size_t node, const char *command, json_t *owned_arguments);
/* request_post() to every node; each node's arguments are owned_arguments. */
void request_post_all(struct engine *engine, const char *command, json_t *owned_arguments);

/* Time limit of a node for a request whose command waits `seconds` seconds. */
double request_limit(double seconds);
/* In a shell: sets the argument `timeout` to request_limit(seconds). Does nothing on a screen. */
void request_set_timeout(json_t *arguments, const struct engine *engine, double seconds);

/* The functions below are for the engine only. */
/* Takes a message of the node: ends the request that the message answers. */
void requests_answer(struct engine *engine, size_t node, const struct message *message);
/* Calls done() for all requests that have ended. */
void requests_complete(struct engine *engine);
/* Ends all open requests to the node with the error why: the node is gone, or does not answer. */
void requests_lose(struct engine *engine, size_t node, const char *why);
/* True if done() must still be called for some requests. */
bool requests_are_ended(const struct engine *engine);
/* Frees all requests; done() is not called. */
void requests_clear(struct engine *engine);

/*
 * request_group: requests to several ranks that belong together. answered() is called for each
 * answer, done() after the last answer. Without answered() the answers are kept for
 * request_group_take(), in the order of the requests.
 *
 * answered() may add requests; done() is then called after their answers; answered() must not free
 * the group. done() may free the group, or add further requests: it is then called again after
 * their answers. request_group_add() calls neither answered() nor done().
 */

struct group_answer {
	int rank;     /* as passed to request_group_add() */
	void *tag;    /* as passed to request_group_add(); freed after answered() */
	json_t *body; /* as passed to request_done() */
	const char *error;
	bool is_late; /* no answer came in time; error is set */
};

typedef void group_answered(struct engine *engine, const struct group_answer *answer, void *data);
typedef void group_done(struct engine *engine, void *data);

/* answered and done may be NULL. */
struct request_group *request_group_new(struct engine *engine, group_answered *answered,
					group_done *done, void *data);
/* Cancels the open requests. group may be NULL. */
void request_group_free(struct request_group *group);
/*
 * Adds a request; the group owns owned_tag and free()s it after the answer. owned_tag may be NULL.
 */
void request_group_add(struct request_group *group, size_t node, int rank, const char *command,
		       json_t *owned_arguments, void *owned_tag);
/* Number of requests without an answer. */
size_t request_group_open_count(const struct request_group *group);
/* Number of requests whose answer was not taken yet; with answered(), number of open requests. */
size_t request_group_count(const struct request_group *group);
/* Rank of request i of these (request_group_count()), from 0. */
int request_group_rank(const struct request_group *group, size_t i);
/*
 * In a shell: runs the loop until all requests are answered, at most `seconds` seconds; then ends
 * the open requests with an error. Calls answered() and done().
 */
void request_group_wait(struct request_group *group, double seconds);
/* Ends all open requests with this error. done() is called and may free the group. */
void request_group_expire(struct request_group *group, const char *error);
/*
 * Sets *answer to the next kept answer, borrowed until the group is freed. Returns false if all
 * answers were taken.
 */
bool request_group_take(struct request_group *group, struct group_answer *answer);

#endif
