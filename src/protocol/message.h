/*
 * message: JSON objects between screen and node, one on each line, in the shape of the Debug
 * Adapter Protocol:
 *   {"seq", "type": "request", "command", "arguments"}
 *   {"seq", "type": "response", "request_seq", "success", "command",
 *    "message" (the error), "body"}
 *   {"seq", "type": "event", "event", "body"}
 * requests.def lists commands, messages.def events; docs/protocol.md explains their members. Each
 * line of a recording also has "time" (seconds since the recording began).
 */
#ifndef PROTOCOL_MESSAGE_H
#define PROTOCOL_MESSAGE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buffer;
struct error;

#define PROTOCOL_VERSION 1
#define MESSAGE_LINE_MAXIMUM (64u << 20)

/* Events on the pipe between node and screen, from src/protocol/messages.def. */
enum event_kind {
#define EVENT(name, ...) EVENT_##name,
#include "protocol/messages.def"
	EVENT_KIND_COUNT,
};

enum message_type {
	MESSAGE_REQUEST,
	MESSAGE_RESPONSE,
	MESSAGE_EVENT,
};

struct message {
	enum message_type type;
	int64_t seq;
	int64_t request_seq; /* seq of the request; responses only */
	char *name;	     /* name of the command or event */
	bool is_success;     /* responses only */
	char *error;	     /* failed responses only */
	/* body or arguments: an object, not NULL after message_make_…() and message_parse() */
	json_t *body;
	double time; /* seconds since the recording began; -1: not from a recording */
};

/* Returns the event's name on the pipe, e.g. "rankAdded". */
const char *event_kind_name(enum event_kind kind);
/* Finds an event by its name; EVENT_KIND_COUNT: there is none. */
enum event_kind event_kind_find(const char *name);

void message_clear(struct message *message);
/*
 * The three functions below make a message, which then owns the body; body NULL: an empty object.
 */
void message_make_request(struct message *message, const char *command, json_t *owned_arguments);
void message_make_event(struct message *message, const char *event, json_t *owned_body);
/* error: why the request failed; NULL: the request succeeded. */
void message_make_response(struct message *message, const struct message *request,
			   json_t *owned_body, const char *error);
/* Appends the message as one line with its newline. */
void message_append(struct buffer *out, const struct message *message);
/* Parses one line without its newline. Returns 0; -1: *error says what is wrong. */
int message_parse(struct message *message, const char *line, size_t length, struct error *error);

/*
 * request kind: the kind of a request message, and the check of its arguments, from
 * src/protocol/requests.def.
 */

enum request_kind {
#define REQUEST(name, ...) REQUEST_##name,
#define NODE_REQUEST(name, ...) REQUEST_##name,
#include "protocol/requests.def"
	REQUEST_KIND_COUNT,
};

/* Returns the request's name on the pipe ("command"), e.g. "stepIn". */
const char *request_kind_name(enum request_kind kind);
/* Finds a request by its name on the pipe; REQUEST_KIND_COUNT: there is none. */
enum request_kind request_kind_find(const char *name);
/* True if the request stops, writes to, or runs code in the process. */
bool request_kind_changes(enum request_kind kind);

/*
 * Checks the arguments against the fields in requests.def; ignores unknown keys. Returns 0; -1:
 * *error says what is wrong.
 */
int request_check(enum request_kind kind, const json_t *arguments, struct error *error);

#define PROCESSES_MAXIMUM 65536

#endif
