/*
 * breakpoint: one breakpoint as a person set it, sent in `setBreakpoints`. Its state in each
 * process is a breakpoint_binding (debugger.h).
 */
#ifndef PROTOCOL_BREAKPOINT_H
#define PROTOCOL_BREAKPOINT_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

struct error;

#define BREAKPOINTS_MAXIMUM 500

struct breakpoint {
	int id;		/* number in the session, from 1 */
	char *path;	/* path of the file, "train.py" or absolute; NULL: no line breakpoint */
	int line;	/* line; 0: no line breakpoint */
	char *function; /* "train", "Net.forward", "module.f"; NULL: a line or data breakpoint */
	/*
	 * Expression of a data breakpoint (DAP's word; the command is `watch`), which stops when
	 * the value changes. "*0xADDRESS:LENGTH" watches memory. NULL: a breakpoint by line or
	 * function.
	 */
	char *watch;
	int depth; /* depth of the frame that evaluates watch when the breakpoint is set */
	/*
	 * true: a watch that stops once, when its value becomes NaN or infinite, in any frame of
	 * the function that has the name; only an agent can do this, while the process runs
	 */
	bool is_nan;
	char *condition; /* Python expression; NULL: none */
	/* text to print instead of a stop, {expressions} replaced by values; NULL: stop */
	char *log;
	int ignore; /* number of hits that do not stop */
	bool is_disabled;
	bool is_temporary; /* true: deleted at its first stop */
};

/* Frees the strings and zeroes the struct. */
void breakpoint_clear(struct breakpoint *breakpoint);
void breakpoint_copy(struct breakpoint *to, const struct breakpoint *from);
json_t *breakpoint_to_json(const struct breakpoint *breakpoint);
/* Reads json into a cleared breakpoint. -1: *error is set; clear the breakpoint nevertheless. */
int breakpoint_from_json(struct breakpoint *breakpoint, const json_t *json, struct error *error);
/*
 * Checks the list of a `setBreakpoints` request. -1, *error: an entry is not valid, or there are
 * too many.
 */
int breakpoints_check(const json_t *list, struct error *error);

#endif
