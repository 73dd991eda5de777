#include "backends/expression/pyvalue.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends/cpython/cpython.h"
#include "backends/cpython/pycontainer.h"
#include "backends/cpython/pynumber.h"
#include "backends/cpython/pyobject.h"
#include "backends/cpython/pyreader.h"
#include "backends/cpython/pystring.h"
#include "backends/cpython/pytype.h"
#include "backends/expression/pycompare.h"
#include "backends/expression/pyelement.h"
#include "banned.h"
#include "base/alloc.h"
#include "base/array.h"
#include "base/buffer.h"
#include "base/error.h"

#define CHARACTERS_MAXIMUM (INT64_C(1) << 20)
#define NAME_MAXIMUM 64
#define OWNED_MAXIMUM ((size_t)64 << 20) /* maximum bytes that one evaluation allocates */

void pyevaluation_clear(struct pyevaluation *evaluation)
{
	while (evaluation->owned_count > 0)
		free(evaluation->owned[--evaluation->owned_count]);
	free(evaluation->owned);
	evaluation->owned = NULL;
	evaluation->owned_capacity = 0;
}

void *pyevaluation_allocate(struct pyevaluation *evaluation, size_t size)
{
	void *memory = xcalloc(1, size ? size : 1);

	ARRAY_GROW(evaluation->owned, evaluation->owned_count, evaluation->owned_capacity);
	evaluation->owned[evaluation->owned_count++] = memory;
	evaluation->owned_bytes += size;
	return memory;
}

int pyevaluation_check_room(struct pyevaluation *evaluation, size_t size)
{
	if (size <= OWNED_MAXIMUM && evaluation->owned_bytes <= OWNED_MAXIMUM - size)
		return 0;
	return error_set(evaluation->error,
			 "an expression can copy at most 64 MiB without an agent");
}

void pyvalue_set_integer(struct pyevaluation *evaluation, struct pyvalue *value, int64_t integer)
{
	uint32_t *digits = pyevaluation_allocate(evaluation, PYBIG_SMALL * sizeof(*digits));

	*value = (struct pyvalue){ .kind = PYVALUE_INTEGER };
	pybig_set(&value->integer, digits, integer);
}

void pyvalue_set_boolean(struct pyevaluation *evaluation, struct pyvalue *value, bool truth)
{
	pyvalue_set_integer(evaluation, value, truth);
	value->kind = PYVALUE_BOOLEAN;
}

void pyvalue_set_float(struct pyvalue *value, double number)
{
	*value = (struct pyvalue){ .kind = PYVALUE_FLOAT, .number = number };
}

bool pyvalue_is_integer(const struct pyvalue *value)
{
	return value->kind == PYVALUE_INTEGER || value->kind == PYVALUE_BOOLEAN;
}

/* Builtin types, and the kind of their values. */
static const struct {
	const char *name;
	enum pyvalue_kind kind;
} bases[] = {
	{ "NoneType", PYVALUE_NONE },
	{ "bool", PYVALUE_BOOLEAN },
	{ "int", PYVALUE_INTEGER },
	{ "float", PYVALUE_FLOAT },
	{ "str", PYVALUE_STRING },
	{ "bytes", PYVALUE_BYTES },
	{ "tuple", PYVALUE_TUPLE },
	{ "list", PYVALUE_LIST },
	{ "dict", PYVALUE_DICT },
	{ "set", PYVALUE_SET },
	{ "frozenset", PYVALUE_SET },
	{ "range", PYVALUE_RANGE },
	{ "collections.deque", PYVALUE_DEQUE },
	{ "bytearray", PYVALUE_BUFFER },
	{ "array.array", PYVALUE_BUFFER },
	{ "torch._C.TensorBase", PYVALUE_TENSOR },
	{ "torch._C._TensorBase", PYVALUE_TENSOR },
	{ "numpy.ndarray", PYVALUE_ARRAY },
};

