/* pytensor-array: arrays of numpy 1.x and 2.x, Python's buffers, arrays of jax. */
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "backends/cpython/cpython.h"
#include "backends/cpython/pycontainer.h"
#include "backends/cpython/pyobject.h"
#include "backends/cpython/pyreader.h"
#include "backends/cpython/pytensor.h"
#include "backends/cpython/pytype.h"
#include "backends/cpython/pywriter.h"
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
 * Where numpy 1.x has four bytes of size and four bytes of alignment, 2.x has flags, whose upper
 * half is 0: a valid alignment shows numpy 1.x.
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
		tensor->unread = "the dtype is not supported: it is of a library other than numpy "
				 "and ml_dtypes";
	snprintf(tensor->dtype_text, sizeof(tensor->dtype_text), "%s%s",
		 dtype && is->byte_order == '>' ? ">" : "", text && *text ? text : "?");
	buffer_clear(&name);
	return tensor->item_size < 0 || tensor->item_size > ITEM_LIMIT ? -1 : 0;
}

static int name_dtype(struct pyreader *reader, struct pytensor *tensor, const struct descriptor *is)
{
	static const struct {
		char kind;
		int size; /* 0: any size */
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

/* Reads the numpy.ndarray without what a subclass adds (a mask). */
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

/*
 * Reads a mask that is a numpy.bool (numpy.bool_ up to 1.x): numpy.ma.nomask, or one value for all
 * elements. False: the mask is no such scalar.
 */
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
		return "the mask of the array is not a numpy array";
	if (strcmp(mask.dtype_text, "bool") != 0)
		return "the mask of the array is not of dtype bool: masks of structured arrays are "
		       "not supported";
	if (mask.dimension_count != tensor->dimension_count ||
	    memcmp(mask.shape, tensor->shape, bytes) != 0)
		return "the mask does not have the shape of the array";
	tensor->has_mask = true;
	tensor->mask_object = object;
	tensor->mask = mask.data;
	memcpy(tensor->mask_strides, mask.strides, bytes);
	return NULL;
}

/*
 * Reads the mask of object. Returns NULL if the mask was applied or object has no mask, else the
 * reason why the mask cannot be applied.
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
			       ? "the class of the array has a mask, which is supported only in "
				 "numpy.ma.MaskedArray"
			       : NULL;
	if (!has_mask)
		return "the mask of the array cannot be read";
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

/* Bytes, bytearray, array.array, memoryview. */

static void pytensor_buffer_begin(struct pytensor *tensor, uint64_t object)
{
	*tensor = (struct pytensor){ .family = PYTENSOR_BUFFER,
				     .device_index = -1,
				     .object = object,
				     .local = object,
				     .storage_bytes = -1,
				     .storage_users = -1 };
}

/* Describes one dimension of contiguous elements. */
static int pytensor_buffer_set_row(struct pytensor *tensor, const char *dtype, int64_t size,
				   int64_t count, uint64_t data)
{
	if (count < 0 || count > SIZE_LIMIT)
		return -1;
	tensor->dtype = dtype;
	tensor->item_size = size;
	tensor->dimension_count = 1;
	tensor->shape[0] = count;
	tensor->strides[0] = size;
	tensor->element_count = count;
	tensor->data = data;
	return 0;
}

int pytensor_read_bytes(struct pyreader *reader, uint64_t object, struct pytensor *tensor)
{
	int64_t count;

	pytensor_buffer_begin(tensor, object);
	if (reader->python->offsets.bytes_sval < 0 || pyreader_size(reader, object, &count))
		return -1;
	return pytensor_buffer_set_row(tensor, "uint8", 1, count,
				       object + (uint64_t)reader->python->offsets.bytes_sval);
}

/* PyByteArrayObject: ob_size, ob_alloc, ob_bytes, ob_start. */
#define BYTEARRAY_START 40

int pytensor_read_bytearray(struct pyreader *reader, uint64_t object, struct pytensor *tensor)
{
	uint64_t start;
	int64_t count;

	pytensor_buffer_begin(tensor, object);
	if (pyreader_size(reader, object, &count) ||
	    pyreader_pointer(reader, object + BYTEARRAY_START, &start))
		return -1;
	return pytensor_buffer_set_row(tensor, "uint8", 1, count, start);
}

/*
 * arrayobject (Modules/arraymodule.c): ob_size, ob_item, allocated, ob_descr; a descriptor begins
 * with the type's letter, then an int with its size.
 */
#define ARRAY_ITEMS 24
#define ARRAY_DESCRIPTOR 40
struct array_descriptor {
	char letter;
	int32_t size;
};

/* Letters of the module struct, with the sizes of this machine. */
static const struct format {
	char letter;
	int size;
	const char *dtype;
} formats[] = {
	{ 'b', 1, "int8" },   { 'B', 1, "uint8" },   { 'c', 1, "bytes" },   { '?', 1, "bool" },
	{ 'h', 2, "int16" },  { 'H', 2, "uint16" },  { 'i', 4, "int32" },   { 'I', 4, "uint32" },
	{ 'l', 8, "int64" },  { 'L', 8, "uint64" },  { 'l', 4, "int32" },   { 'L', 4, "uint32" },
	{ 'q', 8, "int64" },  { 'Q', 8, "uint64" },  { 'n', 8, "int64" },   { 'N', 8, "uint64" },
	{ 'P', 8, "uint64" }, { 'e', 2, "float16" }, { 'f', 4, "float32" }, { 'd', 8, "float64" },
	{ 'u', 4, "str" },    { 'w', 4, "str" },
};

static const char *pytensor_buffer_find_format(char letter, int64_t size)
{
	for (size_t i = 0; i < ARRAY_LENGTH(formats); i++)
		if (formats[i].letter == letter && formats[i].size == size)
			return formats[i].dtype;
	return NULL;
}

int pytensor_read_array(struct pyreader *reader, uint64_t object, struct pytensor *tensor)
{
	struct array_descriptor is;
	uint64_t items, descriptor;
	const char *dtype;
	int64_t count;

	pytensor_buffer_begin(tensor, object);
	if (pyreader_size(reader, object, &count) ||
	    pyreader_pointer(reader, object + ARRAY_ITEMS, &items) ||
	    pyreader_pointer(reader, object + ARRAY_DESCRIPTOR, &descriptor) ||
	    pyreader_read(reader, descriptor, &is, sizeof(is)))
		return -1;
	dtype = pytensor_buffer_find_format(is.letter, is.size);
	if (!dtype)
		return -1;
	return pytensor_buffer_set_row(tensor, dtype, is.size, count, items);
}

/*
 * PyMemoryViewObject: ob_size, managed buffer, hash, flags, exports, then a Py_buffer
 * (Include/cpython/memoryobject.h).
 */
#define VIEW_FLAGS 40
#define VIEW_RELEASED 1
#define VIEW_BUFFER 56
struct view {
	uint64_t data, object;
	int64_t length, item_size;
	int32_t is_read_only, dimension_count;
	uint64_t format, shape, strides, parts;
};

/*
 * Sets the element type of a format: "<f", "B"; a format of several letters ("T{...}") becomes
 * void.
 */
static int name_format(struct pyreader *reader, const struct view *view, struct pytensor *tensor)
{
	char text[16] = "B";
	const char *letter = text;
	const char *dtype;

	if (view->format && pyreader_c_string(reader, view->format, text, sizeof(text)))
		return -1;
	if (strchr("@=<>!", *letter) && *letter)
		letter++;
	dtype = *letter && !letter[1] ? pytensor_buffer_find_format(*letter, view->item_size)
				      : NULL;
	if (!dtype)
		dtype = "void";
	snprintf(tensor->dtype_text, sizeof(tensor->dtype_text), "%s%s",
		 (*text == '>' || *text == '!') && view->item_size > 1 && strcmp(dtype, "void") != 0
			 ? ">"
			 : "",
		 dtype);
	return 0;
}

/* A view without shape has one dimension; a view without strides is contiguous. */
static int pytensor_buffer_read_shape(struct pyreader *reader, const struct view *view,
				      struct pytensor *tensor)
{
	size_t bytes = (size_t)view->dimension_count * 8;
	int64_t step = view->item_size;

	tensor->dimension_count = view->dimension_count;
	if (!view->shape && view->dimension_count == 1)
		tensor->shape[0] = view->length / view->item_size;
	else if (bytes && pyreader_read(reader, view->shape, tensor->shape, bytes))
		return -1;
	for (int i = tensor->dimension_count; i-- > 0;) {
		int64_t size = tensor->shape[i];

		tensor->strides[i] = step;
		if (size < 0 || size > SIZE_LIMIT || (size && step > INT64_MAX / size))
			return -1;
		step *= size;
	}
	tensor->element_count = step / view->item_size;
	if (view->strides && bytes && pyreader_read(reader, view->strides, tensor->strides, bytes))
		return -1;
	return step == view->length ? 0 : -1;
}

int pytensor_read_memoryview(struct pyreader *reader, uint64_t object, struct pytensor *tensor)
{
	struct view view;
	int32_t flags;

	pytensor_buffer_begin(tensor, object);
	if (pyreader_read(reader, object + VIEW_FLAGS, &flags, sizeof(flags)) ||
	    pyreader_read(reader, object + VIEW_BUFFER, &view, sizeof(view)) || view.length < 0 ||
	    view.item_size <= 0 || view.item_size > INT_MAX || view.dimension_count < 0 ||
	    view.dimension_count > PYTENSOR_DIMENSIONS || name_format(reader, &view, tensor) ||
	    pytensor_buffer_read_shape(reader, &view, tensor))
		return -1;
	tensor->item_size = view.item_size;
	tensor->data = view.data;
	if (view.parts)
		tensor->unread = "the memoryview has suboffsets, which are not supported";
	if (flags & VIEW_RELEASED)
		tensor->unread =
			"the memoryview was released: its memory may be in use for other data";
	return 0;
}

/*
 * Arrays of jax. The elements lie in a buffer of XLA, whose address and order only the library
 * knows. So type and shape are read from the Python object, but no elements.
 */

static const char *const arrays[] = { "jaxlib._jax.ArrayImpl", "jaxlib.xla_extension.ArrayImpl" };

static const char ARRAY[] =
	"the buffer of a jax array cannot be found in memory: inject an agent, or read a variable "
	"that the program has set to numpy.asarray() of the array";
static const char TRACER[] = "the value is a tracer of jax, which has no elements";

static bool is_tracer(struct pyreader *reader, const struct pytype *type)
{
	return pytype_derives(reader, type, "jax._src.core.Tracer");
}

bool pytensor_is_jax(struct pyreader *reader, const struct pytype *type)
{
	for (size_t i = 0; i < ARRAY_LENGTH(arrays); i++)
		if (pytype_derives(reader, type, arrays[i]))
			return true;
	return is_tracer(reader, type);
}

static bool is_shaped(struct pyreader *reader, uint64_t object)
{
	struct pytype type;

	return !pytype_of(reader, object, &type) &&
	       (pytype_derives(reader, &type, "jax._src.core.ShapedArray") ||
		pytype_derives(reader, &type, "jax.core.ShapedArray"));
}

/* Sets shape, and the strides of a contiguous array. */
static int pytensor_jax_read_shape(struct pyreader *reader, uint64_t shape, struct pytensor *tensor)
{
	int64_t count = pytuple_count(reader, shape);
	int64_t step = tensor->item_size;
	uint64_t item;

	if (count < 0 || count > PYTENSOR_DIMENSIONS)
		return -1;
	tensor->dimension_count = (int)count;
	tensor->element_count = 1;
	for (int64_t i = count; i-- > 0;) {
		int64_t *size = &tensor->shape[i];

		if (pytuple_item(reader, shape, i, &item) || pyobject_integer(reader, item, size) ||
		    *size < 0 || *size > SIZE_LIMIT ||
		    (*size &&
		     (step > INT64_MAX / *size || tensor->element_count > INT64_MAX / *size)))
			return -1;
		tensor->strides[i] = step;
		step *= *size;
		tensor->element_count *= *size;
	}
	return 0;
}

int pytensor_read_jax(struct pyreader *reader, uint64_t object, struct pytensor *tensor)
{
	uint64_t shaped, dtype, shape;
	struct pytype type;

	*tensor = (struct pytensor){ .family = PYTENSOR_NUMPY,
				     .device_index = -1,
				     .object = object,
				     .local = object,
				     .element_count = -1,
				     .storage_bytes = -1,
				     .storage_users = -1,
				     .unread = ARRAY };
	snprintf(tensor->dtype_text, sizeof(tensor->dtype_text), "?");
	if (pytype_of(reader, object, &type))
		return -1;
	if (is_tracer(reader, &type)) {
		tensor->unread = TRACER;
		return 0;
	}
	if (pytensor_find_member(reader, object, is_shaped, &shaped) ||
	    pyobject_attribute(reader, shaped, "dtype", &dtype) ||
	    pyobject_attribute(reader, shaped, "shape", &shape))
		return 0;
	tensor->unread = NULL;
	if (pytensor_set_dtype(reader, dtype, tensor) ||
	    pytensor_jax_read_shape(reader, shape, tensor))
		return -1;
	tensor->unread = ARRAY;
	return 0;
}
