/*
 * watchpoints: the variables and places in memory of one process that a person
 * watches (data breakpoints, the `watch` of protocol/breakpoint.h), and what
 * became of them.
 *
 * An expression is looked up once, in a frame of the thread that stands then;
 * the word that holds its value is what the processor looks out for. A write
 * that leaves the value as it was does not stop, nor does a local's being
 * unbound: what comes next is told. A local ends with its frame;
 * what is part of an object lives on with that, and is looked up again in it
 * when the object has moved its parts (a dict that has grown). That a frame
 * is over is seen when its memory is used for something else, and at each
 * stop.
 *
 * Conditions (pyexpression.h), ignore counts and temporary ones are as those
 * of breakpoints; a condition is compared in the frame that wrote.
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

/* Both are borrowed. */
struct watched *watchpoints_new(struct memory *memory, const struct cpython *python);
void watchpoints_free(struct watched *watched);

/* Where names are looked up. */
struct watchpoints_frames {
	/* The frame at a depth of the thread that stands; -1: none. */
	int (*find)(int depth, struct pyobject_frame *frame, void *data);
	void *data;
};

/*
 * These are all that are wanted from now on: those of the array of
 * `setBreakpoints` that have a `watch`; known ones, by id and expression, stay
 * as they are. frames: NULL when nothing stands, then only places in memory
 * can be set. -1: not such a list; nothing has changed then.
 */
int watchpoints_set(struct watched *watched, const json_t *list,
		    const struct watchpoints_frames *frames, struct error *error);
/* Whether any could stop the process. */
bool watchpoints_are_any(const struct watched *watched);
/* Changes whenever watch requests or guards would be others. */
uint64_t watchpoints_revision(const struct watched *watched);
/*
 * Appends a PLAN_DATA for each, at most maximum; returns how many there are.
 * Their id is the breakpoint's.
 */
size_t watchpoints_watch_requests(const struct watched *watched, struct planned *watch_requests,
				  size_t maximum);
/*
 * The same of words that are written when what is watched may have moved:
 * good to have where there is room, of no account where there is none.
 */
size_t watchpoints_guards(const struct watched *watched, struct planned *watch_requests,
			  size_t maximum);
/* The last `missing` watch requests got no slot in at least one thread. */
void watchpoints_short(struct watched *watched, size_t missing);
/*
 * A watch with this id has fired in the thread whose state is tstate, which
 * stands; frame is its newest. True: it stops, and *description (the caller
 * frees it) says "total: 3 -> 4"; *id is the one it is for, as several may
 * watch one place.
 */
bool watchpoints_fired(struct watched *watched, int *id, uint64_t tstate, uint64_t frame,
		       char **description);
/* Why a condition has failed, which makes no stop, once for each; the caller
 * frees it. NULL: nothing is to be said. */
char *watchpoints_take_failure(struct watched *watched, int *id);
/*
 * The process stands, for whatever reason: looks whether what is watched is
 * still there, and where.
 */
void watchpoints_look(struct watched *watched);
/* Appends what became of each to debugger->bindings. */
void watchpoints_describe(const struct watched *watched, struct debugger *debugger);
/* The same to the array "breakpoints" in the answer to `setBreakpoints`. */
void watchpoints_add_json(const struct watched *watched, json_t *breakpoints);

#endif