/* True if the type is one of `bases` or a scalar of numpy; then sets value's kind. */
static bool is_base(struct pyreader *reader, const struct pytype *type, struct pyvalue *value)
{
	char name[NAME_MAXIMUM];

	if (!pytype_is_native(reader, type, name, sizeof(name)))
		return false;
	for (size_t i = 0; i < ARRAY_LENGTH(bases); i++) {
		if (strcmp(bases[i].name, name) != 0)
			continue;
		value->kind = bases[i].kind;
		return true;
	}
	if (pyelement_of_scalar(name, &value->element)) {
		value->kind = PYVALUE_ELEMENT;
		return true;
	}
	return false;
}

static void find_base(struct pyreader *reader, const struct pytype *type, struct pyvalue *value)
{
	struct pytype base = *type;

	value->kind = PYVALUE_OBJECT;
	for (int i = 0; i < PYTYPE_BASES_MAXIMUM; i++) {
		value->base = base.address;
		if (is_base(reader, &base, value) || !base.base ||
		    pytype_read(reader, base.base, &base))
			return;
	}
}

static int load_integer(struct pyevaluation *evaluation, struct pyvalue *value)
{
	struct pyreader *reader = evaluation->reader;
	uint32_t few[PYBIG_SMALL];
	uint32_t *digits = few;
	int64_t count = pyinteger_digits(reader, value->address, &value->integer.is_negative, few,
					 PYBIG_SMALL);
	size_t size = (count < 0 ? PYBIG_DIGITS : PYBIG_SMALL) * sizeof(*digits);

	digits = pyevaluation_allocate(evaluation, size);
	if (count < 0)
		count = pyinteger_digits(reader, value->address, &value->integer.is_negative,
					 digits, PYBIG_DIGITS);
	else
		memcpy(digits, few, (size_t)count * sizeof(*few));
	if (count < 0)
		return error_set(evaluation->error,
				 "the int at 0x%" PRIx64
				 " cannot be read, or is too large to compare without an agent",
				 value->address);
	value->integer.digits = digits;
	value->integer.count = (size_t)count;
	return 0;
}

int pyvalue_load(struct pyevaluation *evaluation, uint64_t address, struct pyvalue *value)
{
	struct pyreader *reader = evaluation->reader;
	const struct offsets *at = &reader->python->offsets;
	struct pytype type;

	*value = (struct pyvalue){ .address = address };
	if (pytype_of(reader, address, &type))
		return error_set(evaluation->error, "no readable object at 0x%" PRIx64, address);
	value->type = type.address;
	find_base(reader, &type, value);
	if (pyvalue_is_integer(value))
		return load_integer(evaluation, value);
	if (value->kind == PYVALUE_FLOAT && pyreader_read(reader, address + (uint64_t)at->float_val,
							  &value->number, sizeof(value->number)))
		return error_set(evaluation->error, "the float at 0x%" PRIx64 " cannot be read",
				 address);
	if (value->kind == PYVALUE_ELEMENT)
		return pyelement_load(evaluation, address + PYREADER_HEAD, value);
	return 0;
}

static const char *const computed_names[] = {
	[PYVALUE_NONE] = "NoneType",
	[PYVALUE_BOOLEAN] = "bool",
	[PYVALUE_INTEGER] = "int",
	[PYVALUE_FLOAT] = "float",
	[PYVALUE_STRING] = "str",
	[PYVALUE_BYTES] = "bytes",
	[PYVALUE_TUPLE] = "tuple",
	[PYVALUE_LIST] = "list",
	[PYVALUE_SET] = "set",
	[PYVALUE_TENSOR] = "torch.Tensor",
	[PYVALUE_ARRAY] = "numpy.ndarray",
	[PYVALUE_SERIES] = "pandas.Series",
};

