#include "model/npy.h"

#include <inttypes.h>
#include <string.h>

#include "banned.h"
#include "base/array.h"
#include "base/buffer.h"
#include "base/error.h"
#include "protocol/dtype.h"
#include "protocol/tensor.h"

/* The format aligns the first element to this number of bytes. */
#define ALIGNMENT 64
#define MAGIC "\x93NUMPY"
#define MAGIC_LENGTH 6

/* numpy's names of its own element types. */
static const struct {
	const char *dtype;
	const char *description;
} descriptions[] = {
	{ "bool", "|b1" },	{ "int8", "|i1" },	  { "int16", "<i2" },
	{ "int32", "<i4" },	{ "int64", "<i8" },	  { "uint8", "|u1" },
	{ "uint16", "<u2" },	{ "uint32", "<u4" },	  { "uint64", "<u8" },
	{ "float16", "<f2" },	{ "float32", "<f4" },	  { "float64", "<f8" },
	{ "complex64", "<c8" }, { "complex128", "<c16" },
};

/* Returns the tensor's element type; NULL: unknown, or the tensor's item size is not the type's. */
static const struct dtype *npy_type_of(const struct tensor *tensor)
{
	const struct dtype *type = tensor->dtype ? dtype_find(tensor->dtype) : NULL;

	return type && type->size == tensor->item_size ? type : NULL;
}

/* Returns numpy's name of the type; NULL: numpy has no such type. */
static const char *description_of(const struct dtype *type)
{
	for (size_t i = 0; i < ARRAY_LENGTH(descriptions); i++)
		if (strcmp(descriptions[i].dtype, type->name) == 0)
			return descriptions[i].description;
	return NULL;
}

static bool becomes_float32(const struct dtype *type)
{
	return type->class == DTYPE_FLOAT && type->narrow && !description_of(type);
}

const char *npy_converted(const struct tensor *tensor)
{
	const struct dtype *type = npy_type_of(tensor);

	return type && becomes_float32(type) ? "float32" : NULL;
}

/* Appends the shape as a Python tuple; a tuple of one number ends in a comma. */
static void npy_append_shape(struct buffer *out, const struct tensor *tensor)
{
	buffer_append_char(out, '(');
	for (int i = 0; i < tensor->dimension_count; i++)
		buffer_printf(out, "%s%" PRId64, i > 0 ? ", " : "", tensor->shape[i]);
	buffer_append_string(out, tensor->dimension_count == 1 ? ",)" : ")");
}

static void npy_append_number(struct buffer *out, size_t number, int bytes)
{
	for (int i = 0; i < bytes; i++)
		buffer_append_char(out, (char)(number >> (8 * i) & 0xff));
}

int npy_append_header(struct buffer *out, const struct tensor *tensor, struct error *error)
{
	const struct dtype *type = npy_type_of(tensor);
	const char *description = type ? description_of(type) : NULL;
	struct buffer header = BUFFER_INIT;
	int version = 1;
	size_t before;

	if (tensor->has_mask)
		return error_set(error, "a masked tensor cannot be stored in an .npy file");
	if (type && becomes_float32(type))
		description = "<f4";
	if (!description)
		return error_set(error,
				 "elements of dtype %.100s cannot be stored in an .npy file "
				 "without pickle",
				 tensor->dtype ? tensor->dtype : "?");
	buffer_printf(&header, "{'descr': '%s', 'fortran_order': False, 'shape': ", description);
	npy_append_shape(&header, tensor);
	buffer_append_string(&header, ", }");
	if (header.length + 2 * ALIGNMENT > UINT16_MAX)
		version = 2;
	before = MAGIC_LENGTH + 2 + (version == 1 ? 2 : 4);
	while ((before + header.length + 1) % ALIGNMENT != 0)
		buffer_append_char(&header, ' ');
	buffer_append_char(&header, '\n');
	buffer_append(out, MAGIC, MAGIC_LENGTH);
	npy_append_number(out, (size_t)version, 2);
	npy_append_number(out, header.length, version == 1 ? 2 : 4);
	buffer_append(out, header.data, header.length);
	buffer_clear(&header);
	return 0;
}

/* Appends in little-endian order, whatever this machine's byte order is. */
static void append_float(struct buffer *out, float real)
{
	uint32_t bits;

	memcpy(&bits, &real, sizeof(bits));
	npy_append_number(out, bits, sizeof(bits));
}

void npy_append_elements(struct buffer *out, const struct tensor *tensor, const uint8_t *bytes,
			 size_t count)
{
	const struct dtype *type = npy_type_of(tensor);
	size_t size = (size_t)tensor->item_size;

	if (!type || !becomes_float32(type)) {
		buffer_append(out, bytes, count * size);
		return;
	}
	for (size_t i = 0; i < count; i++) {
		float real;

		type->narrow(bytes + i * size, 1, &real);
		append_float(out, real);
	}
}
