/*
 * expression-lookup: finds the value that a request names, by an expression in a frame of a thread
 * or by an object's address, without running code in the process.
 *
 * If the request has the number of frames that the client's stack had, the frame is counted from
 * the outermost frame, because a debugger in the process may have added newer frames.
 */
#ifndef BACKENDS_TENSOR_EXPRESSION_LOOKUP_H
#define BACKENDS_TENSOR_EXPRESSION_LOOKUP_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "backends/expression/pyexpression.h"
#include "protocol/variable.h"

struct error;
struct ptrace_connection;
struct pyreader;

struct expression_lookup {
	pid_t tid; /* 0: the main thread */
	int interpreter;
	int64_t depth;			 /* 0: the newest frame; -1: not given */
	int64_t frames;			 /* number of frames of the stack that the client knows;
					  * -1: not given */
	bool is_searched;		 /* search for the frame, from the one at depth outwards */
	const char *function;		 /* name that the code of the frame at depth must have;
					  * NULL: any */
	const char *text;		 /* the expression; NULL: none */
	struct pyexpression *expression; /* the parsed `text`; NULL: `address` is used, or `text`
					  * is wrong */
	uint64_t address;
	const char *type; /* type of the object at address; NULL: any */
};

/*
 * Parses the arguments of a request, which are borrowed. Returns 0, or -1 and sets error.
 * expression_lookup_clear() must be called in both cases.
 */
int expression_lookup_parse(struct expression_lookup *finding, const json_t *arguments,
			    struct error *error);
void expression_lookup_clear(struct expression_lookup *finding);
/* Returns how an error message names the value. */
const char *expression_lookup_name(const struct expression_lookup *finding);

/*
 * expression_lookup_look() reads the value now and fills *found; a running thread is stopped as
 * briefly as possible. Returns 0, or -1 and sets error. found_clear() must be called in both cases.
 */
struct found {
	struct variable_list list; /* one variable: the value */
	struct pyexpression_value value;
	/* {"func", "file", "lineno", "depth"}, with depth as the client counts it; NULL: none */
	json_t *frame;
	int depth;    /* depth of the frame in the current stack */
	int above;    /* number of newer frames, which the client does not know */
	int searched; /* number of frames searched if no frame has all names; else 0 */
	pid_t tid;
	uint64_t held_ns;    /* nanoseconds for which the thread was stopped; 0: it was not
			      * stopped */
	uint64_t held_calls; /* number of system calls that read memory during that time */
	bool is_lost;	     /* on failure: no new sample could be taken: the connection should
			      * be reopened */
	/*
	 * On failure: the frame has all the names, so an agent could evaluate the expression; this
	 * lookup cannot because it runs no code.
	 */
	bool needs_code;
};
int expression_lookup_look(const struct expression_lookup *finding,
			   struct ptrace_connection *connection, struct found *found,
			   struct error *error);
void found_clear(struct found *found);

#endif
