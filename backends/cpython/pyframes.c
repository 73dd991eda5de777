#include "backends/cpython/pyframes.h"

#include <stddef.h>
#include <string.h>

#include "banned.h"

#include "backends/cpython/bytecode.h"
#include "backends/cpython/cpython.h"
#include "backends/cpython/offsets.h"
#include "backends/cpython/pyreader.h"
#include "backends/cpython/pywalk.h"
#include "backends/linux/memory.h"

#define OWNER_GENERATOR 1
/* frames with this owner, or a greater one, belong to the interpreter itself */
#define OWNER_SHIM 3
#define TSTATE_BYTES 160
#define SIZE_OFFSET 16	  /* offset of ob_size, in every version */
#define SHIMS_MAXIMUM 64  /* maximum shims between two frames; real processes have one */
#define STATE_UNWINDING 2 /* 3.10: enum _framestate */
#define STATE_RAISED 3
/* gi_frame_state, 3.11 on: suspended states are less, finished states greater */
#define STATE_EXECUTING 0

void pyframes_init(struct pyframes *frames, struct memory *memory, const struct cpython *python,
		   uint64_t tstate)
{
	*frames = (struct pyframes){
		.memory = memory,
		.python = python,
		.tstate = tstate,
	};
}

/* The field of size bytes at offset; 0: the version has no such field. */
static uint64_t field(const uint8_t *bytes, long offset, long size)
{
	uint64_t value = 0;

	if (offset >= 0 && size > 0 && size <= (long)sizeof(value))
		memcpy(&value, bytes + offset, (size_t)size);
	return value;
}

static bool has_loops(const struct pyframes *frames)
{
	return frames->python->offsets.cframe_current_frame >= 0;
}

/*
 * Returns the address of the pointer to the thread's newest frame. loop: address of the thread's
 * _PyCFrame, in versions that have one (has_loops()).
 */
static uint64_t newest_at(const struct pyframes *frames, uint64_t loop)
{
	const struct offsets *offsets = &frames->python->offsets;

	if (has_loops(frames))
		return loop + (uint64_t)offsets->cframe_current_frame;
	if (offsets->ts_current_frame >= 0)
		return frames->tstate + (uint64_t)offsets->ts_current_frame;
	return frames->tstate + (uint64_t)offsets->ts_frame;
}

/* Number of bytes from the start of a frame that contain all fields read in this file. */
static size_t frame_bytes(const struct offsets *offsets)
{
	long end = offsets->if_leaving + offsets->if_leaving_size;
	size_t size = offsets->if_instr >= 0 ? (size_t)offsets->if_localsplus : (size_t)end;

	return size < OFFSETS_FRAME_BYTES ? size : OFFSETS_FRAME_BYTES;
}

static void parse_frame(const struct cpython *python, const uint8_t *bytes,
			struct pyframe_now *frame)
{
	const struct offsets *offsets = &python->offsets;

	frame->code = pyreader_untag(python->minor, field(bytes, offsets->if_code, 8));
	frame->previous = field(bytes, offsets->if_previous, 8);
	frame->instruction = offsets->if_instr >= 0 ? field(bytes, offsets->if_instr, 8)
						    : field(bytes, offsets->if_lasti, 4);
	frame->frame_object = field(bytes, offsets->if_frame_object, 8);
	frame->leaving = field(bytes, offsets->if_leaving, offsets->if_leaving_size);
	frame->owner = (uint8_t)field(bytes, offsets->if_owner, 1);
}

int pyframes_frame(const struct pyframes *frames, uint64_t address, struct pyframe_now *frame)
{
	uint8_t bytes[OFFSETS_FRAME_BYTES] = { 0 };

	*frame = (struct pyframe_now){ .address = address };
	if (memory_look(frames->memory, address, bytes, frame_bytes(&frames->python->offsets)) < 0)
		return -1;
	parse_frame(frames->python, bytes, frame);
	return 0;
}

/* 3.11 has owners from OWNER_SHIM on, too, but no shim frames. */
static bool is_shim(const struct pyframes *frames, const struct pyframe_now *frame)
{
	return frames->python->minor >= 12 && frame->owner >= OWNER_SHIM;
}

/* Replaces a shim by the next older frame that is not a shim; -1: unreadable. */
static int skip_shims(const struct pyframes *frames, struct pyframe_now *frame)
{
	for (int i = 0; frame->address && is_shim(frames, frame); i++) {
		uint64_t previous = frame->previous;
		if (i == SHIMS_MAXIMUM)
			return -1;
		*frame = (struct pyframe_now){ .address = 0 };
		if (previous && pyframes_frame(frames, previous, frame) < 0)
			return -1;
	}
	return 0;
}

