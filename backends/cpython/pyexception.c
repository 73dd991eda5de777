#include "backends/cpython/pyexception.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends/cpython/cpython.h"
#include "backends/cpython/pycode.h"
#include "backends/cpython/pycontainer.h"
#include "backends/cpython/pyobject.h"
#include "backends/cpython/pyreader.h"
#include "backends/cpython/pytype.h"
#include "backends/cpython/pywalk.h"
#include "backends/cpython/pywriter.h"
#include "banned.h"
#include "base/alloc.h"
#include "base/array.h"
#include "base/buffer.h"

#define ARGS 24 /* offset of args in PyBaseExceptionObject, behind dict */
#define PARTS 3
#define TEXT_MAXIMUM 1000
/* Maximum nested handlers, and maximum chain of contexts. */
#define HANDLED_MAXIMUM 64
/* Maximum numbers of a traceback's frames that are read, and that are kept: the innermost ones. */
#define TRACEBACK_MAXIMUM 100000
#define FRAMES_MAXIMUM 1000

/* Writes the class without its module. */
static void write_class(struct pywriter *writer, uint64_t exception)
{
	struct buffer name = BUFFER_INIT;
	const char *dot;

	pyobject_type_name(writer->reader, exception, &name);
	dot = strrchr(name.data, '.');
	pywriter_text(writer, dot ? dot + 1 : name.data);
	buffer_clear(&name);
}

/* PyBaseExceptionObject: dict, args; written as in BaseException_repr. */
void pyexception_write(struct pywriter *writer, uint64_t address)
{
	static const struct pybrackets brackets = { "(", ")", "(...)", "()" };
	int64_t count;
	uint64_t held[2];

	if (pyreader_read(writer->reader, address + PYREADER_HEAD, held, sizeof(held))) {
		pywriter_text(writer, PYWRITER_UNKNOWN);
		return;
	}
	write_class(writer, address);
	count = pytuple_count(writer->reader, held[1]);
	if (count < 0) {
		pywriter_text(writer, "(" PYWRITER_UNKNOWN ")");
		return;
	}
	if (!pywriter_open(writer, held[1], count, &brackets))
		return;
	for (int64_t i = 0; i < count; i++) {
		uint64_t item;

		if (!pywriter_next(writer, i))
			break;
		if (pytuple_item(writer->reader, held[1], i, &item))
			item = 0;
		pywriter_object(writer, item);
	}
	pywriter_close(writer, &brackets);
}

void pyexception_append(struct pyreader *reader, uint64_t exception, struct buffer *out)
{
	struct buffer text = BUFFER_INIT;
	struct pywriter writer;
	uint64_t args, item;

	pywriter_init(&writer, reader, out);
	if (pyreader_pointer(reader, exception + ARGS, &args) == 0 &&
	    pytuple_count(reader, args) == 1 && !pytuple_item(reader, args, 0, &item) &&
	    pyobject_string(reader, item, TEXT_MAXIMUM, &text) == 0) {
		write_class(&writer, exception);
		buffer_printf(out, ": %s", text.data);
	} else {
		pyexception_write(&writer, exception);
	}
	buffer_clear(&text);
}

static void pyexception_read_parts(struct pyreader *reader, uint64_t address, struct pynamed *parts)
{
	const struct offsets *at = &reader->python->offsets;
	const struct {
		const char *name;
		uint64_t offset;
	} places[PARTS] = {
		{ "args", ARGS },
		{ "__cause__", (uint64_t)at->be_cause },
		{ "__context__", (uint64_t)at->be_context },
	};

	for (size_t i = 0; i < PARTS; i++) {
		parts[i] = (struct pynamed){ .name = places[i].name };
		if (pyreader_pointer(reader, address + places[i].offset, &parts[i].address))
			parts[i].address = 0;
	}
}

