#include "backends/cpython/pyplace.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends/cpython/cpython.h"
#include "backends/cpython/line-table.h"
#include "backends/cpython/pyobject.h"
#include "backends/cpython/pyreader.h"
#include "backends/cpython/pystring.h"
#include "backends/cpython/pytype.h"
#include "backends/cpython/pywriter.h"
#include "banned.h"
#include "base/alloc.h"
#include "base/buffer.h"

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
