#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends/cpython/cpython.h"
#include "backends/cpython/pycontainer.h"
#include "backends/cpython/pyobject.h"
#include "backends/cpython/pyreader.h"
#include "backends/cpython/pytype.h"
#include "backends/cpython/pywriter.h"
#include "banned.h"
#include "base/buffer.h"

/* An array of pointers to objects. */
struct sequence {
	uint64_t items;
	int64_t count;
};

static int list_read(struct pyreader *reader, uint64_t address, struct sequence *sequence)
{
	uint64_t at = address + (uint64_t)reader->python->offsets.list_item;

	if (!pytype_has(reader, address, PYTYPE_LIST) ||
	    pyreader_size(reader, address, &sequence->count) || sequence->count < 0 ||
	    sequence->count > INT64_MAX / 8)
		return -1;
	return pyreader_pointer(reader, at, &sequence->items);
}

static int tuple_read(struct pyreader *reader, uint64_t address, struct sequence *sequence)
{
	if (!pytype_has(reader, address, PYTYPE_TUPLE) ||
	    pyreader_size(reader, address, &sequence->count) || sequence->count < 0 ||
	    sequence->count > INT64_MAX / 8)
		return -1;
	sequence->items = address + (uint64_t)reader->python->offsets.tuple_item;
	return 0;
}

static int pysequence_read_item(struct pyreader *reader, const struct sequence *sequence,
				int64_t number, uint64_t *item)
{
	return pyreader_pointer(reader, sequence->items + 8 * (uint64_t)number, item);
}

static int pysequence_add_items(struct pypage *page, const struct sequence *sequence)
{
	int64_t end = sequence->count;

	if (page->start < end && end - page->start > (int64_t)page->count)
		end = page->start + (int64_t)page->count;
	for (int64_t i = page->start; i < end; i++) {
		struct buffer name = BUFFER_INIT;
		uint64_t item;

		if (pysequence_read_item(page->reader, sequence, i, &item))
			return -1;
		buffer_printf(&name, "[%" PRId64 "]", i);
		pypage_add(page, &name, item);
	}
	return 0;
}

static void pysequence_write_items(struct pywriter *writer, uint64_t address,
				   const struct sequence *sequence,
				   const struct pybrackets *brackets)
{
	if (!pywriter_open(writer, address, sequence->count, brackets))
		return;
	for (int64_t i = 0; i < sequence->count; i++) {
		uint64_t item = 0;

		if (!pywriter_next(writer, i))
			break;
		if (pysequence_read_item(writer->reader, sequence, i, &item))
			item = 0;
		pywriter_object(writer, item);
	}
	pywriter_close(writer, brackets);
}

int64_t pylist_count(struct pyreader *reader, uint64_t address)
{
	struct sequence sequence;

	return list_read(reader, address, &sequence) ? -1 : sequence.count;
}

int pylist_items(struct pypage *page, uint64_t address)
{
	struct sequence sequence;

	if (list_read(page->reader, address, &sequence))
		return -1;
	return pysequence_add_items(page, &sequence);
}

int pylist_item(struct pyreader *reader, uint64_t address, int64_t number, uint64_t *item)
{
	struct sequence sequence;

	if (list_read(reader, address, &sequence) || number < 0 || number >= sequence.count)
		return -1;
	return pysequence_read_item(reader, &sequence, number, item);
}

void pylist_write(struct pywriter *writer, uint64_t address)
{
	static const struct pybrackets brackets = { "[", "]", "[...]", "[]" };
	struct sequence sequence;

	if (list_read(writer->reader, address, &sequence))
		pywriter_text(writer, PYWRITER_UNKNOWN);
	else
		pysequence_write_items(writer, address, &sequence, &brackets);
}

int64_t pytuple_count(struct pyreader *reader, uint64_t address)
{
	struct sequence sequence;

	return tuple_read(reader, address, &sequence) ? -1 : sequence.count;
}

int pytuple_items(struct pypage *page, uint64_t address)
{
	struct sequence sequence;

	if (tuple_read(page->reader, address, &sequence))
		return -1;
	return pysequence_add_items(page, &sequence);
}

