/*
 * breakpoint: where a rank is to stop, as a person asked for it. What
 * `setBreakpoints` carries; what became of it in a process is a binding
 * (debugger.h).
 */
#ifndef PROTOCOL_BREAKPOINT_H
#define PROTOCOL_BREAKPOINT_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

struct error;

#define BREAKPOINTS_MAXIMUM 500

struct breakpoint {
	int id;		/* of the session, from 1 on */
	char *path;	/* "train.py" or absolute; NULL: not by line */
	int line;	/* 0: not by line */
	char *function; /* "train", "Net.forward", "module.f"; NULL: by line */
	/*
	 * A data breakpoint (DAP's word; `watch` is the command): stops where
	 * the value of this expression is changed. "*0xADDRESS:LENGTH" is a
	 * place in memory. NULL: a breakpoint by line or function.
	 */
	char *watch;
	int depth;	 /* of the frame that watch is looked up in, when it is set */
	bool is_nan;	 /* of watch: stops, once, where that becomes NaN or
			  * infinite, in any frame of the function that has it; the
			  * process runs, and only its agent can do it */
	char *condition; /* a Python expression; NULL: none */
	char *log;	 /* said instead of stopping, {expressions} filled in; NULL */
	int ignore;	 /* so many hits do not stop */
	bool is_disabled;
	bool is_temporary; /* goes with its first stop */
};

/* Frees the strings; all is zero then. */
void breakpoint_clear(struct breakpoint *breakpoint);
void breakpoint_copy(struct breakpoint *to, const struct breakpoint *from);
json_t *breakpoint_to_json(const struct breakpoint *breakpoint);
/* Into a cleared one; clear it after -1, too. */
int breakpoint_from_json(struct breakpoint *breakpoint, const json_t *json, struct error *error);
/*
 * Whether `setBreakpoints` may carry this list: each entry can be read, and
 * there are not too many.
 */
int breakpoints_check(const json_t *list, struct error *error);

#endif
