/*
 * slot-assignment: chooses the few watches that are most useful now.
 *
 * Each letter is a kind of watch:
 *	A position  writes of a frame's pointer: each of its instructions
 *	B leaving   the frame is about to be unlinked
 *	C newest    a frame was pushed or popped
 *	D loop      an evaluation loop was entered or left: C must move
 *	E handlers  an exception was raised in a frame of the code; up to 3.9
 *		    what is handled changes
 *	R unit      a code unit is dispatched, in any frame of the code
 *
 *	aim	how
 *	all	A B C (D)
 *	frame	A B; after some positions R on each unit that can come first,
 *		and B, and E
 *	return	B; of a generator R on its returns and E
 *	called	B and R on each breakpoint, or as of a frame
 *	nothing	none
 *
 * Breakpoints get the slots that are left. A breakpoint whose unit may come right
 * after the running instruction could be missed (the instruction may have
 * fetched the unit already): A then stays for one more trap.
 */
#include <limits.h>
#include <stdlib.h>

#include "banned.h"

#include "backends/cpython/bytecode.h"
#include "backends/cpython/cpython.h"
#include "backends/linux/memory.h"
#include "backends/ptrace/stepper-private.h"
#include "base/array.h"

#define AHEAD_MAXIMUM 64 /* maximum number of units ahead; more than there are watches */
#define WALK_LIMIT_MAXIMUM 100000
/* Positions after which the slot for the entry of the called function is given to other watches. */
#define WALK_CALLED 500

struct draft {
	struct planned items[HARDWARE_WATCH_SLOTS];
	size_t count;
};

/* Adds a watch to the draft, unless the draft contains it. Returns false if no slot is left. */
static bool slot_assignment_want(struct draft *draft, const struct planned *planned)
{
	if (planned->watch.access == HARDWARE_WATCH_NONE)
		return true;
	for (size_t i = 0; i < draft->count; i++)
		if (hardware_watch_is_same(&draft->items[i].watch, &planned->watch))
			return true;
	if (draft->count == HARDWARE_WATCH_SLOTS)
		return false;
	draft->items[draft->count++] = *planned;
	return true;
}

static void want_watch(struct draft *draft, enum plan_kind kind, struct hardware_watch watch)
{
	slot_assignment_want(draft, &(struct planned){ .watch = watch, .kind = kind });
}

static void want_unit(struct draft *draft, const struct bytecode *code, int unit)
{
	want_watch(draft, PLAN_UNIT,
		   (struct hardware_watch){
			   .address = bytecode_watched(code, unit),
			   .length = 1,
			   .access = HARDWARE_WATCH_ACCESS,
		   });
}

static void want_leaving(const struct stepper *stepper, struct draft *draft)
{
	want_watch(draft, PLAN_LEAVING,
		   pyframes_watch_leaving(&stepper->frames, stepper->here.frame));
}

static void want_walk(const struct stepper *stepper, struct draft *draft)
{
	want_watch(draft, PLAN_POSITION,
		   pyframes_watch_position(&stepper->frames, stepper->here.frame));
	want_leaving(stepper, draft);
}

static void plan_all(struct stepper *stepper, const struct plan_watch_requests *watch_requests,
		     struct draft *draft)
{
	const struct pyframes *frames = &stepper->frames;

	(void)watch_requests;
	if (stepper->here.frame && stepper->here.code)
		want_walk(stepper, draft);
	want_watch(draft, PLAN_NEWEST, pyframes_watch_newest(frames, stepper->loop));
	want_watch(draft, PLAN_LOOP, pyframes_watch_loop(frames));
}

/* The units that can run next, except those that another watch reports. */
struct ahead {
	int units[AHEAD_MAXIMUM];
	size_t count;
	const bool *wanted; /* indexed by unit: true if it has a breakpoint (bytecode_frontier());
			     * NULL: no breakpoints */
	bool has_handlers;  /* a handler can run next, which watch E reports */
	bool is_near;	    /* one of the units may have been fetched already */
};

