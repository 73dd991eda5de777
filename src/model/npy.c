#include "model/npy.h"

#include <inttypes.h>
#include <string.h>

#include "banned.h"
#include "base/buffer.h"
#include "base/error.h"
#include "model/element.h"
#include "protocol/tensor.h"

/* The elements begin at a multiple of it. */
#define ALIGNMENT 64
#define MAGIC "\x93NUMPY"
#define MAGIC_LENGTH 6

/* NULL: its bytes are none that could be written. */
static const struct element_type *type_of(const struct tensor *tensor)
{
	const struct element_type *type = element_type_find(tensor->dtype);

	return type && type->size == tensor->item_size ? type : NULL;
}

const char *npy_converted(const struct tensor *tensor)
{
	const struct element_type *type = type_of(tensor);

	return type && !type->npy ? "float32" : NULL;
}

/* A tuple of one has a comma behind it. */
static void append_shape(struct buffer *out, const struct tensor *tensor)
{
	buffer_append_char(out, '(');
	for (int i = 0; i < tensor->dimension_count; i++)
		buffer_printf(out, "%s%" PRId64, i > 0 ? ", " : "",
			      tensor->shape[i]);
	buffer_append_string(out,
			     tensor->dimension_count == 1 ? ",)" : ")");
}

static void append_number(struct buffer *out, size_t number, int bytes)
{
	for (int i = 0; i < bytes; i++)
		buffer_append_char(out, (char)(number >> (8 * i) & 0xff));
}

int npy_append_header(struct buffer *out, const struct tensor *tensor,
		      struct error *error)
{
	const struct element_type *type = type_of(tensor);
	struct buffer header = BUFFER_INIT;
	int version = 1;
	size_t before;

	if (!type)
		return error_set(error,
				 "elements of %.100s have no place in an .npy "
				 "file that is read without running code",
				 tensor->dtype ? tensor->dtype : "?");
	buffer_printf(&header,
		      "{'descr': '%s', 'fortran_order': False, 'shape': ",
		      type->npy ? type->npy : "<f4");
	append_shape(&header, tensor);
	buffer_append_string(&header, ", }");
	if (header.length + 2 * ALIGNMENT > UINT16_MAX)
		version = 2;
	before = MAGIC_LENGTH + 2 + (version == 1 ? 2 : 4);
	while ((before + header.length + 1) % ALIGNMENT != 0)
		buffer_append_char(&header, ' ');
	buffer_append_char(&header, '\n');
	buffer_append(out, MAGIC, MAGIC_LENGTH);
	append_number(out, (size_t)version, 2);
	append_number(out, header.length, version == 1 ? 2 : 4);
	buffer_append(out, header.data, header.length);
	buffer_clear(&header);
	return 0;
}

/* Little-endian, whatever this machine is. */
static void append_float(struct buffer *out, float real)
{
	uint32_t bits;

	memcpy(&bits, &real, sizeof(bits));
	append_number(out, bits, sizeof(bits));
}

void npy_append_elements(struct buffer *out, const struct tensor *tensor,
			 const uint8_t *bytes, size_t count)
{
	const struct element_type *type = type_of(tensor);
	size_t size = (size_t)tensor->item_size;

	if (!type)
		return;
	if (type->npy) {
		buffer_append(out, bytes, count * size);
		return;
	}
	for (size_t i = 0; i < count; i++)
		append_float(out,
			     (float)element_real(type, bytes + i * size));
}
