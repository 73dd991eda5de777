#include "backends/cpython/pywriter.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends/cpython/pyobject.h"
#include "banned.h"
#include "base/buffer.h"
#include "protocol/variable.h"

#define OBJECTS_MAXIMUM 512
#define ITEMS_MAXIMUM 100
/* Room for closing brackets, quotes and "…" behind the limit. */
#define RESERVE 64

void pywriter_init(struct pywriter *writer, struct pyreader *reader, struct buffer *out)
{
	*writer = (struct pywriter){
		.reader = reader,
		.out = out,
		.limit = out->length + VARIABLE_VALUE_MAXIMUM - RESERVE,
		.objects = OBJECTS_MAXIMUM,
	};
}

void pywriter_text(struct pywriter *writer, const char *text)
{
	buffer_append_string(writer->out, text);
}

size_t pywriter_left(const struct pywriter *writer)
{
	if (writer->out->length >= writer->limit)
		return 0;
	return writer->limit - writer->out->length;
}

bool pywriter_open(struct pywriter *writer, uint64_t address, int64_t count,
		   const struct pybrackets *brackets)
{
	if (!count) {
		pywriter_text(writer, brackets->empty);
		return false;
	}
	for (int i = 0; i < writer->depth; i++) {
		if (writer->open[i] != address)
			continue;
		pywriter_text(writer, brackets->cycle);
		return false;
	}
	pywriter_text(writer, brackets->open);
	if (writer->depth == PYWRITER_DEPTH) {
		pywriter_text(writer, PYWRITER_CUT);
		pywriter_text(writer, brackets->close);
		return false;
	}
	writer->open[writer->depth++] = address;
	return true;
}

bool pywriter_next(struct pywriter *writer, int64_t number)
{
	if (number)
		pywriter_text(writer, ", ");
	if (number < ITEMS_MAXIMUM && writer->objects > 0 && writer->reader->budget > 0 &&
	    pywriter_left(writer))
		return true;
	pywriter_text(writer, PYWRITER_CUT);
	return false;
}

void pywriter_close(struct pywriter *writer, const struct pybrackets *brackets)
{
	pywriter_text(writer, brackets->close);
	writer->depth--;
}