/* Returns the first line at which the command stops; all greater lines stop, too. INT_MAX: none. */
static int line_ahead(const struct stepper *stepper)
{
	return stepper->aim == AIM_CALLED ? INT_MAX : stepper->bdb.stop_line;
}

/*
 * True if a breakpoint or a line of the unit could stop; a unit that is only a return or a handler
 * does not count.
 */
static bool slot_assignment_is_wanted(const struct stepper *stepper, const struct ahead *ahead,
				      int unit)
{
	const struct follow *here = &stepper->here;

	return (ahead->wanted && ahead->wanted[unit]) ||
	       (here->code->units[unit].line >= line_ahead(stepper) &&
		event_synthesis_is_line_unit(stepper, here, unit));
}

/*
 * True if the unit before continues into this handler: in 3.8 a `finally` has one copy for all
 * paths.
 */
static bool is_fallen_into(const struct stepper *stepper, int unit)
{
	const struct bytecode *code = stepper->here.code;

	return unit > 0 &&
	       bytecode_follows(stepper->python, code, bytecode_instruction(code, unit - 1), unit);
}

/*
 * True if the frame's positions must be followed to know whether `unit` begins a line. Up to 3.10
 * the pointer is stored before the unit is fetched, so a watch of the unit does not tell the
 * instruction before: the end of `x = (a if b` and `else f())` begins a line only after the `else`.
 */
static bool is_joined_by_line(const struct stepper *stepper, int unit)
{
	const struct follow *here = &stepper->here;

	return stepper->python->minor <= 10 && unit != here->at &&
	       bytecode_reaches_quietly(stepper->python, here->code, here->at, unit);
}

static void add_ahead(const struct stepper *stepper, struct ahead *ahead, int from, int unit)
{
	const struct bytecode *code = stepper->here.code;
	const struct unit *to = &code->units[unit];

	for (size_t i = 0; i < ahead->count; i++)
		if (ahead->units[i] == unit)
			return;
	if (to->is_handler) {
		/*
		 * 3.10 writes the word of watch B when an exception is raised, so E is not needed.
		 */
		ahead->has_handlers = stepper->python->minor != 10;
		if (!is_fallen_into(stepper, unit) ||
		    !slot_assignment_is_wanted(stepper, ahead, unit))
			return;
	}
	if (from == stepper->here.at && (bytecode_reaches(stepper->python, code, from, unit) ||
					 is_joined_by_line(stepper, unit)))
		ahead->is_near = true;
	if (ahead->count < AHEAD_MAXIMUM &&
	    (to->kind != UNIT_RETURN || slot_assignment_is_wanted(stepper, ahead, unit)))
		ahead->units[ahead->count++] = unit;
}

/*
 * True if bdb does not stop at the unit, because it is on the line where the command was given
 * (from 3.13.6 on).
 */
static bool is_passed_by(const struct stepper *stepper, int unit)
{
	const struct bdb *bdb = &stepper->bdb;

	return bdb->command_frame == stepper->here.frame &&
	       stepper->here.code->units[unit].line == bdb->command_line &&
	       stepper->here.code->units[unit].kind != UNIT_RETURN;
}

static bool add_start(int *starts, size_t *count, int unit)
{
	for (size_t i = 0; i < *count; i++)
		if (starts[i] == unit)
			return true;
	if (*count == AHEAD_MAXIMUM)
		return false;
	starts[(*count)++] = unit;
	return true;
}

/*
 * Collects the units that can run next; watch B reports returns, E reports handlers. The search
 * continues after a line on which bdb does not stop. Returns false if there are too many units.
 */
