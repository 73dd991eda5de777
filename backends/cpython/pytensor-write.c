/*
 * pytensor-write: a tensor in one line, as variables show it.
 */
#include "backends/cpython/pytensor.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends/cpython/pycontainer.h"
#include "backends/cpython/pyobject.h"
#include "backends/cpython/pyreader.h"
#include "backends/cpython/pywriter.h"
#include "banned.h"
#include "base/buffer.h"

static void write_shape(struct buffer *out, const struct pytensor *tensor)
{
	buffer_append_char(out, '[');
	for (int i = 0; i < tensor->dimension_count; i++)
		buffer_printf(out, "%s%" PRId64, i ? ", " : "", tensor->shape[i]);
	buffer_append_char(out, ']');
}

/* Writes the class's name: "tensor", "Parameter". */
static void pytensor_write_write_class(struct pywriter *writer, uint64_t object, const char *plain,
				       const char *shown)
{
	struct buffer name = BUFFER_INIT;
	const char *dot;

	if (pyobject_type_name(writer->reader, object, &name)) {
		buffer_clear(&name);
		pywriter_text(writer, shown);
		return;
	}
	dot = strrchr(name.data, '.');
	pywriter_text(writer, strcmp(name.data, plain) == 0 ? shown : dot ? dot + 1 : name.data);
	buffer_clear(&name);
}

static void write_unknown(struct pywriter *writer, uint64_t object)
{
	pywriter_text(writer, "<");
	if (pyobject_type_name(writer->reader, object, writer->out))
		pywriter_text(writer, PYWRITER_UNKNOWN);
	buffer_printf(writer->out, " at 0x%" PRIx64 ">", object);
}

void pytensor_write_torch(struct pywriter *writer, uint64_t object)
{
	struct pytensor tensor;

	if (pytensor_read_torch(writer->reader, object, &tensor)) {
		write_unknown(writer, object);
		return;
	}
	pytensor_write_write_class(writer, object, "torch.Tensor", "tensor");
	buffer_printf(writer->out, " %s ", pytensor_dtype(&tensor));
	write_shape(writer->out, &tensor);
	buffer_printf(writer->out, " %s", tensor.device);
	if (tensor.device_index >= 0)
		buffer_printf(writer->out, ":%d", tensor.device_index);
	if (tensor.requires_grad > 0)
		pywriter_text(writer, " requires_grad");
}

void pytensor_write_numpy(struct pywriter *writer, uint64_t object)
{
	struct pytensor tensor;

	if (pytensor_read_numpy(writer->reader, object, &tensor)) {
		write_unknown(writer, object);
		return;
	}
	pytensor_write_write_class(writer, object, "numpy.ndarray", "ndarray");
	buffer_printf(writer->out, " %s ", pytensor_dtype(&tensor));
	write_shape(writer->out, &tensor);
}

void pytensor_write_array(struct pywriter *writer, uint64_t object)
{
	struct pytensor tensor;

	if (pytensor_read_array(writer->reader, object, &tensor)) {
		write_unknown(writer, object);
		return;
	}
	pytensor_write_write_class(writer, object, "array.array", "array");
	buffer_printf(writer->out, " %s ", pytensor_dtype(&tensor));
	write_shape(writer->out, &tensor);
}

/* THPDtype: the type's number in one byte, then its name. */
void pytensor_write_dtype(struct pywriter *writer, uint64_t object)
{
	const char *name = NULL;
	uint8_t number;

	if (!pyreader_read(writer->reader, object + PYREADER_HEAD, &number, 1))
		name = pytensor_dtype_name(number);
	if (name)
		buffer_printf(writer->out, "torch.%s", name);
	else
		write_unknown(writer, object);
}

/* THPDevice: type and index, a byte each. */
void pytensor_write_device(struct pywriter *writer, uint64_t object)
{
	const char *name = NULL;
	int8_t bytes[2];

	if (!pyreader_read(writer->reader, object + PYREADER_HEAD, bytes, sizeof(bytes)))
		name = pytensor_device_name(bytes[0]);
	if (!name) {
		write_unknown(writer, object);
		return;
	}
	buffer_printf(writer->out, "device(type='%s'", name);
	if (bytes[1] >= 0)
		buffer_printf(writer->out, ", index=%d", bytes[1]);
	pywriter_text(writer, ")");
}

void pytensor_write_size(struct pywriter *writer, uint64_t object)
{
	static const struct pybrackets brackets = { "torch.Size([", "])", "...", "torch.Size([])" };
	int64_t count = pytuple_count(writer->reader, object);

	if (count < 0) {
		write_unknown(writer, object);
		return;
	}
	if (!pywriter_open(writer, object, count, &brackets))
		return;
	for (int64_t i = 0; i < count && pywriter_next(writer, i); i++) {
		uint64_t item;

		if (pytuple_item(writer->reader, object, i, &item))
			item = 0;
		pywriter_object(writer, item);
	}
	pywriter_close(writer, &brackets);
}
