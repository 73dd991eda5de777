/*
 * slot-multiplex: more breakpoints than there are hardware watches beside a step.
 *
 * A line of a `finally` begins at one unit for each way into the `finally`, and a step leaves two
 * watches for breakpoints. So a function with several units to watch is watched at its first unit
 * instead (PLAN_ENTRY). While a frame of that function is above the frame of the command, the
 * latter frame does not run: the watches follow the called frame (AIM_CALLED) to its breakpoints
 * and its end.
 *
 * Excluded are generators, which are entered again at each value, and functions that have only one
 * unit to watch.
 */
#include <stdlib.h>

#include "banned.h"

#include "backends/cpython/bytecode.h"
#include "backends/cpython/cpython.h"
#include "backends/ptrace/stepper-private.h"
#include "base/alloc.h"

#define FRAMES_MAXIMUM 100000 /* maximum number of frames in a search through a stack */

/* Returns the number of watches that the aim leaves for breakpoints; SIZE_MAX: no multiplexing. */
static size_t room_of(enum aim aim)
{
	switch (aim) {
	case AIM_FRAME:
	case AIM_CALLED:
		return HARDWARE_WATCH_SLOTS - 2;
	case AIM_RETURN:
		return HARDWARE_WATCH_SLOTS - 1;
	case AIM_NOTHING:
	case AIM_ALL:
		break;
	}
	return SIZE_MAX;
}

/* Returns the first unit of the code that a call runs; -1: a generator, or no such unit. */
static int entry_of(const struct stepper *stepper, const struct bytecode *code)
{
	int unit = stepper->python->minor >= 11 ? code->first_traced : 0;

	if ((code->flags & BYTECODE_GENERATOR) || unit >= code->count)
		return -1;
	return unit;
}

/*
 * Returns the code at address if several of its units are to be watched; NULL: its units get
 * watches of their own.
 */
static const struct bytecode *
slot_multiplex_code_of(const struct stepper *stepper,
		       const struct plan_watch_requests *watch_requests, uint64_t address)
{
	const struct bytecode *code;
	size_t count = 0;

	for (size_t i = 0; address && i < watch_requests->count && count < 2; i++)
		count += watch_requests->items[i].kind == PLAN_BREAKPOINT &&
			 watch_requests->items[i].code == address;
	if (count < 2)
		return NULL;
	code = bytecode_find(stepper->codes, address);
	return code && entry_of(stepper, code) >= 0 ? code : NULL;
}

struct planned slot_multiplex_stand_in(const struct stepper *stepper,
				       const struct plan_watch_requests *watch_requests,
				       const struct planned *watch_request)
{
	const struct bytecode *code;
	struct planned planned = *watch_request;

	if (!stepper->is_multiplexed || watch_request->kind != PLAN_BREAKPOINT ||
	    watch_request->code == stepper->bare)
		return planned;
	code = slot_multiplex_code_of(stepper, watch_requests, watch_request->code);
	if (!code)
		return planned;
	planned.kind = PLAN_ENTRY;
	planned.watch.address = bytecode_watched(code, entry_of(stepper, code));
	return planned;
}

size_t slot_multiplex_count(const struct stepper *stepper,
			    const struct plan_watch_requests *watch_requests)
{
	struct hardware_watch watches[HARDWARE_WATCH_SLOTS];
	size_t count = 0;

	for (size_t i = 0; i < watch_requests->count && count < HARDWARE_WATCH_SLOTS; i++) {
		struct planned planned =
			slot_multiplex_stand_in(stepper, watch_requests, &watch_requests->items[i]);
		size_t k = 0;

		while (k < count && !hardware_watch_is_same(&watches[k], &planned.watch))
			k++;
		if (k == count)
			watches[count++] = planned.watch;
	}
	return count;
}

bool *slot_multiplex_units(const struct stepper *stepper,
			   const struct plan_watch_requests *watch_requests)
{
	const struct bytecode *code = stepper->here.code;
	bool *units = NULL;

	if (!stepper->is_multiplexed ||
	    !slot_multiplex_code_of(stepper, watch_requests, code->address))
		return NULL;
	for (size_t i = 0; i < watch_requests->count; i++) {
		const struct planned *watch_request = &watch_requests->items[i];
		int unit = bytecode_unit_at(code, watch_request->watch.address);

		if (watch_request->kind != PLAN_BREAKPOINT || unit < 0)
			continue;
		if (!units)
			units = xcalloc((size_t)code->count, sizeof(*units));
		units[unit] = true;
	}
	return units;
}

/* True if the breakpoints and data breakpoints do not fit beside the watches of the aim. */
static bool is_multiplexed(const struct stepper *stepper,
			   const struct plan_watch_requests *watch_requests)
{
	size_t count = 0;

	for (size_t i = 0; i < watch_requests->count; i++)
		count += watch_requests->items[i].kind == PLAN_BREAKPOINT ||
			 watch_requests->items[i].kind == PLAN_DATA;
	return count > room_of(stepper->aim);
}

static void slot_multiplex_enter(struct stepper *stepper, const struct pyframe_now *frame)
{
	struct follow follow = stepper->here;

	if (!stepper->called && stepper->waiting.frame == frame->address)
		follow = stepper->waiting;
	else if (frame->address != follow.frame &&
		 event_synthesis_start(stepper, &follow, frame) < 0)
		return;
	if (!stepper->called)
		stepper->waiting = stepper->here;
	stepper->here = follow;
	stepper->called = frame->address;
	stepper->aim = AIM_CALLED;
	if (stepper->course == COURSE_RAISING)
		stepper->course = COURSE_PLAIN;
	stepper->walked = stepper->walk_limit;
}

/*
 * Searches the frames above the followed frame for a function that is watched at its first unit,
 * and follows the newest such frame. Does nothing if the followed frame is that of a generator and
 * is on no stack. With AIM_RETURN the followed frame is searched, too, because AIM_RETURN watches
 * no units of it.
 */
static void seek_called(struct stepper *stepper, const struct plan_watch_requests *watch_requests)
{
	uint64_t end = stepper->here.frame;
	struct pyframe_now frame = { .address = stepper->newest };
	struct pyframe_now found = { .address = 0 };
	struct pyframe_now caller;

	if (!frame.address || (frame.address == end && stepper->aim != AIM_RETURN) ||
	    pyframes_frame(&stepper->frames, frame.address, &frame) < 0)
		return;
	for (int i = 0; i < FRAMES_MAXIMUM && frame.address; i++) {
		if (frame.address == end && stepper->aim != AIM_RETURN)
			break;
		if (!found.address && frame.address != stepper->ended &&
		    slot_multiplex_code_of(stepper, watch_requests, frame.code))
			found = frame;
		if (frame.address == end)
			break;
		if (pyframes_caller(&stepper->frames, &frame, &caller) < 0)
			return;
		frame = caller;
	}
	if (found.address && frame.address == end)
		slot_multiplex_enter(stepper, &found);
}

void slot_multiplex_begin(struct stepper *stepper, const struct plan_watch_requests *watch_requests)
{
	stepper->bare = 0;
	stepper->is_multiplexed = is_multiplexed(stepper, watch_requests);
	if (stepper->is_multiplexed && stepper_is_aimed(stepper))
		seek_called(stepper, watch_requests);
}
