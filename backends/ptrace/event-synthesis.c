/*
 * event-synthesis: makes the events that a trace function would get (line, call, return, exception)
 * from successive positions of a frame's instruction pointer. The pointer is stored by the
 * interpreter, not at each instruction and not at the same point in each version: most functions
 * here correct such a difference.
 */
#include <string.h>

#include "banned.h"

#include "backends/cpython/bytecode.h"
#include "backends/cpython/cpython.h"
#include "backends/ptrace/stepper-private.h"

#define LINE_UNITS_MAXIMUM 64
/* Maximum number of following instructions that a superinstruction runs: 3.11's call of
 * list.append() runs PRECALL, CALL and POP_TOP. */
#define JOINED_MAXIMUM 2

int event_synthesis_start(struct stepper *stepper, struct follow *follow,
			  const struct pyframe_now *frame)
{
	*follow = (struct follow){
		.frame = frame->address,
		.previous = frame->previous,
		.at = -1,
		.pointer_due = -1,
		.fetch_due = -1,
		.store_due = -1,
		.raised_at = -1,
	};
	if (frame->address == 0)
		return 0;
	follow->code = bytecode_meet(stepper->codes, frame->code);
	if (!follow->code)
		return -1;
	follow->is_in_generator = pyframes_is_in_generator(&stepper->frames, frame);
	int unit = pyframes_unit(&stepper->frames, frame, follow->code);
	/* From 3.13 on, a frame that has not begun is at its first unit. */
	if (unit == 0 && stepper->python->minor >= 13)
		unit = -1;
	/* During a call, the pointer is at one of CALL's cache entries. */
	if (unit >= 0)
		follow->at = bytecode_instruction(follow->code, unit);
	follow->shown_line =
		follow->at < 0 ? follow->code->first_line : follow->code->units[follow->at].line;
	return 0;
}

/*
 * True if the code is not the user's: the interpreter has made it for a specialised class call
 * (from 3.13 on).
 */
static bool event_synthesis_is_hidden(const struct bytecode *code)
{
	return strcmp(code->name, "__init__") == 0 && strcmp(code->file, "__init__") == 0;
}

static struct event *add_event(struct stepper *stepper, const struct follow *follow,
			       enum stop_event at, int line, int unit)
{
	struct event *event = &stepper->events[stepper->event_count];

	if (event_synthesis_is_hidden(follow->code) || stepper->event_count == EVENTS_MAXIMUM)
		return NULL;
	stepper->event_count++;
	*event = (struct event){
		.stop = {
			.at = at,
			.reason = STOP_STEP,
			.frame = follow->frame,
			.code = follow->code,
			.line = line < 0 ? follow->code->first_line : line,
			.unit = unit,
		},
	};
	return event;
}

/*
 * Returns the line that a trace function sees at events other than line events: up to 3.9 the line
 * of the last line event, from 3.10 on the line of the instruction.
 */
static int event_synthesis_shown_line(const struct stepper *stepper, const struct follow *follow,
				      int unit)
{
	if (stepper->python->minor <= 9 && follow->shown_line > 0)
		return follow->shown_line;
	return unit < 0 ? -1 : follow->code->units[unit].line;
}

static const struct unit *unit_at(const struct follow *follow, int unit)
{
	return &follow->code->units[unit];
}

/* True if the unit raises an exception again, which is not a new exception event. */
static bool is_reraise(const struct unit *unit)
{
	return unit->kind == UNIT_RERAISE || unit->kind == UNIT_END_ASYNC_FOR ||
	       unit->kind == UNIT_CLEANUP_THROW;
}

static int raised_from(const struct follow *follow)
{
	return follow->raised_at >= 0 ? follow->raised_at : follow->at;
}

static bool event_synthesis_is_raised(const struct stepper *stepper, const struct follow *follow,
				      int from, int to)
{
	return from >= 0 && unit_at(follow, to)->is_handler &&
	       !bytecode_follows(stepper->python, follow->code, from, to);
}

static void event_synthesis_add_line(struct stepper *stepper, struct follow *follow, int unit)
{
	int line = unit_at(follow, unit)->line;

	follow->shown_line = line;
	add_event(stepper, follow, STOP_AT_LINE, line, unit);
}

void event_synthesis_return(struct stepper *stepper, struct follow *follow, int unit, bool is_last)
{
	struct event *event = add_event(stepper, follow, STOP_AT_RETURN,
					event_synthesis_shown_line(stepper, follow, unit), unit);

	if (event)
		event->is_last = is_last;
	if (is_last)
		stepper->ended = follow->frame;
}

void event_synthesis_call(struct stepper *stepper, struct follow *follow)
{
	int line = follow->at < 0 ? follow->code->first_line : unit_at(follow, follow->at)->line;

	add_event(stepper, follow, STOP_AT_CALL, line, follow->at);
}

