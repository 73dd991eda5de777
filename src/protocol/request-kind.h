/*
 * request kind: the kind of a request message, and the check of its arguments, from
 * src/protocol/requests.def.
 */
#ifndef PROTOCOL_REQUEST_KIND_H
#define PROTOCOL_REQUEST_KIND_H

#include <jansson.h>
#include <stdbool.h>

struct error;

enum request_kind {
#define REQUEST(name, ...) REQUEST_##name,
#define NODE_REQUEST(name, ...) REQUEST_##name,
#include "protocol/requests.def"
	REQUEST_KIND_COUNT,
};

/* Name on the pipe ("command"), e.g. "stepIn". */
const char *request_kind_name(enum request_kind kind);
/* REQUEST_KIND_COUNT: no request on the pipe has the name. */
enum request_kind request_kind_find(const char *name);
/* True if the request stops, writes to, or runs code in the process. */
bool request_kind_changes(enum request_kind kind);

/*
 * Checks the arguments against the fields of requests.def. -1: *error says what is wrong. Unknown
 * keys are ignored.
 */
int request_check(enum request_kind kind, const json_t *arguments, struct error *error);

#define PROCESSES_MAXIMUM 65536

#endif