int pytuple_item(struct pyreader *reader, uint64_t address, int64_t number, uint64_t *item)
{
	struct sequence sequence;

	if (tuple_read(reader, address, &sequence) || number < 0 || number >= sequence.count)
		return -1;
	return pysequence_read_item(reader, &sequence, number, item);
}

void pytuple_write(struct pywriter *writer, uint64_t address)
{
	static const struct pybrackets one = { "(", ",)", "(...)", "()" };
	static const struct pybrackets many = { "(", ")", "(...)", "()" };
	struct sequence sequence;

	if (tuple_read(writer->reader, address, &sequence))
		pywriter_text(writer, PYWRITER_UNKNOWN);
	else
		pysequence_write_items(writer, address, &sequence,
				       sequence.count == 1 ? &one : &many);
}

/* Reads count pointers directly behind the object's head; writes "?" if unreadable. */
static int pysequence_read_held(struct pywriter *writer, uint64_t address, size_t count,
				uint64_t *held)
{
	if (!pyreader_read(writer->reader, address + PYREADER_HEAD, held, count * sizeof(*held)))
		return 0;
	pywriter_text(writer, PYWRITER_UNKNOWN);
	return -1;
}

static void write_held(struct pywriter *writer, const char *name, const uint64_t *held,
		       size_t count)
{
	pywriter_text(writer, name);
	for (size_t i = 0; i < count; i++) {
		pywriter_text(writer, i ? ", " : "(");
		pywriter_object(writer, held[i]);
	}
	pywriter_text(writer, ")");
}

/* rangeobject: start, stop, step, length (Objects/rangeobject.c). */
void pyrange_write(struct pywriter *writer, uint64_t address)
{
	uint64_t held[3];
	int64_t step;

	if (pysequence_read_held(writer, address, 3, held))
		return;
	if (!pyobject_integer(writer->reader, held[2], &step) && step == 1)
		write_held(writer, "range", held, 2);
	else
		write_held(writer, "range", held, 3);
}

/* PySliceObject: start, stop, step. */
void pyslice_write(struct pywriter *writer, uint64_t address)
{
	uint64_t held[3];

	if (!pysequence_read_held(writer, address, 3, held))
		write_held(writer, "slice", held, 3);
}

/* PyCellObject: ob_ref. */
void pycell_write(struct pywriter *writer, uint64_t address)
{
	static const struct pybrackets brackets = { "<cell: ", ">", "<cell: ...>",
						    "<cell: empty>" };
	uint64_t held;

	if (pysequence_read_held(writer, address, 1, &held) ||
	    !pywriter_open(writer, address, held ? 1 : 0, &brackets))
		return;
	pywriter_object(writer, held);
	pywriter_close(writer, &brackets);
}

/*
 * PyMemoryViewObject: ob_size, managed buffer, hash, flags, exports, then a Py_buffer: buf, obj,
 * len, itemsize, readonly, ndim, format, shape.
 */
#define VIEW_BUFFER 56
#define VIEW_DIMENSIONS 64
struct view {
	uint64_t data, object;
	int64_t length, item_size;
	int32_t is_read_only, dimension_count;
	uint64_t format, shape;
};

/* "<memory of 64 bytes, format 'B'>" */
void pymemoryview_write(struct pywriter *writer, uint64_t address)
{
	struct view view;
	char format[16];

	if (pyreader_read(writer->reader, address + VIEW_BUFFER, &view, sizeof(view)) ||
	    view.length < 0 || view.dimension_count < 0 || view.dimension_count > VIEW_DIMENSIONS) {
		pywriter_text(writer, PYWRITER_UNKNOWN);
		return;
	}
	buffer_printf(writer->out, "<memory of %" PRId64 " bytes", view.length);
	if (view.format && !pyreader_c_string(writer->reader, view.format, format, sizeof(format)))
		buffer_printf(writer->out, ", format '%s'", format);
	pywriter_text(writer, ">");
}
