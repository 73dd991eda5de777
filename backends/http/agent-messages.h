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

#define AGENT_MESSAGE_MAXIMUM (9u << 20) /* bytes: the agent's are 8 MB at most */
#define AGENT_MESSAGE_EVENTS_MAXIMUM 1000

enum agent_message_kind {
	AGENT_MESSAGE_DONE,
	AGENT_MESSAGE_FAILED,  /* it did not do it; the sentence is its own */
	AGENT_MESSAGE_REFUSED, /* it does not talk to us (400, 401, 403) */
	AGENT_MESSAGE_OVER,    /* it does not know the session (any more) */
	AGENT_MESSAGE_BUSY,    /* not now (503) */
	AGENT_MESSAGE_SENSELESS,
};

struct agent_message {
	enum agent_message_kind kind;
	json_t *body; /* an object, but of AGENT_MESSAGE_SENSELESS may be NULL */
};

/* An answer to a DAP request. Fills error but of AGENT_MESSAGE_DONE. */
void agent_message_read(struct agent_message *reply, int status, const char *bytes, size_t length,
			struct error *error);
/* An answer to anything else: all of the object is the body. */
void agent_message_read_plain(struct agent_message *reply, int status, const char *bytes,
			      size_t length, struct error *error);
/*
 * What /events says: the events, a list of objects with "event" and "body"
 * each an object, owned, and the number to ask for next. Else as above.
 */
void agent_message_read_events(struct agent_message *reply, int status, const char *bytes,
			       size_t length, json_t **owned_events, int64_t *next,
			       struct error *error);
void agent_message_clear(struct agent_message *reply);

#endif