/* Makes the return event of the frame, unless it was made or the unit is no return. */
static void return_at(struct stepper *stepper, struct follow *follow, int unit)
{
	if (unit_at(follow, unit)->kind == UNIT_RETURN && stepper->ended != follow->frame)
		event_synthesis_return(stepper, follow, unit, true);
}

void event_synthesis_position(struct stepper *stepper, struct follow *follow, int unit)
{
	const struct unit *to = unit_at(follow, unit);
	int from = follow->at;
	int raised_at = raised_from(follow);
	bool raised = event_synthesis_is_raised(stepper, follow, raised_at, unit);

	follow->raised_at = -1;
	follow->is_unwound = false;
	follow->at = unit;
	/* The handler has not run yet, so the event belongs to the instruction that has raised. */
	if (raised && !is_reraise(unit_at(follow, raised_at)))
		add_event(stepper, follow, STOP_AT_EXCEPTION,
			  event_synthesis_shown_line(stepper, follow, from), from);
	if (stepper->python->minor >= 11 && to->kind == UNIT_RESUME)
		event_synthesis_call(stepper, follow);
	else if (bytecode_is_line(stepper->python, follow->code, from, unit, raised))
		event_synthesis_add_line(stepper, follow, unit);
	if (to->kind == UNIT_YIELD)
		event_synthesis_return(stepper, follow, unit, false);
	else if (follow->pointer_due != unit)
		return_at(stepper, follow, unit);
}

/*
 * Returns the unit that follows the instruction at `unit`, which a superinstruction would also run;
 * -1: none.
 */
static int joined_unit(const struct follow *follow, int unit)
{
	return unit < 0 ? -1 : unit + unit_at(follow, unit)->length;
}

/*
 * A superinstruction also runs the next instruction, for which no pointer is stored: makes the
 * events of that instruction when the pointer is after it. (Its unit is fetched, but gcc may move
 * that load before the store of the first half.)
 */
static void pass_joined(struct stepper *stepper, struct follow *follow, int unit)
{
	int joined = joined_unit(follow, follow->at);

	if (joined >= 0 && joined != unit &&
	    bytecode_follows(stepper->python, follow->code, follow->at, joined) &&
	    bytecode_follows(stepper->python, follow->code, joined, unit) &&
	    !bytecode_follows(stepper->python, follow->code, follow->at, unit))
		event_synthesis_position(stepper, follow, joined);
}

/*
 * If a superinstruction has raised, makes the events of its second half, because the first half
 * cannot raise.
 */
static void pass_raising(struct stepper *stepper, struct follow *follow)
{
	int joined = joined_unit(follow, follow->at);

	if (joined >= 0 && follow->raised_at < 0 && follow->pointer_due != follow->at &&
	    bytecode_is_line(stepper->python, follow->code, follow->at, joined, false) &&
	    bytecode_hides_next(stepper->codes, follow->code, follow->at))
		event_synthesis_position(stepper, follow, joined);
}

/*
 * From 3.13 on, YIELD_VALUE stores not its own unit, but that at which its generator is resumed:
 * the RESUME after it. Returns the unit of the YIELD_VALUE in this case, else unit.
 */
static int yield_of(const struct stepper *stepper, const struct follow *follow, int unit)
{
	int before = unit - 1;

	if (stepper->python->minor >= 13 && before >= 0 &&
	    unit_at(follow, unit)->kind == UNIT_RESUME &&
	    unit_at(follow, before)->kind == UNIT_YIELD && follow->at >= 0 && follow->at != unit &&
	    follow->at != before)
		return before;
	return unit;
}

/*
 * True if a RERAISE has set the pointer back to the unit that raised (from 3.10 on). Nothing runs
 * there, and the handlers are still those of the RERAISE.
 */
static bool is_put_back(const struct stepper *stepper, const struct follow *follow, int unit)
{
	return stepper->python->minor >= 10 && follow->at >= 0 &&
	       unit_at(follow, follow->at)->kind == UNIT_RERAISE &&
	       !unit_at(follow, unit)->is_handler;
}

/*
 * True if a YIELD_FROM has set the pointer back by one unit, which it does at each yield up to
 * 3.10.
 */
static bool is_yield_from(const struct stepper *stepper, const struct follow *follow, int unit)
{
	return stepper->python->minor <= 10 && follow->at >= 0 && unit == follow->at - 1 &&
	       unit_at(follow, follow->at)->kind == UNIT_YIELD_FROM;
}

/*
 * True if `unit` comes right after the instruction at which the pointer was at the last fetch, or
 * after the instructions that a superinstruction there runs, too.
 */
