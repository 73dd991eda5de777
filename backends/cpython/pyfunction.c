#include "backends/cpython/pyfunction.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends/cpython/cpython.h"
#include "backends/cpython/line-table.h"
#include "backends/cpython/pycontainer.h"
#include "backends/cpython/pyobject.h"
#include "backends/cpython/pyreader.h"
#include "backends/cpython/pystring.h"
#include "backends/cpython/pytype.h"
#include "backends/cpython/pywriter.h"
#include "banned.h"
#include "base/alloc.h"
#include "base/array.h"
#include "base/buffer.h"

#define NAME_MAXIMUM 256

/*
 * PyFunctionObject. Up to 3.9: code, globals, defaults … module, annotations, qualname. From 3.10
 * on: globals, builtins, name, qualname, code.
 */
static const struct {
	uint64_t code, qualname;
} old_function = { 16, 104 }, new_function = { 48, 40 };

static void pyfunction_write_name(struct pywriter *writer, uint64_t place)
{
	uint64_t name;

	if (pyreader_pointer(writer->reader, place, &name) ||
	    pyobject_string(writer->reader, name, NAME_MAXIMUM, writer->out))
		pywriter_text(writer, PYWRITER_UNKNOWN);
}

/* "<function step at train.py:12>": file and line instead of an address. */
void pyfunction_write(struct pywriter *writer, uint64_t address)
{
	bool is_old = writer->reader->python->minor < 10;
	uint64_t at = is_old ? old_function.code : new_function.code;
	uint64_t code;

	pywriter_text(writer, "<function ");
	pyfunction_write_name(writer,
			      address + (is_old ? old_function.qualname : new_function.qualname));
	if (pyreader_pointer(writer->reader, address + at, &code) ||
	    pyplace_write_first(writer, code))
		buffer_printf(writer->out, " at 0x%" PRIx64, address);
	pywriter_text(writer, ">");
}

/* PyMethodObject: im_func, im_self (Include/cpython/classobject.h). */
struct method {
	uint64_t function, self;
};

static int read_method(struct pyreader *reader, uint64_t address, struct method *method)
{
	return pyreader_read(reader, address + PYREADER_HEAD, method, sizeof(*method));
}

void pymethod_write(struct pywriter *writer, uint64_t address)
{
	static const struct pybrackets brackets = { "<bound method ", ">", "<bound method ...>",
						    "" };
	bool is_old = writer->reader->python->minor < 10;
	struct method method;

	if (read_method(writer->reader, address, &method)) {
		pywriter_text(writer, PYWRITER_UNKNOWN);
		return;
	}
	if (!pywriter_open(writer, address, 1, &brackets))
		return;
	if (pytype_is(writer->reader, method.function, "function"))
		pyfunction_write_name(writer, method.function + (is_old ? old_function.qualname
									: new_function.qualname));
	else
		pywriter_object(writer, method.function);
	pywriter_text(writer, " of ");
	pywriter_object(writer, method.self);
	pywriter_close(writer, &brackets);
}

int64_t pymethod_count(struct pyreader *reader, uint64_t address)
{
	struct method method;

	return read_method(reader, address, &method) ? -1 : 2;
}

int pymethod_items(struct pypage *page, uint64_t address)
{
	struct method method;
	struct pynamed items[2];

	if (read_method(page->reader, address, &method))
		return -1;
	items[0] = (struct pynamed){ "__self__", method.self };
	items[1] = (struct pynamed){ "__func__", method.function };
	pypage_add_named(page, items, ARRAY_LENGTH(items));
	return 0;
}

/*
 * PyCFunctionObject: m_ml, m_self, m_module (Include/cpython/methodobject.h); a PyMethodDef begins
 * with its name. m_self of a module's function is the module.
 */
void pybuiltin_write(struct pywriter *writer, uint64_t address)
{
	struct pyreader *reader = writer->reader;
	char name[NAME_MAXIMUM];
	struct pytype type;
	uint64_t held[2];
	uint64_t text;

	if (pyreader_read(reader, address + PYREADER_HEAD, held, sizeof(held)) ||
	    pyreader_pointer(reader, held[0], &text) ||
	    pyreader_c_string(reader, text, name, sizeof(name))) {
		pywriter_text(writer, PYWRITER_UNKNOWN);
		return;
	}
	if (!held[1] || pytype_is(reader, held[1], "module") || pytype_of(reader, held[1], &type)) {
		pywriter_text(writer, "<built-in function ");
		buffer_append_string(writer->out, name);
		pywriter_text(writer, ">");
		return;
	}
	pywriter_text(writer, "<built-in method ");
	buffer_append_string(writer->out, name);
	pywriter_text(writer, " of ");
	if (pytype_name(reader, &type, writer->out))
		pywriter_text(writer, PYWRITER_UNKNOWN);
	buffer_printf(writer->out, " object at 0x%" PRIx64 ">", held[1]);
}