int pyframes_caller(const struct pyframes *frames, const struct pyframe_now *frame,
		    struct pyframe_now *caller)
{
	*caller = (struct pyframe_now){ .address = 0 };
	if (frame->previous == 0)
		return 0;
	if (pyframes_frame(frames, frame->previous, caller) < 0)
		return -1;
	if (!is_shim(frames, caller) &&
	    pywalk_is_trampoline(frames->python, caller->code, caller->instruction) &&
	    pyframes_frame(frames, caller->previous, caller) < 0)
		return -1;
	return skip_shims(frames, caller);
}

struct first_look {
	uint8_t tstate[TSTATE_BYTES];
	uint8_t frame[OFFSETS_FRAME_BYTES];
	uint64_t newest;
	bool has_frame;
};

/* Reads the thread state, the newest frame's address and the expected frame in one call. */
static int pyframes_look(const struct pyframes *frames, uint64_t expected, struct first_look *look)
{
	size_t size = frame_bytes(&frames->python->offsets);
	struct memory_part parts[] = {
		{ frames->tstate, look->tstate, TSTATE_BYTES, 0 },
		{ newest_at(frames, frames->loop), &look->newest, 8, 0 },
		{ expected, look->frame, size, 0 },
	};
	size_t count = expected ? 3 : 2;

	memory_fetch_parts(frames->memory, parts, count);
	look->has_frame = expected && parts[2].done == size;
	if (parts[1].done != 8)
		look->newest = 0;
	return parts[0].done == TSTATE_BYTES ? 0 : -1;
}

int pyframes_read(struct pyframes *frames, uint64_t expected, struct pythread_now *now)
{
	const struct offsets *offsets = &frames->python->offsets;
	struct first_look first = { .newest = 0 };

	*now = (struct pythread_now){ .loop = 0 };
	if (pyframes_look(frames, expected, &first) < 0)
		return -1;
	if (has_loops(frames))
		now->loop = field(first.tstate, offsets->ts_cframe, 8);
	if (now->loop != frames->loop) {
		frames->loop = now->loop;
		if (memory_look(frames->memory, newest_at(frames, now->loop), &first.newest, 8) < 0)
			return -1;
	}
	now->newest = first.newest;
	now->error = field(first.tstate, offsets->ts_error, 8);
	now->handled = field(first.tstate, offsets->ts_exc_info, 8);
	now->raised = field(first.tstate, offsets->ts_raised, 8);
	now->is_traced = field(first.tstate, offsets->ts_tracefunc, 8) != 0;
	now->frame.address = now->newest;
	if (now->newest == 0)
		return 0;
	if (first.has_frame && now->newest == expected)
		parse_frame(frames->python, first.frame, &now->frame);
	else if (pyframes_frame(frames, now->newest, &now->frame) < 0)
		return -1;
	return skip_shims(frames, &now->frame);
}

int pyframes_unit(const struct pyframes *frames, const struct pyframe_now *frame,
		  const struct bytecode *code)
{
	int minor = frames->python->minor;
	int64_t unit;

	if (minor <= 10) {
		unit = (int32_t)frame->instruction;
		if (minor <= 9 && unit > 0)
			unit /= 2;
	} else {
		unit = ((int64_t)frame->instruction - (int64_t)code->first) / 2;
		if (frame->instruction < code->first)
			unit = -1;
	}
	return unit >= 0 && unit < code->count ? (int)unit : -1;
}

bool pyframes_is_unwound(const struct pyframes *frames, const struct pyframe_now *frame,
			 const struct bytecode *code)
{
	const struct cpython *python = frames->python;

	if (python->minor <= 9)
		return frame->leaving == 0;
	if (python->minor == 10)
		return frame->leaving == STATE_RAISED;
	if (python->minor <= 13)
		return frame->leaving == (uint64_t)code->locals_count;
	return frame->leaving == frame->address + (uint64_t)python->offsets.if_localsplus +
					 8 * (uint64_t)code->locals_count;
}

bool pyframes_is_in_generator(const struct pyframes *frames, const struct pyframe_now *frame)
{
	return frames->python->minor >= 11 && frame->owner == OWNER_GENERATOR;
}

/* Reads the state of the generator object that contains the frame. Returns -1 if that fails. */
static int read_generator_state(const struct pyframes *frames, uint64_t frame, int8_t *state)
{
	const struct offsets *offsets = &frames->python->offsets;

	return memory_fetch(frames->memory,
			    frame - (uint64_t)offsets->gen_frame +
				    (uint64_t)offsets->gen_frame_state,
			    state, sizeof(*state));
}

bool pyframes_is_finished(const struct pyframes *frames, uint64_t frame)
{
	int8_t state;

	return read_generator_state(frames, frame, &state) == 0 && state > STATE_EXECUTING;
}

bool pyframes_is_suspended(const struct pyframes *frames, uint64_t frame)
{
	int8_t state;

	return read_generator_state(frames, frame, &state) == 0 && state < STATE_EXECUTING;
}

bool pyframes_is_raising(const struct pyframes *frames, const struct pyframe_now *frame)
{
	return frames->python->minor == 10 && frame->leaving == STATE_UNWINDING;
}

