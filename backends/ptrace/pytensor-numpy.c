/* pytensor-numpy: arrays of numpy 1.x and 2.x. */
#include <stdio.h>
#include <string.h>

#include "backends/ptrace/pykind.h"
#include "backends/ptrace/pyobject.h"
#include "backends/ptrace/pyreader.h"
#include "backends/ptrace/pytensor.h"
#include "backends/ptrace/pytype.h"
#include "banned.h"
#include "base/array.h"

/* Elements along one dimension: more are not believed. */
#define SIZE_LIMIT (INT64_C(1) << 48)
#define ITEM_LIMIT (INT64_C(1) << 31)
#define ALIGNMENT_LIMIT 64

/*
 * PyArrayObject: data, a count of dimensions, dimensions, strides, base,
 * descriptor (numpy/ndarraytypes.h). PyArray_Descr: typeobj, kind, type,
 * byteorder, flags, type_num, then elsize: four bytes up to 1.x, eight in 2.x
 * behind eight of flags.
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
 * Up to 1.x four bytes of size and as many of alignment stand where 2.x has
 * flags, whose upper half is not used.
 */
static int64_t find_size(const struct descriptor *is)
{
	bool is_old = is->old_alignment > 0 &&
		      is->old_alignment <= ALIGNMENT_LIMIT;

	return is_old ? is->old_size : is->new_size;
}

static int name_dtype(struct pytensor *tensor, const struct descriptor *is)
{
	static const struct {
		char kind;
		int size; /* 0: any */
		const char *name;
	} names[] = {
		{ 'b', 1, "bool" },	   { 'i', 1, "int8" },
		{ 'i', 2, "int16" },	   { 'i', 4, "int32" },
		{ 'i', 8, "int64" },	   { 'u', 1, "uint8" },
		{ 'u', 2, "uint16" },	   { 'u', 4, "uint32" },
		{ 'u', 8, "uint64" },	   { 'f', 2, "float16" },
		{ 'f', 4, "float32" },	   { 'f', 8, "float64" },
		{ 'f', 16, "longdouble" }, { 'c', 8, "complex64" },
		{ 'c', 16, "complex128" }, { 'c', 32, "clongdouble" },
		{ 'O', 8, "object" },	   { 'M', 8, "datetime64" },
		{ 'm', 8, "timedelta64" },
		{ 'U', 0, "str" },	   { 'S', 0, "bytes" },
		{ 'V', 0, "void" },	   { 'T', 0, "StringDType" },
	};
	int64_t size = find_size(is);

	if (size < 0 || size > ITEM_LIMIT)
		return -1;
	for (size_t i = 0; i < ARRAY_LENGTH(names); i++) {
		if (names[i].kind != is->kind ||
		    (names[i].size && names[i].size != size))
			continue;
		snprintf(tensor->dtype_text, sizeof(tensor->dtype_text), "%s%s",
			 is->byte_order == '>' ? ">" : "", names[i].name);
		tensor->item_size = size;
		return 0;
	}
	return -1;
}

/* The number of elements; -1: no such shape. */
static int64_t count_elements(const struct pytensor *tensor)
{
	int64_t count = 1;

	for (int i = 0; i < tensor->dimension_count; i++) {
		int64_t size = tensor->shape[i];

		if (size < 0 || size > SIZE_LIMIT ||
		    (size && count > INT64_MAX / size))
			return -1;
		count *= size;
	}
	return count;
}

static int read_words(struct pyreader *reader, uint64_t address, int count,
		      int64_t *words)
{
	if (count == 0)
		return 0;
	return pyreader_read(reader, address, words,
			     (size_t)count * sizeof(*words));
}

/* A numpy.ma.MaskedArray whose _mask is an array: nomask is a number. */
static bool has_mask(struct pyreader *reader, uint64_t object)
{
	struct pytype type;
	uint64_t mask;

	return !pytype_of(reader, object, &type) &&
	       (type.flags & PYTYPE_HEAP) &&
	       !pyobject_attribute(reader, object, "_mask", &mask) &&
	       !pytype_of(reader, mask, &type) && type.kind &&
	       strcmp(type.kind->name, "numpy.ndarray") == 0;
}

int pytensor_read_numpy(struct pyreader *reader, uint64_t object,
			struct pytensor *tensor)
{
	struct array array;
	struct descriptor descriptor;

	*tensor = (struct pytensor){ .family = PYTENSOR_NUMPY,
				     .device_index = -1,
				     .object = object,
				     .local = object,
				     .storage_bytes = -1,
				     .storage_users = -1 };
	if (pyreader_read(reader, object + PYREADER_HEAD, &array,
			  sizeof(array)) ||
	    array.dimension_count < 0 ||
	    array.dimension_count > PYTENSOR_DIMENSIONS ||
	    pyreader_read(reader, array.descriptor + PYREADER_HEAD, &descriptor,
			  sizeof(descriptor)) ||
	    name_dtype(tensor, &descriptor) ||
	    read_words(reader, array.dimensions, array.dimension_count,
		       tensor->shape) ||
	    read_words(reader, array.strides, array.dimension_count,
		       tensor->strides))
		return -1;
	tensor->dimension_count = array.dimension_count;
	tensor->data = array.data;
	tensor->dtype_object = array.descriptor;
	tensor->element_count = count_elements(tensor);
	if (descriptor.kind == 'O' || descriptor.kind == 'T')
		tensor->unread = PYTENSOR_OBJECTS;
	else if (has_mask(reader, object))
		tensor->unread = "it is a masked array: from outside its mask "
				 "is not applied to its elements";
	return tensor->element_count < 0 ? -1 : 0;
}
