/*
 * trap-dispatch: handles a watch that has triggered. Each kind of watch has a function that makes
 * the resulting trace events and records the thread's position.
 */
#include "banned.h"

#include "backends/cpython/bytecode.h"
#include "backends/cpython/cpython.h"
#include "backends/linux/memory.h"
#include "backends/ptrace/stepper-private.h"

#define STRAYS_MAXIMUM 1000 /* maximum number of consecutive traps with unreadable frames */

struct trap {
	const struct planned *fired;
	struct pythread_now now;
};

static bool trap_dispatch_is_here(const struct stepper *stepper, const struct trap *trap)
{
	return trap->now.frame.address != 0 && stepper->here.code &&
	       trap->now.frame.address == stepper->here.frame &&
	       trap->now.frame.code == stepper->here.code->address;
}

static void end_course(struct stepper *stepper, enum course course)
{
	if (stepper->course == course)
		stepper->course = COURSE_PLAIN;
}

static bool is_position_watched(const struct stepper *stepper)
{
	for (size_t i = 0; i < HARDWARE_WATCH_SLOTS; i++)
		if (stepper->plan.slots[i].kind == PLAN_POSITION &&
		    stepper->plan.slots[i].watch.access != HARDWARE_WATCH_NONE)
			return true;
	return false;
}

static int unit_now(const struct stepper *stepper, const struct trap *trap,
		    const struct bytecode *code)
{
	return pyframes_unit(&stepper->frames, &trap->now.frame, code);
}

static void position_fired(struct stepper *stepper, const struct trap *trap)
{
	struct follow *here = &stepper->here;
	int from = here->at;

	if (!trap_dispatch_is_here(stepper, trap))
		return;
	stepper->is_stepping_off = false;
	stepper->course = COURSE_PLAIN;
	event_synthesis_pointer(stepper, here, unit_now(stepper, trap, here->code));
	/* A jump back may belong to a long loop, so it counts as WALK_LIMIT positions. */
	stepper->walked += here->at < from && here->raised_at < 0 ? WALK_LIMIT : 1;
}

/*
 * True if an exception unwinds the frame. Code that only walks the stack triggers PLAN_LEAVING,
 * too.
 */
static bool is_unwinding(const struct stepper *stepper, const struct trap *trap)
{
	return trap->now.error != 0 &&
	       pyframes_is_unwound(&stepper->frames, &trap->now.frame, stepper->here.code);
}

/* Reads the position of a frame whose positions were not followed. */
static void find_again(struct stepper *stepper, const struct trap *trap)
{
	struct follow *here = &stepper->here;
	int before = here->at;

	here->at = bytecode_instruction(here->code, unit_now(stepper, trap, here->code));
	if (here->at >= 0)
		here->shown_line = bytecode_traced_line(stepper->python, here->code, before,
							here->shown_line, here->at);
	stepper->walked = 0;
}

/*
 * An exception was raised in a frame of the code. The positions of the frame are followed up to the
 * handler; if there is no handler, PLAN_LEAVING triggers.
 */
static void handlers_fired(struct stepper *stepper, const struct trap *trap)
{
	if (!trap_dispatch_is_here(stepper, trap))
		return;
	find_again(stepper, trap);
	stepper->here.pointer_due = -1;
	if (stepper->aim != AIM_RETURN || stepper->course != COURSE_RETURNING)
		stepper->course = COURSE_RAISING;
}

static bool is_at_return(const struct follow *follow)
{
	return follow->at >= 0 && follow->code->units[follow->at].kind == UNIT_RETURN;
}

/* True if a return was fetched and its pointer is not stored yet. */
static bool is_return_due(const struct follow *follow)
{
	return is_at_return(follow) && follow->pointer_due == follow->at;
}

/*
 * A generator whose last reference was dropped is closed without being run: the step continues in
 * the frame that dropped the reference.
 */
static void frame_dropped(struct stepper *stepper, const struct trap *trap)
{
	const struct follow *here = &stepper->here;

	if (!here->is_in_generator || stepper->ended == here->frame ||
	    stepper->bdb.stop_frame != here->frame ||
	    !pyframes_is_finished(&stepper->frames, here->frame))
		return;
	end_course(stepper, COURSE_RETURNING);
	if (trap->now.frame.address)
		bdb_next(&stepper->bdb, trap->now.frame.address, 0);
	else
		stepper_run_free(stepper);
}