static bool follows_due_from(const struct stepper *stepper, const struct follow *follow, int unit)
{
	int at = follow->due_from;

	for (int i = 0; i <= JOINED_MAXIMUM; i++) {
		int joined = joined_unit(follow, at);

		if (bytecode_follows(stepper->python, follow->code, at, unit))
			return true;
		if (!bytecode_follows(stepper->python, follow->code, at, joined))
			return false;
		at = joined;
	}
	return false;
}

/*
 * True if the stored pointer is out of date: an instruction may fetch the next instruction before
 * it stores its own pointer (gcc moves loads up; NOP of 3.11), so that the watch of the next
 * instruction has triggered before.
 */
static bool is_passed(const struct stepper *stepper, const struct follow *follow, int unit)
{
	return follow->pointer_due >= 0 && follow->pointer_due == follow->at &&
	       unit != follow->at && follows_due_from(stepper, follow, unit) &&
	       bytecode_follows(stepper->python, follow->code, unit, follow->at);
}

/*
 * True in a case of 3.12: a generator or coroutine that ends returns to the FOR_ITER or SEND which
 * entered it, and leaves the pointer at the unit before the one that runs next, where nothing runs.
 * That is the unit of a `continue` or, in `async with`, of a handler. A pointer at the SEND's own
 * handler is not such a case.
 */
static bool is_sent_back(const struct stepper *stepper, const struct follow *follow, int unit)
{
	const struct unit *from;

	if (stepper->python->minor != 12 || follow->at < 0)
		return false;
	from = unit_at(follow, follow->at);
	return (from->kind == UNIT_SEND || from->kind == UNIT_FOR_ITER) &&
	       unit == from->target - 1 && unit != from->handler;
}

void event_synthesis_pointer(struct stepper *stepper, struct follow *follow, int unit)
{
	/* An inlined call stores a pointer to one of CALL's cache entries. */
	if (unit < 0 || unit_at(follow, unit)->kind == UNIT_INSIDE)
		return;
	if (is_passed(stepper, follow, unit) || is_sent_back(stepper, follow, unit))
		return;
	/*
	 * An interpreter built with gcc may fetch a unit before it stores the pointer of the
	 * instruction before: the store for the fetched unit, store_due, is then still to come.
	 */
	if (follow->store_due >= 0 &&
	    (unit == follow->store_due ||
	     !bytecode_follows(stepper->python, follow->code, unit, follow->store_due)))
		follow->store_due = -1;
	bool is_due = follow->pointer_due == unit && unit == follow->at;
	follow->pointer_due = -1;
	if (is_due) {
		return_at(stepper, follow, unit);
		return;
	}
	if (stepper->ended == follow->frame && unit != follow->at)
		stepper->ended = 0;
	unit = yield_of(stepper, follow, unit);
	if (is_yield_from(stepper, follow, unit)) {
		event_synthesis_return(stepper, follow, follow->at, false);
		return;
	}
	if (is_put_back(stepper, follow, unit)) {
		follow->raised_at = follow->at;
		follow->at = unit;
		return;
	}
	/*
	 * The same pointer was stored again: no event, except for an instruction that jumps to
	 * itself.
	 */
	if (unit == follow->at && unit_at(follow, unit)->kind != UNIT_RESUME &&
	    unit_at(follow, unit)->target != unit)
		return;
	pass_joined(stepper, follow, unit);
	if (event_synthesis_is_raised(stepper, follow, raised_from(follow), unit))
		pass_raising(stepper, follow);
	event_synthesis_position(stepper, follow, unit);
	if (stepper->python->minor <= 10)
		follow->fetch_due = unit;
}

void event_synthesis_unwinding(struct stepper *stepper, struct follow *follow)
{
	if (follow->is_unwound)
		return;
	pass_raising(stepper, follow);
	int from = raised_from(follow);
	follow->is_unwound = true;
	if (from < 0 || !is_reraise(unit_at(follow, from)))
		add_event(stepper, follow, STOP_AT_EXCEPTION,
			  event_synthesis_shown_line(stepper, follow, follow->at), follow->at);
	event_synthesis_return(stepper, follow, follow->at, true);
}

bool event_synthesis_is_unborn(const struct stepper *stepper, const struct follow *follow)
{
	return stepper->python->minor >= 11 && follow->code &&
	       (follow->code->flags & BYTECODE_GENERATOR) && !follow->is_in_generator;
}

bool event_synthesis_is_line_unit(const struct stepper *stepper, const struct follow *follow,
				  int unit)
{
	int units[LINE_UNITS_MAXIMUM];
	size_t count = bytecode_line_units(stepper->python, follow->code,
					   unit_at(follow, unit)->line, units, LINE_UNITS_MAXIMUM);

	if (count > LINE_UNITS_MAXIMUM)
		return true;
	for (size_t i = 0; i < count; i++)
		if (units[i] == unit)
			return true;
	return false;
}
