/*
 * request kind: which request a message is, from src/protocol/requests.def.
 */
#ifndef PROTOCOL_REQUEST_KIND_H
#define PROTOCOL_REQUEST_KIND_H

#include <stdbool.h>

enum request_kind {
#define REQUEST(name, ...) REQUEST_##name,
#define NODE_REQUEST(name, ...) REQUEST_##name,
#include "protocol/requests.def"
	REQUEST_KIND_COUNT,
};

/* The "command" on the pipe: "stepIn". */
const char *request_kind_name(enum request_kind kind);
/* REQUEST_KIND_COUNT: the pipe has no such request. */
enum request_kind request_kind_find(const char *name);
/* Whether it stops, writes to, or runs code in the process. */
bool request_kind_changes(enum request_kind kind);

#endif