/*
 * A return may begin before it stores the frame's pointer (gcc moves the load up): then the watch
 * of the pointer triggers next. Code that only walks the stack triggers this watch, too.
 */
static void leaving_fired(struct stepper *stepper, const struct trap *trap)
{
	struct follow *here = &stepper->here;

	if (!trap_dispatch_is_here(stepper, trap)) {
		frame_dropped(stepper, trap);
		return;
	}
	if (pyframes_is_raising(&stepper->frames, &trap->now.frame)) {
		handlers_fired(stepper, trap);
		return;
	}
	if (stepper->is_ahead && !is_return_due(here))
		find_again(stepper, trap);
	if (stepper->aim == AIM_RETURN)
		end_course(stepper, COURSE_RAISING);
	if (is_unwinding(stepper, trap))
		event_synthesis_unwinding(stepper, here);
	else if (stepper->ended == here->frame || trap->now.error != 0)
		return;
	else if (is_at_return(here))
		event_synthesis_return(stepper, here, here->at, true);
	else if (stepper->aim == AIM_RETURN && stepper->python->minor >= 11)
		stepper->course = COURSE_RETURNING;
	else
		end_course(stepper, COURSE_RETURNING);
}

/*
 * True if the newest frame was called just now; false if a called frame has returned to it. The
 * newest frame's link to its caller may not be stored yet (3.12), so the link of the old frame is
 * read.
 */
static bool is_entered(const struct stepper *stepper, const struct pythread_now *now)
{
	struct pyframe_now old = { .address = stepper->here.frame,
				   .previous = stepper->here.previous };
	struct pyframe_now caller;

	if (old.address == 0)
		return true;
	if (now->newest == old.previous)
		return false;
	return pyframes_caller(&stepper->frames, &old, &caller) < 0 ||
	       caller.address != now->frame.address;
}

static void newest_changed(struct stepper *stepper, const struct pythread_now *now)
{
	struct follow *here = &stepper->here;

	if (now->frame.address == 0 || now->frame.address == here->frame)
		return;
	bool entered = is_entered(stepper, now);
	stepper->ended = 0;
	if (event_synthesis_start(stepper, here, &now->frame) < 0 || !entered)
		return;
	if (stepper->python->minor <= 10)
		event_synthesis_call(stepper, here);
	/* The generator was entered by throw() or close(), which do not run RESUME. */
	else if (here->at >= 0 && now->error != 0)
		event_synthesis_call(stepper, here);
}

/*
 * Called when the return of the frame was missed: the step can only stop at the caller's next line.
 */
static void return_missed(struct stepper *stepper)
{
	end_course(stepper, COURSE_RETURNING);
	/*
	 * If stop_frame is this frame, it is the frame of a generator, which may only have yielded.
	 */
	if (stepper->bdb.stop_frame != stepper->here.frame)
		stepper->bdb.return_frame = 0;
}

/*
 * True if the frame is no longer on the stack. A generator that yields may clear its link to its
 * caller first (3.12), so its state is read.
 */
static bool is_left(const struct stepper *stepper, const struct trap *trap)
{
	const struct follow *here = &stepper->here;

	return trap->now.newest == here->previous ||
	       (here->is_in_generator && pyframes_is_suspended(&stepper->frames, here->frame));
}

static void newest_fired(struct stepper *stepper, const struct trap *trap)
{
	stepper->is_loop_new = false;
	if (stepper->aim == AIM_RETURN) {
		if (is_left(stepper, trap))
			return_missed(stepper);
		return;
	}
	newest_changed(stepper, &trap->now);
}

/*
 * An evaluation loop at a lower C stack address is new: the word for its newest frame is garbage
 * until PLAN_NEWEST triggers at that word.
 */
static void loop_fired(struct stepper *stepper, const struct trap *trap)
{
	uint64_t old = stepper->loop;

	stepper->loop = trap->now.loop;
	stepper->is_loop_new = trap->now.loop < old;
	if (!stepper->is_loop_new)
		newest_changed(stepper, &trap->now);
}

/*
 * True if the unit whose byte was read is being dispatched. Instrumentation, cr_await, gi_yieldfrom
 * and co_code read the byte, too; then no path leads from the frame's pointer to the unit.
 */