uint64_t pyframes_returned(const struct pyframes *frames, uint64_t frame,
			   const struct bytecode *code)
{
	const struct cpython *python = frames->python;
	uint64_t value = 0;

	if (memory_fetch(frames->memory,
			 frame + (uint64_t)python->offsets.if_localsplus +
				 8 * (uint64_t)code->locals_count,
			 &value, sizeof(value)) < 0)
		return 0;
	return pyreader_untag(python->minor, value);
}

uint64_t pyframes_constant(const struct pyframes *frames, const struct bytecode *code, int index)
{
	const struct offsets *offsets = &frames->python->offsets;
	uint64_t tuple, value;
	int64_t size;

	if (memory_fetch(frames->memory, code->address + (uint64_t)offsets->co_consts, &tuple,
			 sizeof(tuple)) < 0 ||
	    memory_fetch(frames->memory, tuple + SIZE_OFFSET, &size, sizeof(size)) < 0 ||
	    index >= size ||
	    memory_fetch(frames->memory,
			 tuple + (uint64_t)offsets->tuple_item + 8 * (uint64_t)index, &value,
			 sizeof(value)) < 0)
		return 0;
	return value;
}

struct hardware_watch pyframes_watch_position(const struct pyframes *frames, uint64_t frame)
{
	const struct offsets *offsets = &frames->python->offsets;
	bool is_pointer = offsets->if_instr >= 0;

	return (struct hardware_watch){
		.address = frame + (uint64_t)(is_pointer ? offsets->if_instr : offsets->if_lasti),
		.length = is_pointer ? 8 : 4,
		.access = HARDWARE_WATCH_WRITE,
	};
}

/*
 * The field that the interpreter accesses when leaving a frame, before the frame is unlinked, and
 * hardly ever at other times:
 * up to 3.10 the interpreter writes f_executing or f_state (no longer running);
 * 3.11 reads is_entry (whether to leave the evaluation loop, too);
 * from 3.12 on the interpreter reads previous (the frame to return to).
 * The stack pointer is also written then, but also at each call.
 */
struct hardware_watch pyframes_watch_leaving(const struct pyframes *frames, uint64_t frame)
{
	const struct offsets *offsets = &frames->python->offsets;

	if (frames->python->minor <= 10)
		return (struct hardware_watch){
			.address = frame + (uint64_t)offsets->if_leaving,
			.length = (int)offsets->if_leaving_size,
			.access = HARDWARE_WATCH_WRITE,
		};
	if (offsets->if_is_entry >= 0)
		return (struct hardware_watch){
			.address = frame + (uint64_t)offsets->if_is_entry,
			.length = 1,
			.access = HARDWARE_WATCH_ACCESS,
		};
	return (struct hardware_watch){
		.address = frame + (uint64_t)offsets->if_previous,
		.length = 8,
		.access = HARDWARE_WATCH_ACCESS,
	};
}

struct hardware_watch pyframes_watch_freeing(const struct pyframes *frames, uint64_t frame)
{
	const struct offsets *offsets = &frames->python->offsets;

	if (frames->python->minor < 13)
		return (struct hardware_watch){ .access = HARDWARE_WATCH_NONE };
	return (struct hardware_watch){
		.address = frame - (uint64_t)offsets->gen_frame + (uint64_t)offsets->gen_qualname,
		.length = 8,
		.access = HARDWARE_WATCH_WRITE,
	};
}

struct hardware_watch pyframes_watch_newest(const struct pyframes *frames, uint64_t loop)
{
	return (struct hardware_watch){
		.address = newest_at(frames, loop),
		.length = 8,
		.access = HARDWARE_WATCH_WRITE,
	};
}

struct hardware_watch pyframes_watch_loop(const struct pyframes *frames)
{
	if (!has_loops(frames))
		return (struct hardware_watch){ .access = HARDWARE_WATCH_NONE };
	return (struct hardware_watch){
		.address = frames->tstate + (uint64_t)frames->python->offsets.ts_cframe,
		.length = 8,
		.access = HARDWARE_WATCH_WRITE,
	};
}

/*
 * The code object's pointer to its exception table (3.11 on): read if and only if an exception was
 * raised in a frame of this code.
 */
struct hardware_watch pyframes_watch_handlers(const struct pyframes *frames,
					      const struct bytecode *code)
{
	long offset = frames->python->offsets.co_exceptiontable;

	if (offset < 0)
		return (struct hardware_watch){ .access = HARDWARE_WATCH_NONE };
	return (struct hardware_watch){
		.address = code->address + (uint64_t)offset,
		.length = 8,
		.access = HARDWARE_WATCH_ACCESS,
	};
}

struct hardware_watch pyframes_watch_handled(const struct pyframes *frames,
					     const struct bytecode *code, uint64_t handled)
{
	if (frames->python->minor > 9)
		return pyframes_watch_handlers(frames, code);
	return (struct hardware_watch){
		.address = handled + (uint64_t)frames->python->offsets.ei_value,
		.length = 8,
		.access = HARDWARE_WATCH_WRITE,
	};
}
