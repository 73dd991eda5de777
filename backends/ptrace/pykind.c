#include "backends/ptrace/pykind.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends/ptrace/cpython.h"
#include "backends/ptrace/pycontainer.h"
#include "backends/ptrace/pynumber.h"
#include "backends/ptrace/pyobject.h"
#include "backends/ptrace/pyreader.h"
#include "backends/ptrace/pystring.h"
#include "backends/ptrace/pytype.h"
#include "backends/ptrace/pywriter.h"
#include "banned.h"
#include "base/array.h"
#include "base/buffer.h"

#define NAME_MAXIMUM 256

/* PyFunctionObject up to 3.9: code … module, annotations, qualname. */
#define QUALNAME_OLD 88
/* Since 3.10: globals, builtins, name, qualname (PyFrameConstructor). */
#define QUALNAME_NEW 24

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

static void write_function(struct pywriter *writer, uint64_t address)
{
	struct pyreader *reader = writer->reader;
	uint64_t at = reader->python->minor < 10 ? QUALNAME_OLD : QUALNAME_NEW;
	uint64_t name;

	pywriter_text(writer, "<function ");
	if (pyreader_pointer(reader, address + PYREADER_HEAD + at, &name) ||
	    pyobject_string(reader, name, NAME_MAXIMUM, writer->out))
		pywriter_text(writer, PYWRITER_UNKNOWN);
	buffer_printf(writer->out, " at 0x%" PRIx64 ">", address);
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
	{ "BaseException", PYTYPE_EXCEPTION, pyexception_write, NULL, NULL },
	{ "type", PYTYPE_TYPE, write_type, NULL, NULL },
	{ "function", 0, write_function, NULL, NULL },
	{ "module", 0, write_module, NULL, NULL },
	/* It is a float, but by its second base. */
	{ "numpy.float64", 0, pyfloat_write, NULL, NULL },
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

const struct pykind *pykind_find(struct pyreader *reader,
				 const struct pytype *type)
{
	struct pytype base = *type;

	for (int i = 0; i < PYTYPE_BASES_MAXIMUM; i++) {
		const struct pykind *kind = NULL;
		char name[32];

		/* A class of the program may be called "int", too. */
		if (!(base.flags & PYTYPE_HEAP) &&
		    !pyreader_c_string(reader, base.name, name, sizeof(name)))
			kind = find_by_name(name);
		if (kind && (type->flags & kind->flag) == kind->flag)
			return kind;
		if (!base.base || pytype_read(reader, base.base, &base))
			break;
	}
	return NULL;
}
