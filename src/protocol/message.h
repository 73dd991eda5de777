/*
 * message: one JSON object a line between screen and node, in the shape of
 * the Debug Adapter Protocol:
 *   {"seq", "type": "request", "command", "arguments"}
 *   {"seq", "type": "response", "request_seq", "success", "command",
 *    "message" (the sentence when it failed), "body"}
 *   {"seq", "type": "event", "event", "body"}
 * requests.def lists commands, messages.def events; docs/protocol.md explains
 * the members of each. In a recording each line has "time" (seconds since the
 * recording began) besides.
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

/* The "event" on the pipe, from src/protocol/messages.def. */
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
	int64_t request_seq; /* responses */
	char *name;	     /* the command or event */
	bool is_success;     /* responses */
	char *error;	     /* responses that failed */
	json_t *body;	     /* body or arguments; an object, never NULL once made */
	double time;	     /* recordings; -1 elsewhere */
};

/* "rankAdded" */
const char *event_kind_name(enum event_kind kind);
/* EVENT_KIND_COUNT: there is no such event. */
enum event_kind event_kind_find(const char *name);

void message_clear(struct message *message);
/* Makes a message; body is taken over and may be NULL (an empty object). */
void message_make_request(struct message *message, const char *command, json_t *owned_arguments);
void message_make_event(struct message *message, const char *event, json_t *owned_body);
/* error NULL: success. */
void message_make_response(struct message *message, const struct message *request,
			   json_t *owned_body, const char *error);
/* Appends the line, newline included. */
void message_append(struct buffer *out, const struct message *message);
/* Parses one line (without newline), strictly. */
int message_parse(struct message *message, const char *line, size_t length, struct error *error);

#endif
