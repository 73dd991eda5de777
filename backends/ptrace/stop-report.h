/*
 * stop-report: where a thread has stopped, for reports to the user. A stop_place owns its strings,
 * so it stays valid when code objects and stack tables are freed.
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
	uint64_t value; /* address of the object returned or raised; 0: unknown */
	char *change;	/* change of a watched variable, "total: 3 -> 4"; NULL: none */
	char *why;	/* why the frame is unknown; NULL: it is known */
	int hits[STOP_HITS_MAXIMUM];
	size_t hit_count;
	bool is_cleared; /* all breakpoints of hits were cleared before the stop was reported */
};

/* Returns the place of a stop, with a copy of the breakpoints in *hit or of the text `change`,
 * depending on the stop's reason. minor: the process runs Python 3.minor. */
struct stop_place *stop_place_new(const struct stepper_stop *stop, const struct break_hit *hit,
				  const char *change, int minor);
void stop_place_free(struct stop_place *place);
/* Sets at, reason, hits and description of *debugger. */
void stop_place_describe(const struct stop_place *place, struct debugger *debugger);
/*
 * Returns a copy of `stack` in `stacks` whose newest frame is the place's frame, at the place's
 * line. is_newest: the newest frame of `stack` is that frame already, perhaps with an old line,
 * because the process may not have stored the new line yet; else the frame is just being pushed or
 * popped, and is added. stack NULL: the stack could not be read.
 */
const struct stack *stop_place_amend(const struct stop_place *place, bool is_newest,
				     const struct stack *stack, struct stack_table *stacks);

#endif
