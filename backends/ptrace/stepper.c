#include "backends/ptrace/stepper.h"

#include <assert.h>
#include <string.h>

#include "banned.h"

#include "backends/cpython/bytecode.h"
#include "backends/cpython/cpython.h"
#include "backends/ptrace/stepper-private.h"
#include "base/alloc.h"

struct stepper *stepper_new(struct memory *memory, const struct cpython *python,
			    struct bytecode_cache *codes, uint64_t tstate,
			    const struct stepper_calls *calls)
{
	struct stepper *stepper = xcalloc(1, sizeof(*stepper));

	stepper->memory = memory;
	stepper->python = python;
	stepper->codes = codes;
	stepper->calls = *calls;
	stepper->walk_first = WALK_LIMIT;
	stepper->doing = REQUEST_CONTINUE;
	pyframes_init(&stepper->frames, memory, python, tstate);
	bdb_init(&stepper->bdb, python->version);
	return stepper;
}

void stepper_free(struct stepper *stepper)
{
	free(stepper);
}

uint64_t stepper_thread(const struct stepper *stepper)
{
	return stepper->frames.tstate;
}

bool stepper_holds(const struct stepper *stepper, const struct bytecode *code)
{
	for (size_t i = 0; i < stepper->event_count; i++)
		if (stepper->events[i].stop.code == code)
			return true;
	return stepper->here.code == code || stepper->other.code == code ||
	       stepper->waiting.code == code || stepper->last.stop.code == code;
}

enum request_kind stepper_doing(const struct stepper *stepper)
{
	return stepper->doing;
}

const char *stepper_lost(const struct stepper *stepper)
{
	return error_is_set(&stepper->lost) ? stepper->lost.message : NULL;
}

void stepper_run_free(struct stepper *stepper)
{
	bdb_continue(&stepper->bdb);
	stepper->doing = REQUEST_CONTINUE;
	stepper->aim = AIM_NOTHING;
	stepper->is_stepping_off = false;
	stepper->called = 0;
	stepper->is_entering = false;
	stepper->waiting = (struct follow){ .frame = 0 };
}

void stepper_lose(struct stepper *stepper, const char *why)
{
	stepper_run_free(stepper);
	stepper->here = (struct follow){ .frame = 0 };
	stepper->event_count = 0;
	error_set(&stepper->lost, "%s", why);
}

static struct bdb_event bdb_event(const struct event *event)
{
	const struct stepper_stop *stop = &event->stop;

	return (struct bdb_event){
		.frame = stop->frame,
		.line = stop->line,
		.is_generator = stop->code && (stop->code->flags & BYTECODE_GENERATOR) != 0,
		.is_last = event->is_last,
	};
}

static bool is_stop(struct stepper *stepper, struct event *event)
{
	struct bdb_event about = bdb_event(event);
	bool is_break;

	switch (event->stop.at) {
	case STOP_AT_LINE:
		is_break = stepper->calls.is_break(event->stop.code, event->stop.line,
						   event->stop.frame, stepper->calls.data);
		if (is_break)
			event->stop.reason = STOP_BREAKPOINT;
		return bdb_line(&stepper->bdb, &about, is_break);
	case STOP_AT_CALL:
		return bdb_call(&stepper->bdb, &about);
	case STOP_AT_RETURN:
		return bdb_return(&stepper->bdb, &about);
	case STOP_AT_EXCEPTION:
		return bdb_exception(&stepper->bdb, &about);
	case STOP_AT_UNKNOWN:
		break;
	}
	return false;
}

/*
 * If bdb's stop frame has ended, ends the command: bdb would wait for a frame that never runs
 * again.
 */
static void forget_ended(struct stepper *stepper, const struct event *event)
{
	if (event->is_last && stepper->bdb.stop_frame == event->stop.frame)
		stepper_run_free(stepper);
}

static void fill_value(struct stepper *stepper, struct event *event)
{
	struct stepper_stop *stop = &event->stop;
	bool is_return = stop->at == STOP_AT_RETURN && event->is_last && stop->unit >= 0;

	if (!is_return || stop->code->units[stop->unit].kind != UNIT_RETURN)
		return;
	int constant = stop->code->units[stop->unit].constant;
	stop->value = constant < 0 ? pyframes_returned(&stepper->frames, stop->frame, stop->code)
				   : pyframes_constant(&stepper->frames, stop->code, constant);
}

