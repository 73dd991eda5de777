/* pytensor-buffer: bytes, bytearray, array.array, memoryview. */
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "backends/cpython/cpython.h"
#include "backends/cpython/pyobject.h"
#include "backends/cpython/pyreader.h"
#include "backends/cpython/pytensor.h"
#include "banned.h"
#include "base/array.h"

/* A larger size of one dimension is implausible. */
#define SIZE_LIMIT (INT64_C(1) << 48)

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

/* Names the type of a format: "<f", "B"; a format of several letters ("T{...}") becomes void. */
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
		tensor->unread = "its parts lie behind pointers";
	if (flags & VIEW_RELEASED)
		tensor->unread = "it was released: its memory may be another's";
	return 0;
}
