#include "backends/cpython/pywriter.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends/cpython/cpython.h"
#include "backends/cpython/pyclasses.h"
#include "backends/cpython/pycontainer.h"
#include "backends/cpython/pyfunction.h"
#include "backends/cpython/pynumber.h"
#include "backends/cpython/pyobject.h"
#include "backends/cpython/pyreader.h"
#include "backends/cpython/pystring.h"
#include "backends/cpython/pytensor.h"
#include "backends/cpython/pytype.h"
#include "banned.h"
#include "base/array.h"
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

#define NAME_MAXIMUM 256

static void write_none(struct pywriter *writer, uint64_t address)
{
	(void)address;
	pywriter_text(writer, "None");
}

static void write_ellipsis(struct pywriter *writer, uint64_t address)
{
	(void)address;
	pywriter_text(writer, "Ellipsis");
}

static void write_not_implemented(struct pywriter *writer, uint64_t address)
{
	(void)address;
	pywriter_text(writer, "NotImplemented");
}

static void write_type(struct pywriter *writer, uint64_t address)
{
	struct pytype type;

	pywriter_text(writer, "<class '");
	if (pytype_read(writer->reader, address, &type) ||
	    pytype_name(writer->reader, &type, writer->out))
		pywriter_text(writer, PYWRITER_UNKNOWN);
	pywriter_text(writer, "'>");
}

static void write_module(struct pywriter *writer, uint64_t address)
{
	uint64_t name;

	pywriter_text(writer, "<module ");
	if (pyobject_attribute(writer->reader, address, "__name__", &name))
		pywriter_text(writer, PYWRITER_UNKNOWN);
	else
		pywriter_object(writer, name);
	pywriter_text(writer, ">");
}