bool stepper_happen(struct stepper *stepper, struct stepper_stop *stop)
{
	while (stepper->event_count > 0) {
		struct event event = stepper->events[0];
		stepper->event_count--;
		memmove(stepper->events, stepper->events + 1, stepper->event_count * sizeof(event));
		if (is_stop(stepper, &event)) {
			fill_value(stepper, &event);
			stepper->last = event;
			*stop = event.stop;
			return true;
		}
		forget_ended(stepper, &event);
	}
	return false;
}

bool stepper_resume(struct stepper *stepper, struct stepper_stop *stop)
{
	struct bdb_event about = bdb_event(&stepper->last);
	struct pythread_now now;

	if (stepper->last.stop.at == STOP_AT_RETURN)
		bdb_returned(&stepper->bdb, &about);
	stepper->last = (struct event){ .is_last = false };
	if (stepper_happen(stepper, stop))
		return true;
	if (pyframes_read(&stepper->frames, stepper->here.frame, &now) < 0)
		stepper_lose(stepper, "the thread's frames cannot be read");
	else
		stepper_aim(stepper, &now);
	return false;
}

/* Commands */

/* The frame and line to which a command applies. */
struct about {
	struct pyframe_now frame;
	struct bdb_event event;
	uint64_t caller;
	bool is_unborn;
};

static int find_about(struct stepper *stepper, uint64_t frame, struct about *about,
		      struct error *error)
{
	struct pythread_now now;
	struct follow follow;
	struct pyframe_now caller;

	if (pyframes_read(&stepper->frames, stepper->here.frame, &now) < 0)
		return error_set(error, "the thread's frames cannot be read");
	if (now.is_traced)
		return error_set(
			error,
			"ptrace cannot step a thread that has a trace function (sys.settrace) of a "
			"debugger or coverage tool: step with that debugger");
	about->frame = now.frame;
	if (frame && frame != now.frame.address &&
	    pyframes_frame(&stepper->frames, frame, &about->frame) < 0)
		return error_set(error, "the frame has returned");
	if (about->frame.address == 0)
		return error_set(error, "the thread runs no Python code now");
	if (event_synthesis_start(stepper, &follow, &about->frame) < 0)
		return error_set(error, "the frame has returned, or its code cannot be decoded");
	if (pyframes_caller(&stepper->frames, &about->frame, &caller) < 0)
		return error_set(error, "the frame's caller cannot be read");
	about->caller = caller.address;
	about->event = (struct bdb_event){
		.frame = about->frame.address,
		.line = follow.shown_line,
		.is_generator = (follow.code->flags & BYTECODE_GENERATOR) != 0,
	};
	about->is_unborn = event_synthesis_is_unborn(stepper, &follow);
	if (follow.code->has_executors)
		return error_set(
			error,
			"Python has compiled %s to native code (JIT), which ptrace cannot step",
			follow.code->name);
	if (stepper->last.stop.frame == about->frame.address)
		about->event = bdb_event(&stepper->last);
	return 0;
}

static void stepper_set_command(struct stepper *stepper, enum request_kind command,
				const struct about *about, int line)
{
	const struct bdb_event *event = &about->event;
	struct bdb *bdb = &stepper->bdb;

	/* A generator that is being made only returns to its caller. */
	if (about->is_unborn && command != REQUEST_STEP_IN) {
		bdb_finish(bdb, event->frame, about->caller, false);
		return;
	}
	if (command == REQUEST_STEP_IN)
		bdb_step(bdb, event);
	else if (command == REQUEST_NEXT)
		bdb_next(bdb, event->frame, event->line);
	else if (command == REQUEST_UNTIL)
		bdb_until(bdb, event->frame, line ? line : event->line + 1);
	else
		bdb_finish(bdb, event->frame, about->caller,
			   event->is_generator && !event->is_last);
}

int stepper_command(struct stepper *stepper, enum request_kind command, uint64_t frame, int line,
		    struct error *error)
{
	struct about about = { .caller = 0 };

	stepper->lost = (struct error)ERROR_INIT;
	stepper_run_free(stepper);
	stepper->news = NEWS_COMMAND;
	stepper->course = COURSE_PLAIN;
	stepper->walked = 0;
	stepper->walk_limit = stepper->walk_first;
	if (command == REQUEST_CONTINUE)
		return 0;
	if (find_about(stepper, command == REQUEST_STEP_IN ? 0 : frame, &about, error) < 0)
		return -1;
	stepper_set_command(stepper, command, &about, line);
	stepper->doing = command;
	return 0;
}