static const char *pyvalue_name_type(struct pyevaluation *evaluation, uint64_t address)
{
	struct buffer name = BUFFER_INIT;
	struct pytype type;
	char *copy;

	if (pytype_read(evaluation->reader, address, &type) ||
	    pytype_name(evaluation->reader, &type, &name))
		buffer_append_string(&name, "?");
	copy = pyevaluation_allocate(evaluation, name.length + 1);
	memcpy(copy, name.data, name.length);
	buffer_clear(&name);
	return copy;
}

const char *pyvalue_type_name(struct pyevaluation *evaluation, const struct pyvalue *value)
{
	if (value->address)
		return pyvalue_name_type(evaluation, value->type);
	if (value->kind == PYVALUE_ELEMENT)
		return value->element.name;
	return computed_names[value->kind];
}

const char *pyvalue_base_name(struct pyevaluation *evaluation, const struct pyvalue *value)
{
	return value->address ? pyvalue_name_type(evaluation, value->base)
			      : pyvalue_type_name(evaluation, value);
}

/* Refuses an operation because the class of value overrides the method. */
static int pyvalue_refuse_own(struct pyevaluation *evaluation, const struct pyvalue *value,
			      const char *method)
{
	return error_set(evaluation->error,
			 "not supported without an agent: the %s of %s would run in the process",
			 method, pyvalue_type_name(evaluation, value));
}

static bool pyvalue_is_as_base(struct pyevaluation *evaluation, const struct pyvalue *value,
			       enum pyslot slot)
{
	return !value->address ||
	       pyslot_is_kept(evaluation->reader, value->type, value->base, slot);
}

static int64_t refuse_length(struct pyevaluation *evaluation, const struct pyvalue *value)
{
	struct pyreader *reader = evaluation->reader;
	uint64_t length = 0, map_length = 0;

	if (value->address) {
		pyslot_read(reader, value->type, PYSLOT_LENGTH, &length);
		pyslot_read(reader, value->type, PYSLOT_MAP_LENGTH, &map_length);
	}
	if (length || map_length)
		return pyvalue_refuse_own(evaluation, value, "__len__");
	return error_set(evaluation->error, "an object of %s has no len()",
			 pyvalue_type_name(evaluation, value));
}

static int64_t read_range_length(struct pyreader *reader, uint64_t address)
{
	uint64_t held[4];
	int64_t length;

	/* rangeobject: start, stop, step, length. */
	if (pyreader_read(reader, address + PYREADER_HEAD, held, sizeof(held)) ||
	    pyobject_integer(reader, held[3], &length))
		return -1;
	return length;
}

static int64_t read_length(struct pyreader *reader, const struct pyvalue *value)
{
	struct pystring string;
	uint64_t data;
	int64_t length;

	switch (value->kind) {
	case PYVALUE_STRING:
		return pystring_read(reader, value->address, &string) ? -1 : string.length;
	case PYVALUE_BYTES:
		return pybytes_read(reader, value->address, &data, &length) ? -1 : length;
	case PYVALUE_TUPLE:
		return pytuple_count(reader, value->address);
	case PYVALUE_LIST:
		return pylist_count(reader, value->address);
	case PYVALUE_SET:
		return pyset_count(reader, value->address);
	case PYVALUE_DICT:
		return pydict_count(reader, value->address);
	case PYVALUE_RANGE:
		return read_range_length(reader, value->address);
	case PYVALUE_DEQUE:
		return pydeque_count(reader, value->address);
	case PYVALUE_BUFFER:
		return pyreader_size(reader, value->address, &length) ? -1 : length;
	case PYVALUE_TENSOR:
	case PYVALUE_ARRAY:
	case PYVALUE_SERIES:
		return pyelement_length(reader, value);
	case PYVALUE_OBJECT:
	case PYVALUE_NONE:
	case PYVALUE_BOOLEAN:
	case PYVALUE_INTEGER:
	case PYVALUE_FLOAT:
	case PYVALUE_ELEMENT:
		break;
	}
	return -1;
}

static bool has_length(const struct pyvalue *value)
{
	return value->kind >= PYVALUE_STRING && value->kind < PYVALUE_ELEMENT;
}

