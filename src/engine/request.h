/*
 * request: one request to a node, and the function that is called with the answer.
 *
 * A request ends once: with the node's answer, with an error when the node is gone, or without a
 * call by request_cancel(). The engine calls done() after the batch of messages that contains the
 * answer was applied to the session, in the order of the answers, never from within
 * request_start(). The engine owns a request until then; done() may send and cancel requests, and
 * must not run the loop.
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

/* Error of a late request; %g: the seconds waited. */
#define REQUEST_LATE "no answer within %g s: try a longer --timeout"

/*
 * body and error are borrowed. Success: error is NULL, body is set. Failure: error is a sentence,
 * body is the data that the node sent with it, or NULL.
 */
typedef void request_done(struct engine *engine, json_t *body, const char *error, void *data);

/* Part of the engine. */
struct requests {
	struct request **open; /* requests without an answer, by rising seq */
	size_t open_count;
	size_t open_capacity;
	struct request **ended; /* requests whose done() must be called, in this order */
	size_t ended_count;
	size_t ended_capacity;
	struct loop_timer *timer; /* calls done() if no batch of messages will; NULL: not needed */
	int64_t seq;		  /* sequence number of the last request */
};

/* Never returns NULL. Without a node the request ends with an error. */
struct request *request_start(struct engine *engine, const char *command, json_t *owned_arguments,
			      request_done *done, void *data);
/* Drops the request and its answer; done() is not called. request may be NULL. */
void request_cancel(struct engine *engine, struct request *request);
bool request_is_answered(const struct request *request);
/* Sequence number in the protocol; 0: there was no node to send to. */
int64_t request_seq(const struct request *request);

/* Runs the loop until the answer has come, at most for seconds. */
void request_wait(struct engine *engine, const struct request *request, double seconds);
/*
 * Takes the answer and frees the request: a new reference, or NULL and error
 * when the request failed or no answer came. error may be NULL.
 */
json_t *request_take(struct engine *engine, struct request *owned_request, struct error *error);
/* Sends a request, waits settings.timeout seconds at most, and takes the answer: request_take(). */
json_t *request_call(struct engine *engine, const char *command, json_t *owned_arguments,
		     struct error *error);
/* Sends a request whose answer only the session takes; false: there is no node. */
bool request_post(struct engine *engine, const char *command, json_t *owned_arguments);

/* Seconds that a node may take for a request if a command waits that many seconds. */
double request_limit(double seconds);
/* In a shell sets argument `timeout` to request_limit(seconds); a screen sets no limit. */
void request_set_timeout(json_t *arguments, const struct engine *engine, double seconds);

/* For the engine: */
void requests_answer(struct engine *engine, const struct message *message);
/* Calls done() for all requests that have ended. */
void requests_complete(struct engine *engine);
/* Ends all open requests with an error: the node is gone. */
void requests_lose(struct engine *engine);
/* True if done() must still be called for some requests. */
bool requests_are_ended(const struct engine *engine);
/* Frees all requests; done() is not called. */
void requests_clear(struct engine *engine);

/*
 * request_group: requests to several ranks that belong together, and two functions: answered() is
 * called for each answer, done() after the last answer. Without answered() the answers are kept for
 * request_group_take(), in the order of the requests.
 *
 * answered() may add requests; done() is then called after their answers; answered() must not free
 * the group. done() may free the group, or add requests for another round. Neither is called from
 * within request_group_add().
 */

struct group_answer {
	int rank;     /* as passed to request_group_add() */
	void *tag;    /* as passed to request_group_add(); freed after answered() */
	json_t *body; /* as passed to request_done() */
	const char *error;
	bool is_late; /* no answer came in time; error says so */
};

typedef void group_answered(struct engine *engine, const struct group_answer *answer, void *data);
typedef void group_done(struct engine *engine, void *data);

/* answered and done may be NULL. */
struct request_group *request_group_new(struct engine *engine, group_answered *answered,
					group_done *done, void *data);
/* Cancels the open requests. group may be NULL. */
void request_group_free(struct request_group *group);
/* owned_tag: free()d with the request; may be NULL. */
void request_group_add(struct request_group *group, int rank, const char *command,
		       json_t *owned_arguments, void *owned_tag);
/* Number of requests without an answer. */
size_t request_group_open_count(const struct request_group *group);
/* Number of requests that were not taken; with answered(), of the open ones. */
size_t request_group_count(const struct request_group *group);
/* Rank of request i of these, from 0. */
int request_group_rank(const struct request_group *group, size_t i);
/*
 * Shell: runs the loop until all requests are answered, or seconds are over. Late requests are then
 * answered with an error. Calls answered() and done().
 */
void request_group_wait(struct request_group *group, double seconds);
/* Answers all open requests with this error now. done() may free the group. */
void request_group_expire(struct request_group *group, const char *error);
/* The next kept answer, borrowed until the group is freed; false: all answers were taken. */
bool request_group_take(struct request_group *group, struct group_answer *answer);

#endif
