/*
 * watchpoints: the data breakpoints of one process (`watch` of
 * protocol/debugger.h: variables and places in memory), and their state.
 *
 * An expression is looked up once, in a frame of a stopped thread; a hardware watch is set on the
 * word that holds the value. A write of an equal value does not stop the thread, nor does the
 * deletion of a local: the next value is reported. The watch of a local ends with the local's
 * frame. The watch of a part of an object ends with the object, and the part is looked up again
 * when the object has moved its parts (as a dict does when it grows). The end of a frame is noticed
 * when the frame's memory is written again, and at each stop.
 *
 * Conditions (pyexpression.h), ignore counts and temporary data breakpoints work as for
 * breakpoints; a condition is evaluated in the frame that has written.
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

/* Gives access to the frames in which names are looked up. */
struct watchpoints_frames {
	/* Finds the frame at a depth of the stopped thread. Returns -1 if there is none. */
	int (*find)(int depth, struct pyobject_frame *frame, void *data);
	void *data;
};

/*
 * Replaces all data breakpoints by the items of list (the array of `setBreakpoints`) that have a
 * `watch`. If an item has the id and expression of an old data breakpoint, it keeps the old state.
 * frames NULL: the process is running, so only places in memory can be set. Returns -1 and sets
 * error if the list is malformed: nothing has changed then.
 */
int watchpoints_set(struct watched *watched, const json_t *list,
		    const struct watchpoints_frames *frames, struct error *error);
/* Whether a data breakpoint could stop the process. */
bool watchpoints_are_any(const struct watched *watched);
/* Returns a number that changes whenever the watch requests or guards change. */
uint64_t watchpoints_revision(const struct watched *watched);
/*
 * Writes a PLAN_DATA for each data breakpoint that is set, with the breakpoint's id, at most
 * `maximum`. Returns the number of data breakpoints that are set, which may be greater.
 */
size_t watchpoints_watch_requests(const struct watched *watched, struct planned *watch_requests,
				  size_t maximum);
/*
 * Does the same for guards: words that are written when a watched place may have moved. Guards are
 * optional: a guard is watched only if a slot is free.
 */
size_t watchpoints_guards(const struct watched *watched, struct planned *watch_requests,
			  size_t maximum);
/* To be called when the last `missing` watch requests got no slot in at least one thread. */
void watchpoints_short(struct watched *watched, size_t missing);
/*
 * To be called when the watch of breakpoint *id has fired in a stopped thread. tstate: address of
 * the thread's PyThreadState; frame: the thread's newest frame. Returns whether the thread stops.
 * If so, sets *description ("total: 3 -> 4", to be freed by the caller) and *id to the breakpoint
 * that stops, which may be another breakpoint on the same place.
 */
bool watchpoints_fired(struct watched *watched, int *id, uint64_t tstate, uint64_t frame,
		       char **description);
/* Returns why a condition has failed (which does not stop the thread), to be freed by the
 * caller, and sets *id to the breakpoint. Each breakpoint's failure is returned once. NULL: no
 * new failure. */
char *watchpoints_take_failure(struct watched *watched, int *id);
/*
 * To be called at each stop of the process: checks whether the watched places still exist, and
 * finds places that have moved.
 */
void watchpoints_look(struct watched *watched);
/* Appends the state of each data breakpoint to debugger->bindings. */
void watchpoints_describe(const struct watched *watched, struct debugger *debugger);
/* Appends the state of each data breakpoint to the array "breakpoints" in the answer to
 * `setBreakpoints`. */
void watchpoints_add_json(const struct watched *watched, json_t *breakpoints);

#endif