int64_t pyvalue_length(struct pyevaluation *evaluation, const struct pyvalue *value)
{
	int64_t length;

	if (!has_length(value) ||
	    (value->kind == PYVALUE_TENSOR
		     ? !pyelement_is_plain(evaluation->reader, value)
		     : !pyvalue_is_as_base(evaluation, value, PYSLOT_LENGTH) ||
			       !pyvalue_is_as_base(evaluation, value, PYSLOT_MAP_LENGTH)))
		return refuse_length(evaluation, value);
	length = value->address || value->view ? read_length(evaluation->reader, value)
					       : (int64_t)value->count;
	if (length < 0)
		return error_set(evaluation->error, "the length of an object of %s cannot be read",
				 pyvalue_type_name(evaluation, value));
	return length;
}

/* An instance is true unless its class has __bool__ or __len__, which are code of the program. */
static int object_truth(struct pyevaluation *evaluation, const struct pyvalue *value)
{
	static const enum pyslot asked[] = { PYSLOT_TRUTH, PYSLOT_MAP_LENGTH, PYSLOT_LENGTH };
	uint64_t function = 0;

	for (size_t i = 0; i < ARRAY_LENGTH(asked); i++) {
		if (pyslot_read(evaluation->reader, value->type, asked[i], &function) || function)
			return pyvalue_refuse_own(evaluation, value,
						  asked[i] == PYSLOT_TRUTH ? "__bool__"
									   : "__len__");
	}
	return 1;
}

int pyvalue_truth(struct pyevaluation *evaluation, const struct pyvalue *value)
{
	int64_t length;

	if (value->kind == PYVALUE_OBJECT)
		return object_truth(evaluation, value);
	if (value->kind == PYVALUE_TENSOR || value->kind == PYVALUE_ARRAY ||
	    value->kind == PYVALUE_SERIES)
		return error_set(evaluation->error,
				 "the truth value of a whole %s is not supported without an agent: "
				 "compare .item() or an element",
				 pyvalue_type_name(evaluation, value));
	if (!pyvalue_is_as_base(evaluation, value, PYSLOT_TRUTH))
		return pyvalue_refuse_own(evaluation, value, "__bool__");
	if (value->kind == PYVALUE_NONE)
		return 0;
	if (pyvalue_is_integer(value))
		return value->integer.count > 0;
	if (value->kind == PYVALUE_FLOAT)
		return value->number != 0;
	if (value->kind == PYVALUE_ELEMENT)
		return value->integer.count > 0 || value->number != 0;
	length = pyvalue_length(evaluation, value);
	return length < 0 ? -1 : length > 0;
}

static int pyvalue_read_bytes(struct pyreader *reader, uint64_t data, uint32_t *characters,
			      size_t count)
{
	const struct pystring string = { .data = data, .width = 1 };

	return pystring_characters(reader, &string, 0, count, characters);
}

static int pyvalue_read_characters(struct pyreader *reader, const struct pyvalue *value,
				   uint32_t *characters, size_t count)
{
	struct pystring string;
	uint64_t data;
	int64_t length;

	if (value->kind == PYVALUE_STRING)
		return pystring_read(reader, value->address, &string) ||
				       pystring_characters(reader, &string, 0, count, characters)
			       ? -1
			       : 0;
	return pybytes_read(reader, value->address, &data, &length) ||
			       pyvalue_read_bytes(reader, data, characters, count)
		       ? -1
		       : 0;
}

