/*
 * rank-request: sends one request to each rank that a command names, and prints the answers. Unlike
 * control.h no debugger is needed: the ranks' processes are asked.
 */
#ifndef COMMANDS_RANK_REQUEST_H
#define COMMANDS_RANK_REQUEST_H

#include <jansson.h>

struct buffer;
struct command_context;
struct error;

struct collection {
	const char *command; /* name that messages begin with */
	const char *request;
	json_t *arguments; /* arguments besides the pid; borrowed; NULL: none */
	/*
	 * Appends an answer as text; ranks with equal text share a row. body also has the arguments
	 * of the request, where the answer has no such key.
	 */
	void (*say)(struct buffer *out, const json_t *body);
	/* Adds an answer to the JSON object, which has "rank" and "pid". */
	void (*add)(json_t *json, const json_t *body);
};

/*
 * Sends the request to the ranks of context. A shell waits and prints the answers, a screen prints
 * them later. -1, *error: every rank failed.
 */
int collection_run(const struct collection *asking, struct command_context *context,
		   struct error *error);

#endif
