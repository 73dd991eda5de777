/*
 * agent-messages: what an agent answers, as bytes, read. It may be anybody's: nothing
 * of it is believed but its shape, and texts have no NUL afterwards.
 */
#ifndef BACKENDS_HTTP_AGENT_MESSAGES_H
#define BACKENDS_HTTP_AGENT_MESSAGES_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

struct error;

#define REPLY_MAXIMUM (9u << 20) /* bytes: the agent's are 8 MB at most */
#define REPLY_EVENTS_MAXIMUM 1000

enum reply_kind {
	REPLY_DONE,
	REPLY_FAILED,  /* it did not do it; the sentence is its own */
	REPLY_REFUSED, /* it does not talk to us (400, 401, 403) */
	REPLY_OVER,    /* it does not know the session (any more) */
	REPLY_BUSY,    /* not now (503) */
	REPLY_SENSELESS,
};

struct reply {
	enum reply_kind kind;
	json_t *body; /* an object, but of REPLY_SENSELESS may be NULL */
};

/* An answer to a DAP request. Fills error but of REPLY_DONE. */
void reply_read(struct reply *reply, int status, const char *bytes, size_t length,
		struct error *error);
/* An answer to anything else: all of the object is the body. */
void reply_read_plain(struct reply *reply, int status, const char *bytes, size_t length,
		      struct error *error);
/*
 * What /events says: the events, a list of objects with "event" and "body"
 * each an object, owned, and the number to ask for next. Else as above.
 */
void reply_read_events(struct reply *reply, int status, const char *bytes, size_t length,
		       json_t **owned_events, int64_t *next, struct error *error);
void reply_clear(struct reply *reply);

#endif