/* clang-format off */
static const struct pykind kinds[] = {
	{ "int", PYTYPE_INTEGER, pyinteger_write, NULL, NULL },
	{ "str", PYTYPE_STRING, pystring_write, NULL, NULL },
	{ "float", 0, pyfloat_write, NULL, NULL },
	{ "bool", PYTYPE_INTEGER, pyboolean_write, NULL, NULL },
	{ "NoneType", 0, write_none, NULL, NULL },
	{ "list", PYTYPE_LIST, pylist_write, pylist_count, pylist_items },
	{ "tuple", PYTYPE_TUPLE, pytuple_write, pytuple_count, pytuple_items },
	{ "dict", PYTYPE_DICT, pydict_write, pydict_count, pydict_items },
	{ "set", 0, pyset_write, pyset_count, pyset_items },
	{ "frozenset", 0, pyfrozenset_write, pyset_count, pyset_items },
	{ "bytes", PYTYPE_BYTES, pybytes_write, NULL, NULL },
	{ "bytearray", 0, pybytearray_write, NULL, NULL },
	{ "complex", 0, pycomplex_write, NULL, NULL },
	{ "range", 0, pyrange_write, NULL, NULL },
	{ "slice", 0, pyslice_write, NULL, NULL },
	{ "cell", 0, pycell_write, NULL, NULL },
	{ "ellipsis", 0, write_ellipsis, NULL, NULL },
	{ "NotImplementedType", 0, write_not_implemented, NULL, NULL },
	{ "BaseException", PYTYPE_EXCEPTION, pyexception_write,
	  pyexception_count, pyexception_items },
	{ "type", PYTYPE_TYPE, write_type, NULL, NULL },
	{ "function", 0, pyfunction_write, NULL, NULL },
	{ "method", 0, pymethod_write, pymethod_count, pymethod_items },
	{ "builtin_function_or_method", 0, pybuiltin_write, NULL, NULL },
	{ "functools.partial", 0, pypartial_write, NULL, NULL },
	{ "generator", 0, pygenerator_write, NULL, NULL },
	{ "coroutine", 0, pygenerator_write, NULL, NULL },
	{ "async_generator", 0, pygenerator_write, NULL, NULL },
	{ "collections.deque", 0, pydeque_write, pydeque_count,
	  pydeque_items },
	{ "collections.defaultdict", PYTYPE_DICT, pydefaultdict_write,
	  pydict_count, pydict_items },
	{ "collections.OrderedDict", PYTYPE_DICT, pyodict_write, pydict_count,
	  pyodict_items },
	{ "datetime.date", 0, pydate_write, NULL, NULL },
	{ "datetime.time", 0, pytime_write, NULL, NULL },
	{ "datetime.datetime", 0, pydatetime_write, NULL, NULL },
	{ "datetime.timedelta", 0, pytimedelta_write, NULL, NULL },
	{ "datetime.timezone", 0, pytimezone_write, NULL, NULL },
	{ "memoryview", 0, pymemoryview_write, NULL, NULL },
	{ "module", 0, write_module, NULL, NULL },
	/* numpy.float64 is a subclass of float, but float is only the second base. */
	{ "numpy.float64", 0, pyfloat_write, NULL, NULL },
	{ "numpy.bool_", 0, pyscalar_write, NULL, NULL },
	{ "numpy.bool", 0, pyscalar_write, NULL, NULL },
	{ "numpy.int8", 0, pyscalar_write, NULL, NULL },
	{ "numpy.int16", 0, pyscalar_write, NULL, NULL },
	{ "numpy.int32", 0, pyscalar_write, NULL, NULL },
	{ "numpy.int64", 0, pyscalar_write, NULL, NULL },
	{ "numpy.longlong", 0, pyscalar_write, NULL, NULL },
	{ "numpy.uint8", 0, pyscalar_write, NULL, NULL },
	{ "numpy.uint16", 0, pyscalar_write, NULL, NULL },
	{ "numpy.uint32", 0, pyscalar_write, NULL, NULL },
	{ "numpy.uint64", 0, pyscalar_write, NULL, NULL },
	{ "numpy.ulonglong", 0, pyscalar_write, NULL, NULL },
	{ "numpy.float16", 0, pyscalar_write, NULL, NULL },
	{ "numpy.float32", 0, pyscalar_write, NULL, NULL },
	{ "numpy.complex64", 0, pyscalar_write, NULL, NULL },
	{ "numpy.complex128", 0, pyscalar_write, NULL, NULL },
	{ "numpy.datetime64", 0, pyscalar_write, NULL, NULL },
	{ "numpy.timedelta64", 0, pyscalar_write, NULL, NULL },
	{ "array.array", 0, pytensor_write_array, NULL, NULL },
	{ "numpy.ndarray", 0, pytensor_write_numpy, NULL, NULL },
	{ "torch._C.TensorBase", 0, pytensor_write_torch, NULL, NULL },
	{ "torch._C._TensorBase", 0, pytensor_write_torch, NULL, NULL },
	{ "torch.dtype", 0, pytensor_write_dtype, NULL, NULL },
	{ "torch.device", 0, pytensor_write_device, NULL, NULL },
	{ "torch.Size", PYTYPE_TUPLE, pytensor_write_size, pytuple_count,
	  pytuple_items },
};
/* clang-format on */

static const struct pykind *find_by_name(const char *name)
{
	for (size_t i = 0; i < ARRAY_LENGTH(kinds); i++) {
		if (!strcmp(kinds[i].name, name))
			return &kinds[i];
	}
	return NULL;
}

const struct pykind *pykind_find(struct pyreader *reader, const struct pytype *type)
{
	struct pytype base = *type;

	for (int i = 0; i < PYTYPE_BASES_MAXIMUM; i++) {
		const struct pykind *kind = NULL;
		char name[32];

		/*
		 * Check that the type is written in C: a class of the program may also be called
		 * "int".
		 */
		if (pytype_is_native(reader, &base, name, sizeof(name)))
			kind = find_by_name(name);
		if (kind && (type->flags & kind->flag) == kind->flag)
			return kind;
		if (!base.base || pytype_read(reader, base.base, &base))
			break;
	}
	return NULL;
}
