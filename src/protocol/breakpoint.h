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
	int id;		 /* of the session, from 1 on */
	char *path;	 /* "train.py" or absolute; NULL: by function */
	int line;	 /* 0: by function */
	char *function;	 /* "train", "Net.forward", "module.f"; NULL: by line */
	char *condition; /* a Python expression; NULL: none */
	int ignore;	 /* so many hits do not stop */
	bool is_disabled;
	bool is_temporary; /* goes with its first stop */
};

/* Frees the strings; all is zero then. */
void breakpoint_clear(struct breakpoint *breakpoint);
void breakpoint_copy(struct breakpoint *to, const struct breakpoint *from);
json_t *breakpoint_to_json(const struct breakpoint *breakpoint);
/* Into a cleared one; clear it after -1, too. */
int breakpoint_from_json(struct breakpoint *breakpoint, const json_t *json,
			 struct error *error);

#endif