int pyvalue_characters(struct pyevaluation *evaluation, const struct pyvalue *value,
		       const uint32_t **characters, size_t *count)
{
	int64_t length;
	uint32_t *read;

	*characters = value->characters;
	*count = value->count;
	if (!value->address)
		return 0;
	length = read_length(evaluation->reader, value);
	if (length > CHARACTERS_MAXIMUM)
		return error_set(evaluation->error,
				 "a %s of %" PRId64
				 " characters is too long to compare without an agent",
				 pyvalue_type_name(evaluation, value), length);
	*count = length < 0 ? 0 : (size_t)length;
	read = pyevaluation_allocate(evaluation, (*count + 1) * sizeof(*read));
	*characters = read;
	if (length < 0 || pyvalue_read_characters(evaluation->reader, value, read, *count))
		return error_set(evaluation->error,
				 "the %s cannot be read, or is too large for one comparison",
				 pyvalue_type_name(evaluation, value));
	return 0;
}

static int read_range_item(struct pyevaluation *evaluation, uint64_t address, int64_t number,
			   struct pyvalue *item)
{
	uint64_t held[3];
	int64_t start, step, offset, result;

	if (pyreader_read(evaluation->reader, address + PYREADER_HEAD, held, sizeof(held)) ||
	    pyobject_integer(evaluation->reader, held[0], &start) ||
	    pyobject_integer(evaluation->reader, held[2], &step) ||
	    pychecked_multiply(number, step, &offset) || pychecked_add(start, offset, &result))
		return -1;
	pyvalue_set_integer(evaluation, item, result);
	return 0;
}

int pyvalue_item(struct pyevaluation *evaluation, const struct pyvalue *value, int64_t number,
		 struct pyvalue *item)
{
	struct pyreader *reader = evaluation->reader;
	uint64_t address = 0;
	int result = -1;

	if (!value->address) {
		*item = value->items[number];
		return 0;
	}
	if (value->kind == PYVALUE_TUPLE)
		result = pytuple_item(reader, value->address, number, &address);
	else if (value->kind == PYVALUE_LIST)
		result = pylist_item(reader, value->address, number, &address);
	else if (value->kind == PYVALUE_DEQUE)
		result = pydeque_item(reader, value->address, number, &address);
	else if (value->kind == PYVALUE_RANGE &&
		 !read_range_item(evaluation, value->address, number, item))
		return 0;
	if (result < 0)
		return error_set(evaluation->error, "item %" PRId64 " of the %s cannot be read",
				 number, pyvalue_type_name(evaluation, value));
	return pyvalue_load(evaluation, address, item);
}

/*
 * Offsets of words of PyTypeObject from tp_flags, the same from 3.8 to 3.14, and offsets in the
 * tables to which some of the words point (PyNumberMethods, PySequenceMethods,
 * PyMappingMethods).
 */
#define NUMBER (-72)
#define SEQUENCE (-64)
#define MAPPING (-56)
#define HERE 0
#define SLOT_NAME_MAXIMUM 32

