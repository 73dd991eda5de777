/*
 * watchpoints: the data breakpoints of one process (`watch` of
 * protocol/debugger.h: variables and places in memory), and their state.
 *
 * An expression is looked up once, in a frame of a stopped thread; a hardware
 * watch is set on the word that holds the value. A write of an equal value
 * does not stop, nor does the deletion of a local: the next value is reported.
 * The watch of a local ends with its frame. The watch of a part of an object
 * ends with the object, and the part is looked up again when the object has
 * moved its parts (a dict that has grown). The end of a frame is noticed when
 * its memory is written again, and at each stop.
 *
 * Conditions (pyexpression.h), ignore counts and temporary data breakpoints
 * work as for breakpoints; a condition is evaluated in the writing frame.
 */
#ifndef BACKENDS_PTRACE_WATCHPOINTS_H
#define BACKENDS_PTRACE_WATCHPOINTS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cpython;
struct debugger;
struct error;
struct memory;
struct planned;
struct pyobject_frame;
struct watched;

/* Both arguments are borrowed. */
struct watched *watchpoints_new(struct memory *memory, const struct cpython *python);
void watchpoints_free(struct watched *watched);

/* The frames in which names are looked up. */
struct watchpoints_frames {
	/* Finds the frame at a depth of the stopped thread; -1: none. */
	int (*find)(int depth, struct pyobject_frame *frame, void *data);
	void *data;
};

/*
 * Replaces all data breakpoints by the items of list (the array of
 * `setBreakpoints`) that have a `watch`. An item with the id and expression of
 * an old one keeps its state. frames: NULL if the process runs; only places in
 * memory can be set then. -1: the list is malformed; nothing has changed.
 */
int watchpoints_set(struct watched *watched, const json_t *list,
		    const struct watchpoints_frames *frames, struct error *error);
/* Whether a data breakpoint could stop the process. */
bool watchpoints_are_any(const struct watched *watched);
/* Changes whenever the watch requests or guards change. */
uint64_t watchpoints_revision(const struct watched *watched);
/*
 * Writes a PLAN_DATA for each data breakpoint that is set, at most maximum;
 * returns the number of all. The id of a PLAN_DATA is the breakpoint's.
 */
size_t watchpoints_watch_requests(const struct watched *watched, struct planned *watch_requests,
				  size_t maximum);
/*
 * The same for guards: words that are written when a watched place may have
 * moved. Guards are optional: they are watched if slots are free.
 */
size_t watchpoints_guards(const struct watched *watched, struct planned *watch_requests,
			  size_t maximum);
/* The last `missing` watch requests got no slot in at least one thread. */
void watchpoints_short(struct watched *watched, size_t missing);
/*
 * The watch of breakpoint *id has fired in a stopped thread; tstate is the
 * address of its PyThreadState, frame its newest frame. True: the thread stops;
 * *description (the caller frees it) is "total: 3 -> 4", and *id the breakpoint
 * that stops, as several may watch one place.
 */
bool watchpoints_fired(struct watched *watched, int *id, uint64_t tstate, uint64_t frame,
		       char **description);
/* Why the condition of breakpoint *id has failed, which is no stop; returned once
 * per breakpoint, to be freed by the caller. NULL: no new failure. */
char *watchpoints_take_failure(struct watched *watched, int *id);
/*
 * At each stop of the process: checks whether the watched places still exist,
 * and finds places that have moved.
 */
void watchpoints_look(struct watched *watched);
/* Appends the state of each data breakpoint to debugger->bindings. */
void watchpoints_describe(const struct watched *watched, struct debugger *debugger);
/* Appends these states to the array "breakpoints" in the answer to `setBreakpoints`. */
void watchpoints_add_json(const struct watched *watched, json_t *breakpoints);

#endif