static bool is_dispatched(const struct stepper *stepper, const struct bytecode *code, int from,
			  int unit)
{
	/*
	 * Up to 3.10, the pointer may be stored before the fetch. From 3.11 on, it is not, but
	 * specialisation reads and writes the running instruction.
	 */
	if (from == unit)
		return stepper->python->minor <= 10 || code->units[unit].target == unit;
	return from < 0 || bytecode_reaches(stepper->python, code, from, unit);
}

/*
 * Returns the instruction before the fetched unit. The pointer is still at `from`, but a
 * superinstruction may have run another instruction in between.
 */
static int before_fetch(const struct stepper *stepper, const struct follow *follow, int from,
			int unit)
{
	int at = follow->at;

	if (from >= 0 && follow->pointer_due == at && at >= 0 && at != unit && at != from &&
	    bytecode_reaches(stepper->python, follow->code, from, at) &&
	    bytecode_reaches(stepper->python, follow->code, at, unit))
		return at;
	return from;
}

/*
 * Returns the instruction before a unit whose pointer was stored before the fetch. That instruction
 * is unknown unless the positions were followed: if possible, assumes one from which the unit makes
 * a line event, but no raised exception.
 */
static int before_store(const struct stepper *stepper, const struct follow *follow, int unit)
{
	if (bytecode_is_line(stepper->python, follow->code, -1, unit, false))
		return -1;
	if (!follow->code->units[unit].is_handler &&
	    event_synthesis_is_line_unit(stepper, follow, unit))
		return unit + 1;
	return bytecode_instruction(follow->code, unit - 1);
}

static void dispatch(struct stepper *stepper, struct follow *follow, int from, int unit)
{
	if (from != unit)
		follow->at = before_fetch(stepper, follow, from, unit);
	else
		follow->at = before_store(stepper, follow, unit);
	if (follow->code->units[unit].kind == UNIT_RETURN)
		follow->shown_line =
			bytecode_traced_line(stepper->python, follow->code, -1, 0, unit);
	follow->fetch_due = -1;
	follow->pointer_due = from == unit ? -1 : unit;
	follow->due_from = from;
	event_synthesis_position(stepper, follow, unit);
}

/* Notes that unit was fetched while the frame's pointer is watched and is still at `from`. */
static void note_fetch(struct stepper *stepper, const struct bytecode *code, int from, int unit)
{
	struct follow *here = &stepper->here;

	if (is_dispatched(stepper, code, from, unit))
		here->store_due = from != unit ? unit : -1;
	else if (here->store_due >= 0 &&
		 bytecode_follows(stepper->python, code, here->store_due, unit))
		here->store_due = unit;
}

static void unit_fired(struct stepper *stepper, const struct trap *trap)
{
	const struct pyframe_now *frame = &trap->now.frame;
	const struct bytecode *code =
		frame->address ? bytecode_meet(stepper->codes, frame->code) : NULL;
	int unit = code ? bytecode_unit_at(code, trap->fired->watch.address) : -1;

	if (unit < 0)
		return;
	int from = bytecode_instruction(code, pyframes_unit(&stepper->frames, frame, code));
	if (trap_dispatch_is_here(stepper, trap) && is_position_watched(stepper)) {
		/* The watch of the frame's pointer will report the unit, in the right order. */
		note_fetch(stepper, code, from, unit);
		return;
	}
	if (!is_dispatched(stepper, code, from, unit))
		return;
	if (trap_dispatch_is_here(stepper, trap)) {
		struct follow *here = &stepper->here;
		/* The watch of the frame's pointer has already reported the unit. */
		if (here->fetch_due == unit && here->at == unit) {
			here->fetch_due = -1;
			return;
		}
		stepper->walked = 0;
		stepper->is_stepping_off = false;
		if (stepper->ended == here->frame)
			stepper->ended = 0;
		/*
		 * gcc may load the opcode of a return before it stores the
		 * value on the generator's stack: the event is made when the
		 * frame's pointer is stored, which is later.
		 */
		if (stepper->aim == AIM_RETURN && here->is_in_generator && from != unit &&
		    code->units[unit].kind == UNIT_RETURN) {
			find_again(stepper, trap);
			stepper->course = COURSE_RETURNING;
			return;
		}
		dispatch(stepper, here, from, unit);
		return;
	}
	if (stepper->ended == frame->address)
		stepper->ended = 0;
	/* This is another frame of the same code: stepper->here is unchanged. */
	if (event_synthesis_start(stepper, &stepper->other, frame) == 0)
		dispatch(stepper, &stepper->other, from, unit);
}