static bool look_ahead(const struct stepper *stepper, struct ahead *ahead)
{
	const struct bytecode *code = stepper->here.code;
	int line = line_ahead(stepper);
	int starts[AHEAD_MAXIMUM] = { stepper->here.at };
	int units[AHEAD_MAXIMUM];
	size_t start_count = 1;
	size_t count;

	for (size_t k = 0; k < start_count; k++) {
		if (!bytecode_frontier(stepper->python, code, starts[k], line, ahead->wanted, units,
				       AHEAD_MAXIMUM, &count))
			return false;
		for (size_t i = 0; i < count; i++)
			if (!is_passed_by(stepper, units[i]))
				add_ahead(stepper, ahead, starts[k], units[i]);
			else if (!add_start(starts, &start_count, units[i]))
				return false;
	}
	return true;
}

/*
 * Returns the number of slots for the aim. Breakpoints keep the slots that A and B leave to them,
 * two at most.
 */
static size_t room_beside(const struct stepper *stepper,
			  const struct plan_watch_requests *watch_requests)
{
	size_t count = slot_multiplex_count(stepper, watch_requests);

	return HARDWARE_WATCH_SLOTS - (count < 2 ? count : 2);
}

static bool is_planned(const struct plan *plan, const struct hardware_watch *watch)
{
	for (size_t i = 0; i < HARDWARE_WATCH_SLOTS; i++)
		if (hardware_watch_is_same(&plan->slots[i].watch, watch))
			return true;
	return false;
}

/*
 * True if positions must be followed before a watch of the unit is enough. The unit could be
 * missed, because it runs right after the current instruction. Up to 3.10, where the pointer is
 * stored before the unit is fetched, it could also be missed because it is the current instruction,
 * or be taken for the beginning of a line (is_joined_by_line()).
 */
static bool is_near(const struct stepper *stepper, const struct hardware_watch *watch)
{
	const struct follow *here = &stepper->here;
	int unit = bytecode_unit_at(here->code, watch->address);

	if (unit < 0)
		return false;
	if (here->fetch_due == unit)
		return true;
	if (is_joined_by_line(stepper, unit))
		return true;
	/* A handler cannot be missed, because it is searched for when the exception is raised. */
	if (here->code->units[unit].is_handler && !is_fallen_into(stepper, unit))
		return false;
	return here->pointer_due < 0 && here->at >= 0 && !is_planned(&stepper->plan, watch) &&
	       bytecode_reaches(stepper->python, here->code, here->at, unit);
}

/*
 * True if a stop could be reported twice: a unit that was fetched, and whose pointer is not stored
 * yet, is fetched again if the interpreter lets another thread run in between. That takes so long
 * only at a stop for the user.
 */
static bool is_refetched(const struct stepper *stepper, const struct hardware_watch *watch)
{
	const struct follow *here = &stepper->here;

	return stepper->news == NEWS_RESUME && here->pointer_due >= 0 &&
	       bytecode_unit_at(here->code, watch->address) == here->pointer_due;
}

static bool is_watch_request_near(const struct stepper *stepper,
				  const struct plan_watch_requests *watch_requests)
{
	for (size_t i = 0; i < watch_requests->count; i++)
		if (watch_requests->items[i].kind == PLAN_BREAKPOINT &&
		    (is_near(stepper, &watch_requests->items[i].watch) ||
		     is_refetched(stepper, &watch_requests->items[i].watch)))
			return true;
	return false;
}

/*
 * Gives each breakpoint of the called function a watch. Returns false if that leaves no slot for B.
 */
static bool plan_bare(struct stepper *stepper, const struct plan_watch_requests *watch_requests)
{
	stepper->bare = stepper->here.code->address;
	if (slot_multiplex_count(stepper, watch_requests) < HARDWARE_WATCH_SLOTS)
		return true;
	stepper->bare = 0;
	return false;
}

/*
 * Returns the number of slots for the units ahead in a called function that was followed for long.
 * They include the slot that watched the entry of the function.
 */
static size_t room_in_called(struct stepper *stepper,
			     const struct plan_watch_requests *watch_requests)
{
	size_t others = slot_multiplex_count(stepper, watch_requests) - 1;

	stepper->bare = stepper->here.code->address;
	return HARDWARE_WATCH_SLOTS - (others < 1 ? others : 1);
}

