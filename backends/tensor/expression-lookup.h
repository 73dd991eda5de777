/*
 * expression-lookup: finds the value that a request names, by an expression in a frame of a thread
 * or by an object's address, without running code in the process.
 *
 * If the request says how many frames the stack had, the frame is counted from the outermost one: a
 * debugger in the process may have newer frames of its own.
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
	int64_t frames;			 /* frames of the stack as the client knows it; -1: not
					  * given */
	bool is_searched;		 /* search from the frame at depth outwards */
	const char *function;		 /* name that the code at depth must have; NULL: any */
	const char *text;		 /* the expression; NULL: none */
	struct pyexpression *expression; /* NULL: `address` is used, or `text` is wrong */
	uint64_t address;
	const char *type; /* type of the object at address; NULL: any */
};

/*
 * Parses the arguments of a request, which are borrowed. Returns 0, or -1 with *error set; clear
 * finding in either case.
 */
int expression_lookup_parse(struct expression_lookup *finding, const json_t *arguments,
			    struct error *error);
void expression_lookup_clear(struct expression_lookup *finding);
/* The name of the value in an error. */
const char *expression_lookup_name(const struct expression_lookup *finding);

/*
 * Reads the value now; a running thread is stopped as briefly as possible. Returns 0, or -1 with
 * *error set; clear found in either case.
 */
struct found {
	struct variable_list list; /* one variable: the value */
	struct pyexpression_value value;
	/* {"func", "file", "lineno", "depth"}, depth as the client counts; NULL: none */
	json_t *frame;
	int depth;    /* depth of the frame in the current stack */
	int above;    /* newer frames, which the client does not know */
	int searched; /* frames searched, if none has all names; else 0 */
	pid_t tid;
	uint64_t held_ns;    /* nanoseconds that the thread was stopped; 0: it was not */
	uint64_t held_calls; /* system calls that read memory meanwhile */
	bool is_lost;	     /* on failure: no new sample of the process; reopen the connection */
	/*
	 * On failure: an agent could evaluate the expression, because the frame has all the names;
	 * only this lookup, without running code, cannot.
	 */
	bool needs_code;
};
int expression_lookup_look(const struct expression_lookup *finding,
			   struct ptrace_connection *connection, struct found *found,
			   struct error *error);
void found_clear(struct found *found);

#endif
