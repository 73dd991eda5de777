/*
 * stop-report: where a thread has stopped, for reports to the user. It owns its
 * strings, so it stays valid when code objects and stack tables are freed.
 */
#ifndef BACKENDS_PTRACE_STOP_REPORT_H
#define BACKENDS_PTRACE_STOP_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "protocol/debugger.h"

struct break_hit;
struct stack;
struct stack_table;
struct stepper_stop;

struct stop_place {
	enum stop_event at;
	enum stop_reason reason;
	uint64_t frame;
	char *file;
	char *name;
	char *qualname; /* NULL below 3.11 */
	int first_line;
	int line;
	uint64_t value; /* object returned or raised; 0: not known */
	char *change;	/* of a watched variable, "total: 3 -> 4"; NULL: none */
	char *why;	/* why there is no frame; NULL: there is one */
	int hits[STOP_HITS_MAXIMUM];
	size_t hit_count;
	bool is_cleared; /* all breakpoints of hits were cleared before the stop was reported */
};

/* Copies the breakpoints in hit or the text change, by the stop's reason.
 * minor: of the Python version 3.minor. */
struct stop_place *stop_place_new(const struct stepper_stop *stop, const struct break_hit *hit,
				  const char *change, int minor);
void stop_place_free(struct stop_place *place);
/* Fills in at, reason, hits and description of the debugger. */
void stop_place_describe(const struct stop_place *place, struct debugger *debugger);
/*
 * Returns the stack with the place's frame and line as newest frame. is_newest:
 * stack has that frame already, perhaps with an old line, as the process may not
 * have stored the new one yet; else the frame is being pushed or popped, and is
 * added. stack NULL: it could not be read.
 */
const struct stack *stop_place_amend(const struct stop_place *place, bool is_newest,
				     const struct stack *stack, struct stack_table *stacks);

#endif