/* partialobject: fn, args, kw (Modules/_functoolsmodule.c). */
void pypartial_write(struct pywriter *writer, uint64_t address)
{
	static const struct pybrackets brackets = { "functools.partial(", ")", "...", "" };
	uint64_t held[3];

	if (pyreader_read(writer->reader, address + PYREADER_HEAD, held, sizeof(held))) {
		pywriter_text(writer, PYWRITER_UNKNOWN);
		return;
	}
	if (!pywriter_open(writer, address, 1, &brackets))
		return;
	pywriter_object(writer, held[0]);
	if (pytuple_count(writer->reader, held[1]) > 0) {
		pywriter_text(writer, ", *");
		pywriter_object(writer, held[1]);
	}
	if (pydict_count(writer->reader, held[2]) > 0) {
		pywriter_text(writer, ", **");
		pywriter_object(writer, held[2]);
	}
	pywriter_close(writer, &brackets);
}

enum generator_state {
	GENERATOR_CREATED,
	GENERATOR_SUSPENDED,
	GENERATOR_RUNNING,
	GENERATOR_FINISHED,
	GENERATOR_UNKNOWN,
};

static const char *const state_names[] = {
	[GENERATOR_CREATED] = " not started",
	[GENERATOR_SUSPENDED] = " suspended",
	[GENERATOR_RUNNING] = " running",
	[GENERATOR_FINISHED] = " finished",
	[GENERATOR_UNKNOWN] = "",
};

/* gi_frame_state (Include/internal/pycore_frame.h). */
static enum generator_state frame_state(int minor, int8_t state)
{
	static const struct {
		int8_t up_to_3_12, later;
		enum generator_state state;
	} states[] = {
		{ -2, -3, GENERATOR_CREATED },	 { -1, -2, GENERATOR_SUSPENDED },
		{ -1, -1, GENERATOR_SUSPENDED }, { 0, 0, GENERATOR_RUNNING },
		{ 1, 1, GENERATOR_FINISHED },	 { 4, 4, GENERATOR_FINISHED },
	};

	for (size_t i = 0; i < ARRAY_LENGTH(states); i++)
		if ((minor <= 12 ? states[i].up_to_3_12 : states[i].later) == state)
			return states[i].state;
	return GENERATOR_UNKNOWN;
}

/* Up to 3.10: gi_frame is NULL when the generator has finished; gi_running follows gi_frame. */
static enum generator_state old_state(struct pyreader *reader, uint64_t address, uint64_t frame)
{
	const struct offsets *at = &reader->python->offsets;
	int8_t is_running;
	int32_t last;

	if (!frame)
		return GENERATOR_FINISHED;
	if (reader->python->minor < 10 &&
	    !pyreader_read(reader, address + (uint64_t)at->gen_frame + 8, &is_running,
			   sizeof(is_running)) &&
	    is_running)
		return GENERATOR_RUNNING;
	if (pyreader_read(reader, frame + (uint64_t)at->if_lasti, &last, sizeof(last)))
		return GENERATOR_UNKNOWN;
	return last < 0 ? GENERATOR_CREATED : GENERATOR_SUSPENDED;
}

static enum generator_state read_generator(struct pyreader *reader, uint64_t address,
					   uint64_t *frame)
{
	const struct offsets *at = &reader->python->offsets;
	int8_t state;

	if (at->gen_frame_state < 0) {
		if (pyreader_pointer(reader, address + (uint64_t)at->gen_frame, frame))
			return GENERATOR_UNKNOWN;
		return old_state(reader, address, *frame);
	}
	*frame = address + (uint64_t)at->gen_frame;
	if (pyreader_read(reader, address + (uint64_t)at->gen_frame_state, &state, sizeof(state)))
		return GENERATOR_UNKNOWN;
	return frame_state(reader->python->minor, state);
}

