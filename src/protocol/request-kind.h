/*
 * request kind: which request a message is, and whether the arguments are those
 * of the request, from src/protocol/requests.def.
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

/* The "command" on the pipe: "stepIn". */
const char *request_kind_name(enum request_kind kind);
/* REQUEST_KIND_COUNT: the pipe has no such request. */
enum request_kind request_kind_find(const char *name);
/* Whether it stops, writes to, or runs code in the process. */
bool request_kind_changes(enum request_kind kind);

/*
 * Checks the arguments by the fields of requests.def; -1 and a sentence. Keys
 * that are no field are ignored.
 */
int request_check(enum request_kind kind, const json_t *arguments, struct error *error);

#define PROCESSES_MAXIMUM 65536

#endif
