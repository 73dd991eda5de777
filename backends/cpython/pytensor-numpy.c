/* pytensor-numpy: arrays of numpy 1.x and 2.x. */
#include <stdio.h>
#include <string.h>

#include "backends/cpython/pykind.h"
#include "backends/cpython/pyobject.h"
#include "backends/cpython/pyreader.h"
#include "backends/cpython/pytensor.h"
#include "backends/cpython/pytype.h"
#include "banned.h"
#include "base/array.h"
#include "base/buffer.h"
#include "protocol/dtype.h"

/* A larger size of one dimension is implausible. */
#define SIZE_LIMIT (INT64_C(1) << 48)
#define ITEM_LIMIT (INT64_C(1) << 31)
#define ALIGNMENT_LIMIT 64
/* Type numbers of numpy's own types are below NPY_NTYPES. */
#define BUILTIN_TYPES 24
#define ML_DTYPES "ml_dtypes."

/*
 * PyArrayObject: data, nd, dimensions, strides, base, descr (numpy/ndarraytypes.h). PyArray_Descr:
 * typeobj, kind, type, byteorder, flags, type_num, then elsize: four bytes up to 1.x; in 2.x eight
 * bytes, behind eight bytes of flags.
 */
struct array {
	uint64_t data;
	int32_t dimension_count, padding;
	uint64_t dimensions, strides, base, descriptor;
};
struct descriptor {
	uint64_t type;
	char kind, letter, byte_order, flags;
	int32_t number;
	int32_t old_size, old_alignment;
	int64_t new_size;
};

/*
 * numpy 1.x has four bytes of size and four of alignment where 2.x has flags, whose upper half is
 * 0.
 */
static int64_t find_size(const struct descriptor *is)
{
	bool is_old = is->old_alignment > 0 && is->old_alignment <= ALIGNMENT_LIMIT;

	return is_old ? is->old_size : is->new_size;
}

/*
 * Names a type that a library added to numpy, by its scalar class; the types of ml_dtypes are
 * known. A type whose name torch uses for another type keeps the prefix "ml_dtypes.".
 */
static int name_added(struct pyreader *reader, struct pytensor *tensor, const struct descriptor *is)
{
	struct buffer name = BUFFER_INIT;
	struct pytype type;
	const struct dtype *dtype = NULL;
	const char *text = NULL;

	if (!pytype_read(reader, is->type, &type) && !pytype_name(reader, &type, &name))
		text = name.data;
	if (text && strncmp(text, ML_DTYPES, strlen(ML_DTYPES)) == 0) {
		dtype = dtype_find(text);
		if (!dtype) {
			text += strlen(ML_DTYPES);
			dtype = dtype_find(text);
		}
	}
	tensor->item_size = find_size(is);
	if (!dtype || dtype->size != tensor->item_size)
		tensor->unread = "its elements are of a type that a library added to numpy, which "
				 "is not known here";
	snprintf(tensor->dtype_text, sizeof(tensor->dtype_text), "%s%s",
		 dtype && is->byte_order == '>' ? ">" : "", text ? text : "?");
	buffer_clear(&name);
	return tensor->item_size < 0 || tensor->item_size > ITEM_LIMIT ? -1 : 0;
}

static int name_dtype(struct pyreader *reader, struct pytensor *tensor, const struct descriptor *is)
{
	static const struct {
		char kind;
		int size; /* 0: any */
		const char *name;
	} names[] = {
		{ 'b', 1, "bool" },	    { 'i', 1, "int8" },	       { 'i', 2, "int16" },
		{ 'i', 4, "int32" },	    { 'i', 8, "int64" },       { 'u', 1, "uint8" },
		{ 'u', 2, "uint16" },	    { 'u', 4, "uint32" },      { 'u', 8, "uint64" },
		{ 'f', 2, "float16" },	    { 'f', 4, "float32" },     { 'f', 8, "float64" },
		{ 'f', 16, "longdouble" },  { 'c', 8, "complex64" },   { 'c', 16, "complex128" },
		{ 'c', 32, "clongdouble" }, { 'O', 8, "object" },      { 'M', 8, "datetime64" },
		{ 'm', 8, "timedelta64" },  { 'U', 0, "str" },	       { 'S', 0, "bytes" },
		{ 'V', 0, "void" },	    { 'T', 0, "StringDType" },
	};
	int64_t size = find_size(is);

	if (size < 0 || size > ITEM_LIMIT)
		return -1;
	if ((is->number < 0 || is->number >= BUILTIN_TYPES) && is->kind != 'T')
		return name_added(reader, tensor, is);
	if (is->kind == 'O' || is->kind == 'T')
		tensor->unread = PYTENSOR_OBJECTS;
	for (size_t i = 0; i < ARRAY_LENGTH(names); i++) {
		if (names[i].kind != is->kind || (names[i].size && names[i].size != size))
			continue;
		snprintf(tensor->dtype_text, sizeof(tensor->dtype_text), "%s%s",
			 is->byte_order == '>' ? ">" : "", names[i].name);
		tensor->item_size = size;
		return 0;
	}
	return -1;
}