static bool look_for_room(struct stepper *stepper, const struct plan_watch_requests *watch_requests,
			  struct ahead *ahead)
{
	bool *wanted = slot_multiplex_units(stepper, watch_requests);
	size_t count;

	*ahead = (struct ahead){ .wanted = wanted };
	bool has_room = look_ahead(stepper, ahead);
	free(wanted);
	ahead->wanted = NULL;
	count = ahead->count + ahead->has_handlers + 1;
	if (!has_room || count <= room_beside(stepper, watch_requests))
		return has_room;
	if (stepper->aim != AIM_CALLED || stepper->walked < WALK_CALLED || !stepper->is_multiplexed)
		return false;
	return count <= room_in_called(stepper, watch_requests);
}

/*
 * Watches the units that can run next. Returns false if the positions must be followed one by one.
 */
static bool plan_ahead(struct stepper *stepper, const struct plan_watch_requests *watch_requests,
		       struct draft *draft)
{
	const struct follow *here = &stepper->here;
	struct ahead ahead = { .count = 0 };

	/*
	 * An exception that was raised continues at its handler; a RERAISE does not continue at the
	 * frame's pointer.
	 */
	if (stepper->walked < stepper->walk_limit || stepper->course == COURSE_RAISING ||
	    here->store_due >= 0 || here->raised_at >= 0 || !here->handled)
		return false;
	bool is_bare = stepper->aim == AIM_CALLED && plan_bare(stepper, watch_requests);
	if (!is_bare && !look_for_room(stepper, watch_requests, &ahead)) {
		if (stepper->walk_limit < WALK_LIMIT_MAXIMUM)
			stepper->walk_limit *= 2;
		stepper->bare = 0;
		return false;
	}
	if (ahead.is_near || is_watch_request_near(stepper, watch_requests)) {
		stepper->bare = 0;
		return false;
	}
	for (size_t i = 0; i < ahead.count; i++)
		want_unit(draft, here->code, ahead.units[i]);
	if (ahead.has_handlers)
		want_watch(draft, PLAN_HANDLERS,
			   pyframes_watch_handled(&stepper->frames, here->code, here->handled));
	want_leaving(stepper, draft);
	return true;
}

static void plan_frame(struct stepper *stepper, const struct plan_watch_requests *watch_requests,
		       struct draft *draft)
{
	stepper->is_ahead = plan_ahead(stepper, watch_requests, draft);
	if (!stepper->is_ahead)
		want_walk(stepper, draft);
}

/*
 * In a generator, B would trigger at each value, when the frame is left: watches its returns
 * instead.
 */
static void plan_return(struct stepper *stepper, const struct plan_watch_requests *watch_requests,
			struct draft *draft)
{
	const struct pyframes *frames = &stepper->frames;
	const struct bytecode *code = stepper->here.code;
	struct draft returns = { .count = 0 };
	/* Up to 3.10 E is not a watch here, so returns.count stays below count. */
	bool is_generator = stepper->here.is_in_generator;
	struct hardware_watch freeing = pyframes_watch_freeing(frames, stepper->here.frame);
	size_t count = freeing.access == HARDWARE_WATCH_NONE ? 1 : 2;

	want_watch(&returns, PLAN_HANDLERS, pyframes_watch_handlers(frames, code));
	want_watch(&returns, PLAN_LEAVING, freeing);
	for (int i = 0; i < code->count; i++)
		if (code->units[i].kind == UNIT_RETURN) {
			want_unit(&returns, code, i);
			count++;
		}
	if (is_generator && returns.count == count &&
	    count <= room_beside(stepper, watch_requests) && stepper->course == COURSE_PLAIN)
		*draft = returns;
	else
		want_leaving(stepper, draft);
	stepper->is_ahead = stepper->course != COURSE_RETURNING &&
			    !event_synthesis_is_unborn(stepper, &stepper->here);
	if (stepper->is_ahead)
		return;
	want_watch(draft, PLAN_POSITION, pyframes_watch_position(frames, stepper->here.frame));
	want_watch(draft, PLAN_NEWEST, pyframes_watch_newest(frames, frames->loop));
}

