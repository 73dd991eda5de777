/* Writes computed values, which are not objects of the process, as repr() prints them. */
#include <stdlib.h>

#include "banned.h"
#include "backends/cpython/pynumber.h"
#include "backends/cpython/pyobject.h"
#include "backends/cpython/pystring.h"
#include "backends/cpython/pywriter.h"
#include "backends/expression/pyelement.h"
#include "backends/expression/pyvalue.h"
#include "backends/expression/pyview.h"
#include "base/buffer.h"
#include "protocol/variable.h"

/*
 * Most items that are written, and the text's length in bytes from which on no item begins: the
 * limits for a list of the process (pywriter.h).
 */
#define ITEMS_MAXIMUM 100
#define TEXT_MAXIMUM (VARIABLE_VALUE_MAXIMUM - 64)

static void write_characters(struct pyevaluation *evaluation, const struct pyvalue *value,
			     struct buffer *text)
{
	struct pywriter writer;

	pywriter_init(&writer, evaluation->reader, text);
	pystring_put(&writer, value->characters, value->count, value->kind == PYVALUE_BYTES);
}

/* Writes None, True, False, an int or a float. */
static void write_plain(const struct pyvalue *value, struct buffer *text)
{
	if (value->kind == PYVALUE_NONE)
		buffer_append_string(text, "None");
	else if (value->kind == PYVALUE_BOOLEAN)
		buffer_append_string(text, value->integer.count ? "True" : "False");
	else if (value->kind == PYVALUE_INTEGER)
		pyinteger_put(text, value->integer.is_negative, value->integer.digits,
			      (int64_t)value->integer.count);
	else
		pyfloat_put(text, value->number, PYFLOAT_DOUBLE);
}

static void pyshow_write_items(struct pyevaluation *evaluation, const struct pyvalue *value,
			       const char *brackets, struct buffer *text)
{
	size_t before = text->length;

	buffer_append_char(text, brackets[0]);
	for (size_t i = 0; i < value->count; i++) {
		buffer_append_string(text, i ? ", " : "");
		if (i == ITEMS_MAXIMUM || text->length - before > TEXT_MAXIMUM) {
			buffer_append_string(text, PYWRITER_CUT);
			break;
		}
		pyvalue_write(evaluation, &value->items[i], text);
	}
	if (value->count == 1 && value->kind == PYVALUE_TUPLE)
		buffer_append_char(text, ',');
	buffer_append_char(text, brackets[1]);
}

void pyvalue_write(struct pyevaluation *evaluation, const struct pyvalue *value,
		   struct buffer *text)
{
	if (value->address) {
		pyobject_repr(evaluation->reader, value->address, text);
		return;
	}
	switch (value->kind) {
	case PYVALUE_NONE:
	case PYVALUE_BOOLEAN:
	case PYVALUE_INTEGER:
	case PYVALUE_FLOAT:
		write_plain(value, text);
		return;
	case PYVALUE_STRING:
	case PYVALUE_BYTES:
		write_characters(evaluation, value, text);
		return;
	case PYVALUE_TUPLE:
		pyshow_write_items(evaluation, value, "()", text);
		return;
	case PYVALUE_LIST:
		pyshow_write_items(evaluation, value, "[]", text);
		return;
	case PYVALUE_SET:
		pyshow_write_items(evaluation, value, "{}", text);
		return;
	case PYVALUE_ELEMENT:
		pyelement_write(value, text);
		return;
	case PYVALUE_TENSOR:
		if (value->view)
			break;
		buffer_append_string(text, "<a tensor that Python never saw>");
		return;
	case PYVALUE_OBJECT:
	case PYVALUE_DICT:
	case PYVALUE_RANGE:
	case PYVALUE_DEQUE:
	case PYVALUE_BUFFER:
	case PYVALUE_ARRAY:
	case PYVALUE_SERIES:
		break;
	}
	if (value->view)
		pyview_write(value->view, text);
	else
		buffer_append_string(text, PYWRITER_UNKNOWN);
}