int stepper_where(struct stepper *stepper, struct stepper_stop *stop, struct error *error)
{
	struct pythread_now now;
	struct follow follow;

	if (pyframes_read(&stepper->frames, stepper->here.frame, &now) < 0)
		return error_set(error, "the thread's frames cannot be read");
	if (now.frame.address == 0)
		return error_set(error, "the thread runs no Python code now");
	if (event_synthesis_start(stepper, &follow, &now.frame) < 0)
		return error_set(error, "the code of the thread's newest frame cannot be decoded");
	*stop = (struct stepper_stop){
		.at = STOP_AT_UNKNOWN,
		.reason = STOP_PAUSE,
		.frame = follow.frame,
		.code = follow.code,
		.line = follow.shown_line > 0 ? follow.shown_line : follow.code->first_line,
		.unit = follow.at,
	};
	return 0;
}

/* The aim: what is to be watched */

static void aim_at(struct stepper *stepper, enum aim aim, uint64_t frame)
{
	struct pyframe_now now;

	stepper->aim = aim;
	if (stepper->here.frame == frame && stepper->here.code)
		return;
	if (stepper->waiting.frame == frame && stepper->waiting.code) {
		stepper->here = stepper->waiting;
		stepper->waiting = (struct follow){ .frame = 0 };
		return;
	}
	/* The old frame is kept, because slot_multiplex_begin() may return to it at once. */
	stepper->waiting = stepper->here;
	if (pyframes_frame(&stepper->frames, frame, &now) < 0 ||
	    event_synthesis_start(stepper, &stepper->here, &now) < 0)
		stepper_lose(stepper,
			     "the stepped frame has returned, or its code cannot be decoded");
}

static void aim_at_all(struct stepper *stepper, const struct pythread_now *now)
{
	stepper->aim = AIM_ALL;
	if (stepper->is_loop_new)
		return;
	stepper->loop = now->loop;
	if (now->frame.address != stepper->here.frame || !stepper->here.code)
		event_synthesis_start(stepper, &stepper->here, &now->frame);
}

/*
 * True if the outermost frame has returned: no frame is left in which the thread could be stepped.
 * The garbage in a new evaluation loop's word may be the address of the ended frame.
 */
static bool is_at_end(const struct stepper *stepper, const struct pythread_now *now)
{
	struct pyframe_now caller;

	return !stepper->is_loop_new && stepper->ended != 0 &&
	       stepper->ended == now->frame.address &&
	       pyframes_caller(&stepper->frames, &now->frame, &caller) == 0 && caller.address == 0;
}

/* Watches only breakpoints. here.at is kept, to know which of them could be missed (is_near()). */
static void aim_at_nothing(struct stepper *stepper, const struct pythread_now *now)
{
	stepper->aim = AIM_NOTHING;
	stepper->is_loop_new = false;
	if (now->frame.address != stepper->here.frame || !stepper->here.code)
		event_synthesis_start(stepper, &stepper->here, &now->frame);
}

static void choose_aim(struct stepper *stepper, const struct pythread_now *now)
{
	struct bdb *bdb = &stepper->bdb;

	if (bdb->return_frame == stepper->ended)
		bdb->return_frame = 0;
	if (bdb->stop_frame == BDB_ANYWHERE && is_at_end(stepper, now))
		stepper_run_free(stepper);
	if (stepper->called == stepper->ended)
		stepper->called = 0;
	if (bdb->stop_frame == BDB_ANYWHERE)
		aim_at_all(stepper, now);
	else if (stepper->called)
		aim_at(stepper, AIM_CALLED, stepper->called);
	else if (bdb->return_frame && bdb->return_frame != bdb->stop_frame)
		aim_at(stepper, AIM_RETURN, bdb->return_frame);
	else if (bdb->stop_frame == BDB_NOWHERE)
		aim_at_nothing(stepper, now);
	else if (bdb->stop_line == -1)
		aim_at(stepper, AIM_RETURN, bdb->stop_frame);
	else
		aim_at(stepper, AIM_FRAME, bdb->stop_frame);
}

bool stepper_is_aimed(const struct stepper *stepper)
{
	return stepper->news == NEWS_TRAP || stepper->news == NEWS_RESUME;
}

void stepper_aim(struct stepper *stepper, const struct pythread_now *now)
{
	choose_aim(stepper, now);
	stepper->newest = now->frame.address;
	if (stepper->here.frame == now->frame.address)
		stepper->here.handled = now->handled;
	stepper->news = stepper->news == NEWS_COMMAND || stepper->news == NEWS_RESUME ? NEWS_RESUME
										      : NEWS_TRAP;
}