int64_t pyexception_count(struct pyreader *reader, uint64_t address)
{
	struct pynamed parts[PARTS];
	int64_t count = 0;

	pyexception_read_parts(reader, address, parts);
	for (size_t i = 0; i < PARTS; i++)
		count += parts[i].address != 0;
	return count;
}

int pyexception_items(struct pypage *page, uint64_t address)
{
	struct pynamed parts[PARTS];

	pyexception_read_parts(page->reader, address, parts);
	pypage_add_named(page, parts, PARTS);
	return 0;
}

/* The traceback object at an address that holds a pointer to it; 0: there is none. */
static uint64_t traceback_at(struct pyreader *reader, uint64_t address)
{
	uint64_t traceback;

	if (pyreader_pointer(reader, address, &traceback) || !traceback ||
	    !pytype_is(reader, traceback, "traceback"))
		return 0;
	return traceback;
}

/* The frame of a traceback object; 0: unreadable. */
static uint64_t frame_of(struct pyreader *reader, uint64_t traceback)
{
	const struct offsets *at = &reader->python->offsets;
	uint64_t frame;

	if (!traceback || pyreader_pointer(reader, traceback + (uint64_t)at->tb_frame, &frame))
		return 0;
	/* Since 3.11 a frame object only points to the interpreter frame. */
	if (at->fr_frame >= 0 && pyreader_pointer(reader, frame + (uint64_t)at->fr_frame, &frame))
		return 0;
	return frame;
}

/* The frame in which the exception's traceback begins; 0: none. */
static uint64_t first_frame(struct pyreader *reader, uint64_t exception)
{
	uint64_t at = exception + (uint64_t)reader->python->offsets.be_traceback;

	return frame_of(reader, traceback_at(reader, at));
}

/*
 * Fills *frame from a traceback object (Include/cpython/traceback.h): tb_next, tb_frame, int
 * tb_lasti (in bytes), int tb_lineno (from 3.12 on mostly not filled in). Returns -1 if it cannot
 * be read.
 */
static int read_traceback(struct pyreader *reader, uint64_t traceback, struct pyframe *frame)
{
	const struct cpython *python = reader->python;
	const struct offsets *at = &python->offsets;
	uint64_t address = frame_of(reader, traceback);
	int32_t last;

	*frame = (struct pyframe){ .address = address };
	if (!address || pyreader_pointer(reader, address + (uint64_t)at->if_code, &frame->code) ||
	    pyreader_read(reader, traceback + (uint64_t)at->tb_frame + 8, &last, sizeof(last)) ||
	    last < 0)
		return -1;
	frame->code = pyreader_untag(python->minor, frame->code);
	if (at->co_code_adaptive >= 0)
		frame->position = frame->code + (uint64_t)at->co_code_adaptive + (uint64_t)last;
	else
		frame->position = (uint64_t)(python->minor >= 10 ? last / 2 : last);
	return 0;
}

/* Puts the newest of `depth` frames, which lie in a ring, first. */
static void turn_frames(struct pywalk *walk, size_t depth)
{
	struct pyframe *ring = walk->frames;

	walk->frames = xcalloc(walk->count + 1, sizeof(*walk->frames));
	walk->capacity = walk->count + 1;
	for (size_t i = 0; i < walk->count; i++)
		walk->frames[i] = ring[(depth - 1 - i) % FRAMES_MAXIMUM];
	free(ring);
}

void pyexception_walk(struct pyreader *reader, uint64_t exception, struct pywalk *walk)
{
	const struct offsets *at = &reader->python->offsets;
	uint64_t traceback = traceback_at(reader, exception + (uint64_t)at->be_traceback);
	size_t depth = 0;
	struct pyframe frame;

	walk->count = 0;
	walk->dropped_count = 0;
	for (; traceback && depth < TRACEBACK_MAXIMUM; depth++) {
		/* A place is that of the innermost frame: without it there is none. */
		if (read_traceback(reader, traceback, &frame) < 0) {
			walk->count = 0;
			return;
		}
		if (walk->count < FRAMES_MAXIMUM) {
			ARRAY_GROW(walk->frames, walk->count, walk->capacity);
			walk->count++;
		}
		walk->frames[depth % FRAMES_MAXIMUM] = frame;
		/* tb_next is the member before tb_frame. */
		traceback = traceback_at(reader, traceback + (uint64_t)at->tb_frame - 8);
	}
	walk->dropped_count = depth - walk->count;
	if (traceback)
		walk->count = 0;
	else
		turn_frames(walk, depth);
}