/* "<generator batches suspended at data.py:40>". */
void pygenerator_write(struct pywriter *writer, uint64_t address)
{
	struct pyreader *reader = writer->reader;
	uint64_t at = (uint64_t)reader->python->offsets.gen_qualname;
	enum generator_state state;
	uint64_t frame = 0;
	struct pytype type;

	pywriter_text(writer, "<");
	if (pytype_of(reader, address, &type) || pytype_name(reader, &type, writer->out))
		pywriter_text(writer, PYWRITER_UNKNOWN);
	pywriter_text(writer, " ");
	pyfunction_write_name(writer, address + at);
	state = read_generator(reader, address, &frame);
	pywriter_text(writer, state_names[state]);
	if (state == GENERATOR_UNKNOWN)
		buffer_printf(writer->out, " at 0x%" PRIx64, address);
	else if (state != GENERATOR_FINISHED)
		pyplace_write(writer, frame, state != GENERATOR_CREATED);
	pywriter_text(writer, ">");
}

#define PATH_MAXIMUM 4096
#define TABLE_MAXIMUM (1 << 20) /* maximum bytes of a line table */

static int write_place(struct pywriter *writer, uint64_t code, int line)
{
	struct pyreader *reader = writer->reader;
	uint64_t at = code + (uint64_t)reader->python->offsets.co_filename;
	struct buffer path = BUFFER_INIT;
	uint64_t file;
	const char *slash;
	int result;

	result = pyreader_pointer(reader, at, &file) ||
				 pyobject_string(reader, file, PATH_MAXIMUM, &path)
			 ? -1
			 : 0;
	if (result == 0) {
		slash = strrchr(path.data, '/');
		buffer_printf(writer->out, " at %s", slash ? slash + 1 : path.data);
		if (line > 0)
			buffer_printf(writer->out, ":%d", line);
	}
	buffer_clear(&path);
	return result;
}

static int pyplace_first_line(struct pyreader *reader, uint64_t code)
{
	uint64_t at = code + (uint64_t)reader->python->offsets.co_firstlineno;
	int32_t line;

	return pyreader_read(reader, at, &line, sizeof(line)) ? 0 : line;
}

int pyplace_write_first(struct pywriter *writer, uint64_t code)
{
	if (!pytype_is(writer->reader, code, "code"))
		return -1;
	return write_place(writer, code, pyplace_first_line(writer->reader, code));
}

/* Reads the frame's position in its code, in bytes, for line_table_find(); -1: unreadable. */
static int read_position(struct pyreader *reader, uint64_t frame, uint64_t code, uint64_t *position)
{
	const struct offsets *at = &reader->python->offsets;
	uint64_t instruction, first;
	int32_t last;

	if (at->if_lasti >= 0) {
		if (pyreader_read(reader, frame + (uint64_t)at->if_lasti, &last, sizeof(last)))
			return -1;
		*position = last < 0 ? 0 : (uint64_t)last;
		if (reader->python->minor == 10)
			*position *= 2;
		return 0;
	}
	first = code + (uint64_t)at->co_code_adaptive;
	if (pyreader_pointer(reader, frame + (uint64_t)at->if_instr, &instruction))
		return -1;
	*position = instruction > first ? instruction - first : 0;
	return 0;
}

static int pyplace_find_line(struct pyreader *reader, uint64_t code, uint64_t position)
{
	uint64_t at = code + (uint64_t)reader->python->offsets.co_linetable;
	uint64_t bytes, data;
	int64_t length;
	uint8_t *copy;
	int line = 0;

	if (pyreader_pointer(reader, at, &bytes) || pybytes_read(reader, bytes, &data, &length) ||
	    length <= 0 || length > TABLE_MAXIMUM)
		return 0;
	copy = xmalloc((size_t)length);
	if (!pyreader_read(reader, data, copy, (size_t)length)) {
		const struct line_table table = {
			.bytes = copy,
			.length = (size_t)length,
			.first_lineno = pyplace_first_line(reader, code),
		};
		line = line_table_find(&table, reader->python->minor, position);
	}
	free(copy);
	return line;
}

int pyplace_write(struct pywriter *writer, uint64_t frame, bool has_begun)
{
	struct pyreader *reader = writer->reader;
	const struct offsets *at = &reader->python->offsets;
	uint64_t position, code;

	if (pyreader_pointer(reader, frame + (uint64_t)at->if_code, &code))
		return -1;
	code = pyreader_untag(reader->python->minor, code);
	if (!has_begun)
		return pyplace_write_first(writer, code);
	if (!pytype_is(reader, code, "code") || read_position(reader, frame, code, &position))
		return -1;
	return write_place(writer, code, pyplace_find_line(reader, code, position));
}
