/*
 * agent-messages: parses the bytes of an agent's answers. The peer is not trusted: all types are
 * checked, and NULs in texts are replaced.
 */
#ifndef BACKENDS_HTTP_AGENT_MESSAGES_H
#define BACKENDS_HTTP_AGENT_MESSAGES_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

struct error;
struct halt_frame;
struct stack;
struct stack_table;

#define AGENT_MESSAGE_MAXIMUM (9u << 20) /* bytes; the agent sends 8 MB at most */
#define AGENT_MESSAGE_EVENTS_MAXIMUM 1000

enum agent_message_kind {
	AGENT_MESSAGE_DONE,
	AGENT_MESSAGE_FAILED,	 /* the request failed; error is set to the agent's message */
	AGENT_MESSAGE_REFUSED,	 /* the agent refuses this client (400, 401, 403) */
	AGENT_MESSAGE_OVER,	 /* the agent does not know the session (any more) (404) */
	AGENT_MESSAGE_BUSY,	 /* the agent is busy (503) */
	AGENT_MESSAGE_SENSELESS, /* not an answer of an agent */
};

struct agent_message {
	enum agent_message_kind kind;
	json_t *body; /* an object; AGENT_MESSAGE_SENSELESS: may be NULL */
};

/* Reads the answer to a DAP request. Sets error unless the kind is AGENT_MESSAGE_DONE. */
void agent_message_read(struct agent_message *reply, int status, const char *bytes, size_t length,
			struct error *error);
/* Reads the answer to another request than DAP's: the whole object is the body. */
void agent_message_read_plain(struct agent_message *reply, int status, const char *bytes,
			      size_t length, struct error *error);
/*
 * Reads the answer to /events: sets *owned_events to an array of objects with "event" and perhaps
 * "body" (NULL on failure), and *next to the `after` of the next poll. Sets reply and error like
 * agent_message_read_plain().
 */
void agent_message_read_events(struct agent_message *reply, int status, const char *bytes,
			       size_t length, json_t **owned_events, int64_t *next,
			       struct error *error);
void agent_message_clear(struct agent_message *reply);

/*
 * agent_frames: parses the stacks and exceptions in the agent's answers. The number of frames and
 * causes is limited.
 */

/*
 * Appends the frames of an answer to stackTrace to *frames, which agent_frames_free() frees.
 * Returns true if the agent has more frames, from index *count on.
 */
bool agent_frames_read(struct halt_frame **frames, size_t *count, const json_t *body);
void agent_frames_free(struct halt_frame *frames, size_t count);
/* Returns the stack with these frames from the table, which gets it if need be. */
const struct stack *agent_frames_intern(const struct halt_frame *frames, size_t count,
					struct stack_table *stacks);
/*
 * Returns a text made from the answer to exceptionInfo, to free(): one line for the exception and
 * one for each of its causes. NULL: the answer has no exception.
 */
char *agent_frames_read_exception(const json_t *body);

#endif