bool pyexception_has_left_program(struct pyreader *reader, uint64_t exception)
{
	const struct offsets *at = &reader->python->offsets;
	struct buffer name = BUFFER_INIT;
	uint64_t frame, code, text;
	bool has_left;

	if (!exception || !pytype_has(reader, exception, PYTYPE_EXCEPTION))
		return false;
	frame = first_frame(reader, exception);
	if (!frame || pyreader_pointer(reader, frame + (uint64_t)at->if_code, &code))
		return false;
	code = pyreader_untag(reader->python->minor, code);
	has_left = pyreader_pointer(reader, code + (uint64_t)at->co_name, &text) == 0 &&
		   pyobject_string(reader, text, TEXT_MAXIMUM, &name) == 0 &&
		   pycode_is_first(name.data);
	buffer_clear(&name);
	return has_left;
}

/*
 * Returns the exception whose traceback begins in frame: exception itself, or an exception in its
 * chain of __context__; 0: none.
 */
static uint64_t find_in_contexts(struct pyreader *reader, uint64_t exception, uint64_t frame)
{
	uint64_t at = (uint64_t)reader->python->offsets.be_context;

	for (int i = 0; i < HANDLED_MAXIMUM; i++) {
		if (!exception || !pytype_has(reader, exception, PYTYPE_EXCEPTION))
			return 0;
		if (first_frame(reader, exception) == frame)
			return exception;
		if (pyreader_pointer(reader, exception + at, &exception))
			return 0;
	}
	return 0;
}

/*
 * A thread has a chain of _PyErr_StackItem: one for each running generator and one for all other
 * frames. An exception that an outer frame handles is the __context__ of one that an inner frame
 * handles. An exception that has no traceback (homeless) counts as handled by the newest frame.
 */
uint64_t pyexception_handled(struct pyreader *reader, uint64_t entry, uint64_t frame,
			     bool is_newest)
{
	const struct offsets *at = &reader->python->offsets;
	uint64_t homeless = 0;

	for (int i = 0; entry && i < HANDLED_MAXIMUM; i++) {
		uint64_t value, found;

		if (pyreader_pointer(reader, entry + (uint64_t)at->ei_value, &value))
			break;
		found = find_in_contexts(reader, value, frame);
		if (found)
			return found;
		if (value && !homeless && pytype_has(reader, value, PYTYPE_EXCEPTION) &&
		    !first_frame(reader, value))
			homeless = value;
		if (pyreader_pointer(reader, entry + (uint64_t)at->ei_previous, &entry))
			break;
	}
	return is_newest ? homeless : 0;
}

uint64_t pyexception_of_thread(struct pyreader *reader, uint64_t thread)
{
	uint64_t at = thread + (uint64_t)reader->python->offsets.ts_exc_info;
	uint64_t entry;

	return pyreader_pointer(reader, at, &entry) ? 0 : entry;
}

uint64_t pyexception_of_coroutine(const struct pyreader *reader, uint64_t coroutine)
{
	const struct offsets *at = &reader->python->offsets;

	return coroutine + (uint64_t)(at->gen_exc_value - at->ei_value);
}

uint64_t pyexception_raised(struct pyreader *reader, uint64_t thread)
{
	uint64_t at = thread + (uint64_t)reader->python->offsets.ts_raised;
	uint64_t value;

	if (pyreader_pointer(reader, at, &value) || !value ||
	    !pytype_has(reader, value, PYTYPE_EXCEPTION))
		return 0;
	return value;
}