static void plan_nothing(struct stepper *stepper, const struct plan_watch_requests *watch_requests,
			 struct draft *draft)
{
	(void)stepper;
	(void)watch_requests;
	(void)draft;
}

static void (*const aims[])(struct stepper *stepper,
			    const struct plan_watch_requests *watch_requests,
			    struct draft *draft) = {
	[AIM_NOTHING] = plan_nothing, [AIM_ALL] = plan_all,	 [AIM_FRAME] = plan_frame,
	[AIM_RETURN] = plan_return,   [AIM_CALLED] = plan_frame,
};

static void step_off(struct stepper *stepper, const struct plan_watch_requests *watch_requests)
{
	if (stepper->here.code && stepper_is_aimed(stepper))
		stepper->is_stepping_off = stepper->here.store_due >= 0 ||
					   is_watch_request_near(stepper, watch_requests);
}

/* Clears fetch_due if the plan has no watch that would report the fetch. */
static void expect_fetch(struct stepper *stepper, const struct plan *plan)
{
	struct follow *here = &stepper->here;
	struct hardware_watch watch = { .length = 1, .access = HARDWARE_WATCH_ACCESS };

	if (here->fetch_due < 0 || !here->code)
		return;
	watch.address = bytecode_watched(here->code, here->fetch_due);
	if (!is_planned(plan, &watch))
		here->fetch_due = -1;
}

void plan_keep_slots(struct plan *plan, const struct plan *before)
{
	for (int i = 0; i < HARDWARE_WATCH_SLOTS; i++) {
		const struct hardware_watch *kept = &before->slots[i].watch;
		struct planned moved = plan->slots[i];
		int at = i;

		if (kept->access == HARDWARE_WATCH_NONE ||
		    hardware_watch_is_same(kept, &moved.watch))
			continue;
		for (int j = 0; j < HARDWARE_WATCH_SLOTS; j++)
			if (hardware_watch_is_same(kept, &plan->slots[j].watch))
				at = j;
		plan->slots[i] = plan->slots[at];
		plan->slots[at] = moved;
	}
}

void stepper_plan(struct stepper *stepper, const struct plan_watch_requests *watch_requests,
		  struct plan *plan)
{
	struct draft draft = { .count = 0 };

	*plan = (struct plan){ .missing = 0 };
	stepper->is_ahead = false;
	slot_multiplex_begin(stepper, watch_requests);
	aims[stepper->aim](stepper, watch_requests, &draft);
	if (stepper->aim == AIM_NOTHING || stepper->aim == AIM_RETURN)
		step_off(stepper, watch_requests);
	if (stepper->is_entering)
		want_watch(&draft, PLAN_ENTRY,
			   pyframes_watch_newest(&stepper->frames, stepper->frames.loop));
	if (stepper->is_stepping_off)
		want_watch(&draft, PLAN_POSITION,
			   pyframes_watch_position(&stepper->frames, stepper->here.frame));
	for (size_t i = 0; i < watch_requests->count; i++) {
		struct planned planned =
			slot_multiplex_stand_in(stepper, watch_requests, &watch_requests->items[i]);
		if (!slot_assignment_want(&draft, &planned))
			plan->missing++;
	}
	for (size_t i = 0; i < draft.count; i++)
		plan->slots[i] = draft.items[i];
	plan_keep_slots(plan, &stepper->plan);
	expect_fetch(stepper, plan);
	stepper->plan = *plan;
	stepper->news = NEWS_NONE;
	if (!stepper->called)
		stepper->waiting = (struct follow){ .frame = 0 };
}

bool stepper_spare_position(struct stepper *stepper)
{
	bool is_spared = stepper->is_stepping_off;

	stepper->is_stepping_off = false;
	return is_spared;
}