/*
 * True if the newest frame is that of the call that has begun at the watched unit. Its code need
 * not be the watched one: in 3.10 functions with equal bytecode share it.
 */
static bool is_linked(struct stepper *stepper, const struct trap *trap)
{
	const struct pyframe_now *frame = &trap->now.frame;
	const struct bytecode *code =
		frame->address ? bytecode_meet(stepper->codes, frame->code) : NULL;
	int unit = code ? bytecode_unit_at(code, trap->fired->watch.address) : -1;

	return unit >= 0 && unit_now(stepper, trap, code) <= unit;
}

/*
 * A function begins that is to be followed (slot-multiplex.c). If its frame is not linked yet (gcc
 * moves the load up), the watch of the newest frame triggers next. Up to 3.10, the function's first
 * line begins here, too.
 */
static void entry_fired(struct stepper *stepper, const struct trap *trap)
{
	stepper->is_entering = trap->fired->code != 0 && !is_linked(stepper, trap);
	if (stepper->ended == trap->now.frame.address)
		stepper->ended = 0;
	if (stepper->python->minor <= 10)
		unit_fired(stepper, trap);
}

/*
 * Function of each kind of watch. trap_dispatch_take_trap() handles PLAN_DATA; PLAN_START is not
 * passed to the stepper.
 */
static void (*const kinds[])(struct stepper *stepper, const struct trap *trap) = {
	[PLAN_POSITION] = position_fired, [PLAN_LEAVING] = leaving_fired,
	[PLAN_NEWEST] = newest_fired,	  [PLAN_LOOP] = loop_fired,
	[PLAN_HANDLERS] = handlers_fired, [PLAN_UNIT] = unit_fired,
	[PLAN_BREAKPOINT] = unit_fired,	  [PLAN_ENTRY] = entry_fired,
};

/*
 * Handles a write of the running instruction to watched data. The thread stops even if the frame is
 * unreadable, because the hit was counted.
 */
static bool data_stops(struct stepper *stepper, const struct trap *trap, struct stepper_stop *stop)
{
	const struct pyframe_now *frame = &trap->now.frame;
	struct follow follow;
	int id = trap->fired->id;

	if (!stepper->calls.is_data(&id, frame->address, stepper->calls.data))
		return false;
	if (event_synthesis_start(stepper, &follow, frame) < 0)
		follow.frame = 0;
	stepper->here = follow;
	*stop = (struct stepper_stop){
		.at = STOP_AT_UNKNOWN,
		.reason = STOP_DATA_BREAKPOINT,
		.frame = follow.frame,
		.code = follow.code,
		.line = follow.shown_line,
		.unit = follow.at,
		.data_id = id,
	};
	stepper->last = (struct event){ .stop = *stop };
	return true;
}

/*
 * Ignores a trap without a readable frame: while an evaluation loop begins, the word for its newest
 * frame is garbage (3.11, 3.12; a generator's frame is written at that moment). The next trap can
 * be read.
 */
static bool stray_trap(struct stepper *stepper)
{
	if (++stepper->stray_count >= STRAYS_MAXIMUM)
		stepper_lose(stepper, "the thread's frames cannot be read");
	return false;
}

static bool trap_dispatch_take_trap(struct stepper *stepper, const struct planned *fired,
				    struct stepper_stop *stop)
{
	struct trap trap = { .fired = fired };

	if (pyframes_read(&stepper->frames, stepper->here.frame, &trap.now) < 0 &&
	    fired->kind != PLAN_LOOP)
		return stray_trap(stepper);
	stepper->stray_count = 0;
	if (fired->kind == PLAN_DATA)
		return data_stops(stepper, &trap, stop);
	if (trap_dispatch_is_here(stepper, &trap))
		stepper->here.previous = trap.now.frame.previous;
	stepper->other = (struct follow){ .frame = 0 };
	kinds[fired->kind](stepper, &trap);
	if (stepper_happen(stepper, stop)) {
		if (stepper->other.frame == stop->frame)
			stepper->here = stepper->other;
		return true;
	}
	stepper_aim(stepper, &trap.now);
	return false;
}

bool stepper_trap(struct stepper *stepper, const struct planned *fired, struct stepper_stop *stop)
{
	bool is_stop;

	memory_begin_stand(stepper->memory);
	is_stop = trap_dispatch_take_trap(stepper, fired, stop);
	memory_end_stand(stepper->memory);
	return is_stop;
}