static const struct {
	int table;	     /* offset of the pointer to the table; HERE: no table */
	int distance;	     /* offset from tp_flags, or in the table */
	const char *methods; /* methods with which a class overrides the slot */
} slots[] = {
	[PYSLOT_COMPARE] = { HERE, 32, "__eq__ __ne__ __lt__ __le__ __gt__ __ge__" },
	[PYSLOT_HASH] = { HERE, -48, "__hash__ __eq__" },
	[PYSLOT_TRUTH] = { NUMBER, 72, "__bool__" },
	[PYSLOT_LENGTH] = { SEQUENCE, 0, "__len__" },
	[PYSLOT_MAP_LENGTH] = { MAPPING, 0, "__len__" },
	[PYSLOT_CONTAINS] = { SEQUENCE, 56, "__contains__" },
	[PYSLOT_CONCATENATE] = { SEQUENCE, 8, "__add__ __radd__" },
	[PYSLOT_ITEM] = { SEQUENCE, 24, "__getitem__" },
	[PYSLOT_SUBSCRIPT] = { MAPPING, 8, "__getitem__" },
	[PYSLOT_ATTRIBUTE] = { HERE, -24, "__getattribute__ __getattr__" },
	[PYSLOT_GET] = { HERE, 104, "__get__" },
	[PYSLOT_SET] = { HERE, 112, "__set__ __delete__" },
	[PYSLOT_ADD] = { NUMBER, 0, "__add__ __radd__" },
	[PYSLOT_SUBTRACT] = { NUMBER, 8, "__sub__ __rsub__" },
	[PYSLOT_MULTIPLY] = { NUMBER, 16, "__mul__ __rmul__" },
	[PYSLOT_REMAINDER] = { NUMBER, 24, "__mod__ __rmod__" },
	[PYSLOT_POWER] = { NUMBER, 40, "__pow__ __rpow__" },
	[PYSLOT_NEGATIVE] = { NUMBER, 48, "__neg__" },
	[PYSLOT_POSITIVE] = { NUMBER, 56, "__pos__" },
	[PYSLOT_INVERT] = { NUMBER, 80, "__invert__" },
	[PYSLOT_LEFT] = { NUMBER, 88, "__lshift__ __rlshift__" },
	[PYSLOT_RIGHT] = { NUMBER, 96, "__rshift__ __rrshift__" },
	[PYSLOT_AND] = { NUMBER, 104, "__and__ __rand__" },
	[PYSLOT_XOR] = { NUMBER, 112, "__xor__ __rxor__" },
	[PYSLOT_OR] = { NUMBER, 120, "__or__ __ror__" },
	[PYSLOT_FLOOR_DIVIDE] = { NUMBER, 232, "__floordiv__ __rfloordiv__" },
	[PYSLOT_DIVIDE] = { NUMBER, 240, "__truediv__ __rtruediv__" },
};

int pyslot_read(struct pyreader *reader, uint64_t type, enum pyslot slot, uint64_t *function)
{
	uint64_t flags = type + (uint64_t)reader->python->offsets.tp_flags;
	uint64_t table = flags;

	if (slots[slot].table != HERE &&
	    pyreader_pointer(reader, flags + (uint64_t)(int64_t)slots[slot].table, &table))
		return -1;
	*function = 0;
	if (!table)
		return 0;
	return pyreader_pointer(reader, table + (uint64_t)(int64_t)slots[slot].distance, function);
}

bool pyslot_is_same(struct pyreader *reader, uint64_t type, uint64_t base, enum pyslot slot)
{
	uint64_t left, right;

	return type == base || (!pyslot_read(reader, type, slot, &left) &&
				!pyslot_read(reader, base, slot, &right) && left == right);
}

static bool has_method(struct pyreader *reader, const struct pytype *type, const char *methods)
{
	char name[SLOT_NAME_MAXIMUM];
	uint64_t value;

	for (const char *at = methods; *at; at += strspn(at, " ")) {
		size_t length = strcspn(at, " ");

		snprintf(name, sizeof(name), "%.*s", (int)length, at);
		if (!pytype_attribute(reader, type, name, &value))
			return true;
		at += length;
	}
	return false;
}

bool pyslot_is_kept(struct pyreader *reader, uint64_t type, uint64_t base, enum pyslot slot)
{
	struct pytype is, class;
	int64_t count;

	if (pyslot_is_same(reader, type, base, slot))
		return true;
	if (pytype_read(reader, type, &is))
		return false;
	count = pytuple_count(reader, is.mro);
	for (int64_t i = 0; i < count && i < PYTYPE_BASES_MAXIMUM; i++) {
		uint64_t address;

		if (pytuple_item(reader, is.mro, i, &address))
			return false;
		if (address == base)
			return true;
		if (pytype_read(reader, address, &class) ||
		    (class.flags & PYTYPE_HEAP ? has_method(reader, &class, slots[slot].methods)
					       : !pyslot_is_same(reader, address, base, slot)))
			return false;
	}
	return false;
}

uint64_t pyslot_root(struct pyreader *reader, uint64_t type)
{
	struct pytype is;

	for (int i = 0; i < PYTYPE_BASES_MAXIMUM; i++) {
		if (pytype_read(reader, type, &is))
			return 0;
		if (!is.base)
			return type;
		type = is.base;
	}
	return 0;
}
