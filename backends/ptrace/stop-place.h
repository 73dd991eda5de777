/*
 * stop-place: where a thread has stopped, as a person is told of it. It owns its
 * strings, so it outlives the code objects and the tables of stacks.
 */
#ifndef BACKENDS_PTRACE_STOP_PLACE_H
#define BACKENDS_PTRACE_STOP_PLACE_H

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
	char *change;	/* of what is watched, "total: 3 -> 4"; NULL: nothing */
	char *why;	/* a sentence: there is no frame; NULL: there is */
	int hits[STOP_HITS_MAXIMUM];
	size_t hit_count;
	bool is_cleared; /* all of hits were, before the stop was told */
};

/* Why it stopped: the breakpoints of a line event, or the change of what is
 * watched, as the stop's reason has it. */
struct stop_place *stop_place_new(const struct stepper_stop *stop, const struct break_hit *hit,
				  const char *change, int minor);
void stop_place_free(struct stop_place *place);
/* Fills in at, reason, hits and description. */
void stop_place_describe(const struct stop_place *place, struct debugger *debugger);
/*
 * The stack, whose newest frame is this place's (is_newest), with the line,
 * which the process itself may not have stored yet; else the frame, which is
 * just being made or left, comes first. stack NULL: it could not be read.
 */
const struct stack *stop_place_amend(const struct stop_place *place, bool is_newest,
				     const struct stack *stack, struct stack_table *stacks);

#endif
