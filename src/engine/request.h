/*
 * request: one question to a node, and the function that is called with the
 * answer.
 *
 * A request ends once: with the node's answer, with an error when the node is
 * gone, or without a call by request_cancel(). The engine calls done() after
 * the batch of messages in which the answer came is applied to the session,
 * in the order of the answers, never from within request_start(). The engine
 * owns a request until then; done() may send and cancel requests, and does not
 * run the loop.
 *
 * Without done() the answer is kept for request_take(): a shell command waits
 * for it (request_wait, request_call). A screen never waits.
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

/* A sentence with the seconds that were waited. */
#define REQUEST_LATE "no answer came within %g s; --timeout SECONDS waits longer"

/*
 * body and error are borrowed. error: NULL on success, and then there is a
 * body; after a failure body is what the node sent beside the sentence, or
 * NULL.
 */
typedef void request_done(struct engine *engine, json_t *body, const char *error, void *data);

/* Part of the engine. */
struct requests {
	struct request **open; /* by rising seq: no answer has come */
	size_t open_count;
	size_t open_capacity;
	struct request **ended; /* done() is to be called, in this order */
	size_t ended_count;
	size_t ended_capacity;
	struct loop_timer *timer; /* calls done() where no batch will; NULL: not needed */
	int64_t seq;		  /* of the last request */
};

/* Never NULL. Without a node the request ends with an error. */
struct request *request_start(struct engine *engine, const char *command, json_t *owned_arguments,
			      request_done *done, void *data);
/* Drops the request and its answer; done() is not called. NULL is fine. */
void request_cancel(struct engine *engine, struct request *request);
bool request_is_answered(const struct request *request);
/* Sequence number in the protocol; 0: no node could be asked. */
int64_t request_seq(const struct request *request);

/* Runs the loop until the answer has come, seconds at most. */
void request_wait(struct engine *engine, const struct request *request, double seconds);
/*
 * Takes the answer and frees the request: a new reference, or NULL and error
 * when the request failed or no answer came. error may be NULL.
 */
json_t *request_take(struct engine *engine, struct request *owned_request, struct error *error);
/* Sends, waits for settings.timeout, takes. */
json_t *request_call(struct engine *engine, const char *command, json_t *owned_arguments,
		     struct error *error);
/* Sends a request whose answer only the session takes; false: no node is there. */
bool request_post(struct engine *engine, const char *command, json_t *owned_arguments);

/* How long a node may take over a request for which a command waits so many seconds. */
double request_limit(double seconds);
/* The same as argument `timeout`, in a shell; a screen sets no limit. */
void request_set_timeout(json_t *arguments, const struct engine *engine, double seconds);

/* For the engine: */
void requests_answer(struct engine *engine, const struct message *message);
/* Calls done() for the requests that have ended. */
void requests_complete(struct engine *engine);
/* The node is gone: all open requests end. */
void requests_lose(struct engine *engine);
/* done() is still to be called for some. */
bool requests_are_ended(const struct engine *engine);
/* Calls nobody. */
void requests_clear(struct engine *engine);

#endif