int pytensor_set_dtype(struct pyreader *reader, uint64_t address, struct pytensor *tensor)
{
	struct descriptor descriptor;

	return pyreader_read(reader, address + PYREADER_HEAD, &descriptor, sizeof(descriptor)) ||
			       name_dtype(reader, tensor, &descriptor)
		       ? -1
		       : 0;
}

/* The number of elements; -1: invalid shape. */
static int64_t count_elements(const struct pytensor *tensor)
{
	int64_t count = 1;

	for (int i = 0; i < tensor->dimension_count; i++) {
		int64_t size = tensor->shape[i];

		if (size < 0 || size > SIZE_LIMIT || (size && count > INT64_MAX / size))
			return -1;
		count *= size;
	}
	return count;
}

static int read_words(struct pyreader *reader, uint64_t address, int count, int64_t *words)
{
	if (count == 0)
		return 0;
	return pyreader_read(reader, address, words, (size_t)count * sizeof(*words));
}

/* Reads the array without the additions of a subclass. */
static int read_array(struct pyreader *reader, uint64_t object, struct pytensor *tensor)
{
	struct array array;

	*tensor = (struct pytensor){ .family = PYTENSOR_NUMPY,
				     .device_index = -1,
				     .object = object,
				     .local = object,
				     .storage_bytes = -1,
				     .storage_users = -1 };
	if (pyreader_read(reader, object + PYREADER_HEAD, &array, sizeof(array)) ||
	    array.dimension_count < 0 || array.dimension_count > PYTENSOR_DIMENSIONS ||
	    pytensor_set_dtype(reader, array.descriptor, tensor) ||
	    read_words(reader, array.dimensions, array.dimension_count, tensor->shape) ||
	    read_words(reader, array.strides, array.dimension_count, tensor->strides))
		return -1;
	tensor->dimension_count = array.dimension_count;
	tensor->data = array.data;
	tensor->dtype_object = array.descriptor;
	tensor->element_count = count_elements(tensor);
	return tensor->element_count < 0 ? -1 : 0;
}

/*
 * Masks
 */

static bool pytensor_numpy_is_array(struct pyreader *reader, uint64_t object)
{
	struct pytype type;

	return !pytype_of(reader, object, &type) && type.kind &&
	       strcmp(type.kind->name, "numpy.ndarray") == 0;
}

/* numpy.bool (numpy.bool_ up to 1.x): numpy.ma.nomask, or one value for all elements. */
static bool read_scalar(struct pyreader *reader, uint64_t mask, uint8_t *value)
{
	struct pytype type;

	return !pytype_of(reader, mask, &type) && type.kind &&
	       (strcmp(type.kind->name, "numpy.bool") == 0 ||
		strcmp(type.kind->name, "numpy.bool_") == 0) &&
	       !pyreader_read(reader, mask + PYREADER_HEAD, value, 1);
}

const char *pytensor_set_mask(struct pyreader *reader, uint64_t object, struct pytensor *tensor)
{
	size_t bytes = (size_t)tensor->dimension_count * 8;
	struct pytensor mask;

	if (!pytensor_is_alive(reader, object) || !pytensor_numpy_is_array(reader, object) ||
	    read_array(reader, object, &mask))
		return "its mask is no array";
	if (strcmp(mask.dtype_text, "bool") != 0)
		return "its mask is not of bool: one with a field for each of its own is not "
		       "applied to its elements here";
	if (mask.dimension_count != tensor->dimension_count ||
	    memcmp(mask.shape, tensor->shape, bytes) != 0)
		return "its mask has another shape than its elements";
	tensor->has_mask = true;
	tensor->mask_object = object;
	tensor->mask = mask.data;
	memcpy(tensor->mask_strides, mask.strides, bytes);
	return NULL;
}

/*
 * Reads the mask of object; returns the reason why it cannot be applied, or NULL: applied, or no
 * mask.
 */
static const char *read_mask(struct pyreader *reader, uint64_t object, struct pytensor *tensor)
{
	struct pytype type;
	uint64_t mask;
	uint8_t value;
	bool is_numpy, has_mask;

	if (pytype_of(reader, object, &type) || !(type.flags & PYTYPE_HEAP))
		return NULL;
	is_numpy = pytype_derives(reader, &type, "numpy.ma.MaskedArray") ||
		   pytype_derives(reader, &type, "numpy.ma.core.MaskedArray");
	has_mask = !pyobject_attribute(reader, object, "_mask", &mask);
	if (!is_numpy)
		return has_mask && pytensor_numpy_is_array(reader, mask)
			       ? "its class has a mask of its own: what "
				 "that hides is not known here"
			       : NULL;
	if (!has_mask)
		return "its mask cannot be read";
	if (!read_scalar(reader, mask, &value))
		return pytensor_set_mask(reader, mask, tensor);
	if (!value)
		return NULL;
	tensor->has_mask = true;
	tensor->mask_object = mask;
	tensor->mask = mask + PYREADER_HEAD;
	return NULL;
}

int pytensor_read_numpy(struct pyreader *reader, uint64_t object, struct pytensor *tensor)
{
	const char *why;

	if (read_array(reader, object, tensor))
		return -1;
	why = read_mask(reader, object, tensor);
	if (!tensor->unread)
		tensor->unread = why;
	return 0;
}
