/*
 * rank-request: one request to each rank that a command means, and what they say to
 * it. Other than control.h it needs no debugger: the processes are asked.
 */
#ifndef COMMANDS_RANK_REQUEST_H
#define COMMANDS_RANK_REQUEST_H

#include <jansson.h>

struct buffer;
struct command_context;
struct error;

struct collection {
	const char *command; /* as it is said, and what failed is told of */
	const char *request;
	json_t *arguments; /* besides the pid; borrowed, NULL: none */
	/*
	 * Appends what an answer says; ranks that say the same stand together.
	 * The body has those arguments, too, that are not in the answer.
	 */
	void (*say)(struct buffer *out, const json_t *body);
	/* Adds it to {"rank", "pid"}. */
	void (*add)(json_t *json, const json_t *body);
};

/*
 * Asks the context's ranks. A shell waits and writes what they say, a screen
 * is told later. -1 and a sentence when none could do it.
 */
int collection_run(const struct collection *asking, struct command_context *context,
		   struct error *error);

#endif
