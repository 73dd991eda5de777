#include "backends/expression/pyelement.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends/cpython/pynumber.h"
#include "backends/cpython/pyobject.h"
#include "backends/cpython/pyreader.h"
#include "backends/cpython/pytensor.h"
#include "backends/cpython/pytype.h"
#include "backends/expression/pycompare.h"
#include "backends/expression/pyevaluate.h"
#include "backends/expression/pyvalue.h"
#include "backends/expression/pyview.h"
#include "banned.h"
#include "base/array.h"
#include "base/buffer.h"
#include "base/error.h"

/* Bytes of the widest element. */
#define ELEMENT_BYTES 8
/* A double holds every integer from -EXACT_MAXIMUM to EXACT_MAXIMUM exactly. */
#define EXACT_MAXIMUM (INT64_C(1) << 53)

static const struct format {
	char format;
	int size;
	bool is_signed;
	int bits;     /* value bits of an integer, or significand bits of a float */
	int exponent; /* maximum exponent, as FLT_MAX_EXP; 0: an integer type */
} formats[] = {
	{ '?', 1, false, 1, 0 },
	{ 'b', 1, true, 7, 0 },
	{ 'B', 1, false, 8, 0 },
	{ 'h', 2, true, 15, 0 },
	{ 'H', 2, false, 16, 0 },
	{ 'i', 4, true, 31, 0 },
	{ 'I', 4, false, 32, 0 },
	{ 'q', 8, true, 63, 0 },
	{ 'Q', 8, false, 64, 0 },
	{ 'e', 2, true, 11, 16 },
	{ 'f', 4, true, 24, 128 },
	{ 'd', 8, true, 53, 1024 },
	{ PYELEMENT_BFLOAT16, 2, true, 8, 128 },
};

static const struct {
	const char *name;
	char format;
} names[] = {
	{ "bool", '?' },
	{ "int8", 'b' },
	{ "uint8", 'B' },
	{ "int16", 'h' },
	{ "uint16", 'H' },
	{ "int32", 'i' },
	{ "uint32", 'I' },
	{ "int64", 'q' },
	{ "uint64", 'Q' },
	{ "float16", 'e' },
	{ "float32", 'f' },
	{ "float64", 'd' },
	{ "bfloat16", PYELEMENT_BFLOAT16 },
	{ "bool_", '?' },
	{ "longlong", 'q' },
	{ "ulonglong", 'Q' },
};

static const struct format *pyelement_find_format(char format)
{
	for (size_t i = 0; i < ARRAY_LENGTH(formats); i++)
		if (formats[i].format == format)
			return &formats[i];
	return NULL;
}

bool pyelement_of_dtype(const char *name, struct pyelement *element)
{
	for (size_t i = 0; i < ARRAY_LENGTH(names); i++) {
		if (strcmp(names[i].name, name) != 0)
			continue;
		*element = (struct pyelement){ .format = names[i].format, .name = names[i].name };
		return true;
	}
	return false;
}

bool pyelement_of_scalar(const char *type_name, struct pyelement *element)
{
	return strncmp(type_name, "numpy.", 6) == 0 && pyelement_of_dtype(type_name + 6, element);
}

int pyelement_size(const struct pyelement *element)
{
	const struct format *format = pyelement_find_format(element->format);

	return format ? format->size : 0;
}

static double read_float(char format, const void *bytes)
{
	uint16_t half;
	uint32_t word;
	double number;
	float single;

	switch (format) {
	case 'd':
		memcpy(&number, bytes, sizeof(number));
		return number;
	case 'f':
		memcpy(&single, bytes, sizeof(single));
		return (double)single;
	case 'e':
		memcpy(&half, bytes, sizeof(half));
		return pyfloat_half(half);
	}
	/* A bfloat16 is the upper half of a float32. */
	memcpy(&half, bytes, sizeof(half));
	word = (uint32_t)half << 16;
	memcpy(&single, &word, sizeof(single));
	return (double)single;
}

void pyelement_set(struct pyevaluation *evaluation, const void *bytes, struct pyvalue *value)
{
	const struct format *format = pyelement_find_format(value->element.format);
	uint32_t *digits;
	uint64_t word = 0;

	value->kind = PYVALUE_ELEMENT;
	value->integer = (struct pybig){ .count = 0 };
	value->number = 0;
	if (!format)
		return;
	if (format->exponent) {
		value->number = read_float(format->format, bytes);
		return;
	}
	digits = pyevaluation_allocate(evaluation, PYBIG_SMALL * sizeof(*digits));
	memcpy(&word, bytes, (size_t)format->size);
	if (format->is_signed && word >> format->bits & 1) {
		word |= ~((UINT64_C(1) << format->bits) - 1);
		pybig_set(&value->integer, digits, -(int64_t)~word - 1);
		return;
	}
	pybig_set_unsigned(&value->integer, digits, word);
}

int pyelement_load(struct pyevaluation *evaluation, uint64_t address, struct pyvalue *value)
{
	uint8_t bytes[ELEMENT_BYTES];

	if (pyreader_read(evaluation->reader, address, bytes,
			  (size_t)pyelement_size(&value->element)))
		return error_set(evaluation->error, "the %s at 0x%" PRIx64 " cannot be read",
				 value->element.name, address);
	pyelement_set(evaluation, bytes, value);
	return 0;
}

void pyelement_write(const struct pyvalue *value, struct buffer *text)
{
	const struct format *format = pyelement_find_format(value->element.format);
	enum pyfloat_width width = PYFLOAT_DOUBLE;
	uint64_t magnitude = 0;

	if (value->element.format == '?') {
		buffer_append_string(text, value->integer.count ? "True" : "False");
		return;
	}
	if (format && format->exponent) {
		/* A bfloat16 has the digits of the float32 with the same value. */
		if (value->element.format == 'e')
			width = PYFLOAT_HALF;
		else if (value->element.format != 'd')
			width = PYFLOAT_SINGLE;
		pyfloat_put(text, value->number, width);
		return;
	}
	for (size_t i = value->integer.count; i-- > 0;)
		magnitude = magnitude << PYBIG_SHIFT | value->integer.digits[i];
	buffer_printf(text, "%s%" PRIu64, value->integer.is_negative ? "-" : "", magnitude);
}

void pyelement_write_bytes(char format, const void *bytes, struct buffer *text)
{
	struct pyevaluation evaluation = { .reader = NULL };
	struct pyvalue value = { .element = { .format = format } };

	pyelement_set(&evaluation, bytes, &value);
	pyelement_write(&value, text);
	pyevaluation_clear(&evaluation);
}

/*
 * arrayobject (Modules/arraymodule.c): ob_size, ob_item, allocated, ob_descr. The descriptor begins
 * with the type's letter of the struct module; "l" and "L" are 8 bytes long in an array.
 */
#define ARRAY_ITEMS 24
#define ARRAY_DESCRIPTOR 40
#define BYTEARRAY_START 40

int pyelement_of_buffer(struct pyevaluation *evaluation, const struct pyvalue *buffer,
			int64_t number, struct pyelement *element, uint64_t *address)
{
	struct pyreader *reader = evaluation->reader;
	bool is_bytes = strcmp(pyvalue_base_name(evaluation, buffer), "bytearray") == 0;
	uint64_t items, descriptor;
	char letter = 'B';

	if (pyreader_pointer(reader, buffer->address + (is_bytes ? BYTEARRAY_START : ARRAY_ITEMS),
			     &items) ||
	    (!is_bytes &&
	     (pyreader_pointer(reader, buffer->address + ARRAY_DESCRIPTOR, &descriptor) ||
	      pyreader_read(reader, descriptor, &letter, 1))))
		return error_set(evaluation->error, "the array cannot be read");
	if (letter == 'l')
		letter = 'q';
	else if (letter == 'L')
		letter = 'Q';
	*element = (struct pyelement){ .format = letter, .name = "item" };
	if (!pyelement_size(element))
		return error_set(
			evaluation->error,
			"array items of type '%c' are not supported without an agent: inject one",
			letter);
	*address = items + (uint64_t)number * (uint64_t)pyelement_size(element);
	return 0;
}

void pyelement_make_plain(struct pyvalue *value)
{
	const struct format *format = pyelement_find_format(value->element.format);

	if (value->element.format == '?')
		value->kind = PYVALUE_BOOLEAN;
	else
		value->kind = format && format->exponent ? PYVALUE_FLOAT : PYVALUE_INTEGER;
	value->address = 0;
}

static bool pyelement_is_whole(const struct pyvalue *value)
{
	const struct format *format;

	if (value->kind != PYVALUE_ELEMENT)
		return pyvalue_is_integer(value);
	format = pyelement_find_format(value->element.format);
	return format && !format->exponent;
}

/* True if the integer fits into this number of value bits. */
static bool has_bits(const struct pybig *number, int bits, bool is_signed)
{
	if (number->is_negative && !is_signed)
		return false;
	return pybig_bits(number) <= bits;
}

/* True if a float of this format holds the number exactly. */
static bool is_exact(double number, const struct format *format)
{
	int exponent;
	double fraction;

	if (number == 0 || isnan(number) || isinf(number))
		return true;
	fraction = ldexp(frexp(number, &exponent), format->bits);
	return exponent <= format->exponent && exponent > 3 - format->exponent &&
	       fraction == floor(fraction);
}

/* True if the element's type can hold the number. */
static bool pyelement_can_hold(const struct pyelement *element, const struct pyvalue *number)
{
	const struct format *format = pyelement_find_format(element->format);
	double whole;

	if (!format)
		return false;
	if (pyelement_is_whole(number))
		return has_bits(&number->integer, format->bits, format->is_signed);
	if (format->exponent)
		return is_exact(number->number, format);
	return modf(number->number, &whole) == 0 && fabs(number->number) < ldexp(1, format->bits) &&
	       (number->number >= 0 || format->is_signed);
}

/*
 * True if numpy's comparison is exact. numpy compares an integer element with a Python int exactly,
 * but with a float as two doubles.
 */
static bool is_exact_in_numpy(const struct pyvalue *element, const struct pyvalue *other)
{
	int64_t number;

	if (element->element.is_torch || !pyelement_is_whole(element))
		return false;
	if (pyelement_is_whole(other))
		return other->kind != PYVALUE_ELEMENT;
	return !pybig_get(&element->integer, &number) && number >= -EXACT_MAXIMUM &&
	       number <= EXACT_MAXIMUM;
}

int pyelement_compare(struct pyevaluation *evaluation, const struct pyvalue *element,
		      const struct pyvalue *other, int *order)
{
	struct pyvalue left = *element;
	struct pyvalue right = *other;
	bool is_known =
		pyelement_can_hold(&element->element, other) || is_exact_in_numpy(element, other);

	if (other->kind == PYVALUE_ELEMENT) {
		is_known |= pyelement_can_hold(&other->element, element);
		is_known &= other->element.is_torch == element->element.is_torch;
		pyelement_make_plain(&right);
	}
	if (!is_known)
		return error_set(evaluation->error,
				 "comparing an element of type %s with the number is inexact (the "
				 "library rounds the number first): compare .item()",
				 element->element.name);
	pyelement_make_plain(&left);
	*order = pynumber_order(&left, &right);
	return 0;
}

/*
 * The addresses of elements of tensors and arrays, and the few attributes of
 * tensors that are known without running code.
 */

bool pyelement_is_plain(struct pyreader *reader, const struct pyvalue *tensor)
{
	static const char *const plain[] = { "torch.Tensor", "torch.nn.parameter.Parameter",
					     "numpy.ndarray" };
	struct buffer name = BUFFER_INIT;
	struct pytype type;
	bool is_plain = false;

	if (!pytype_read(reader, tensor->type, &type) && !pytype_name(reader, &type, &name))
		for (size_t i = 0; i < ARRAY_LENGTH(plain); i++)
			is_plain |= strcmp(name.data, plain[i]) == 0;
	buffer_clear(&name);
	return is_plain;
}

static int pyelement_place_read_tensor(struct pyreader *reader, const struct pyvalue *value,
				       struct pytensor *tensor)
{
	if (value->view) {
		*tensor = *value->view;
		return 0;
	}
	if (value->kind == PYVALUE_TENSOR)
		return pytensor_read_torch(reader, value->address, tensor);
	return pytensor_read_numpy(reader, value->address, tensor);
}

int pyelement_open(struct pyevaluation *evaluation, const struct pyvalue *value,
		   struct pytensor *tensor)
{
	if (value->view && value->view->has_mask)
		return error_set(evaluation->error, "elements of a masked array cannot be read one "
						    "by one without an agent: inject one");
	if (value->view) {
		*tensor = *value->view;
		return 0;
	}
	if (!value->address || !pyelement_is_plain(evaluation->reader, value))
		return error_set(evaluation->error,
				 "cannot read %s, a subclass of a tensor or array, without an "
				 "agent (code of the subclass would run in the process)",
				 pyvalue_type_name(evaluation, value));
	if (pytensor_read(evaluation->reader, value->address, tensor, NULL))
		return error_set(
			evaluation->error,
			"the %s cannot be read without an agent: its memory layout is unknown",
			pyvalue_type_name(evaluation, value));
	return 0;
}

int64_t pyelement_length(struct pyreader *reader, const struct pyvalue *value)
{
	struct pytensor tensor;

	if (pyelement_place_read_tensor(reader, value, &tensor) || !tensor.dimension_count)
		return -1;
	return tensor.shape[0];
}

static int find_element(struct pyevaluation *evaluation, const struct pytensor *tensor,
			struct pyelement *element)
{
	if (!pyelement_of_dtype(pytensor_dtype(tensor), element))
		return error_set(
			evaluation->error,
			"elements of type %s are not supported without an agent: inject one",
			pytensor_dtype(tensor));
	element->is_torch = tensor->device != NULL;
	if (tensor->device && strcmp(tensor->device, "cpu") != 0)
		return error_set(
			evaluation->error,
			"the tensor is on device %s: its elements cannot be read without an agent",
			tensor->device);
	if (!tensor->data)
		return error_set(evaluation->error, "elements of tensors cannot be located without "
						    "an agent in the process's version of torch");
	return 0;
}

/*
 * Adds to *distance the way from the dimension's start to the index, in elements (torch) or in
 * bytes (numpy).
 */
static int step_index(struct pyevaluation *evaluation, const struct pytensor *tensor, int dimension,
		      const struct pyvalue *index, int64_t *distance)
{
	int64_t size = tensor->shape[dimension];
	int64_t at, step;

	if (index->kind != PYVALUE_INTEGER || pybig_get(&index->integer, &at))
		return error_set(evaluation->error, "an index must be an integer, not %s",
				 pyvalue_type_name(evaluation, index));
	if (at < -size || at >= size)
		return error_set(evaluation->error,
				 "index %" PRId64
				 " is out of range: dimension %d has size %" PRId64,
				 at, dimension, size);
	if (at < 0)
		at += size;
	if (pychecked_multiply(at, tensor->strides[dimension], &step) ||
	    pychecked_add(*distance, step, distance))
		return error_set(evaluation->error, "the tensor has invalid strides");
	return 0;
}

int pyelement_place(struct pyevaluation *evaluation, const struct pyvalue *value,
		    const struct pyvalue *indices, size_t count, struct pyelement *element,
		    uint64_t *address)
{
	struct pytensor tensor;
	int64_t distance = 0;

	if (pyelement_open(evaluation, value, &tensor) ||
	    find_element(evaluation, &tensor, element))
		return -1;
	if (count && count != (size_t)tensor.dimension_count)
		return error_set(evaluation->error,
				 "reading one element of the tensor takes %d indices",
				 tensor.dimension_count);
	if (!count && tensor.element_count != 1)
		return error_set(evaluation->error,
				 "a tensor of %" PRId64 " elements is not a single number",
				 tensor.element_count);
	for (size_t i = 0; i < count; i++)
		if (step_index(evaluation, &tensor, (int)i, &indices[i], &distance))
			return -1;
	if (element->is_torch) {
		if (pychecked_add(distance, tensor.offset, &distance) ||
		    pychecked_multiply(distance, pyelement_size(element), &distance))
			return error_set(evaluation->error, "the tensor has invalid strides");
	}
	*address = tensor.data + (uint64_t)distance;
	return 0;
}

int pyelement_index(struct pyevaluation *evaluation, const struct pyvalue *tensor,
		    const struct pyvalue *indices, size_t count, struct pyvalue *value)
{
	struct pyelement element;
	uint64_t address;

	if (pyelement_place(evaluation, tensor, indices, count, &element, &address))
		return -1;
	*value = (struct pyvalue){ .kind = PYVALUE_ELEMENT, .element = element };
	return pyelement_load(evaluation, address, value);
}

int pyelement_item(struct pyevaluation *evaluation, const struct pyvalue *tensor,
		   struct pyvalue *value)
{
	if (tensor->kind == PYVALUE_ELEMENT) {
		*value = *tensor;
	} else if (tensor->kind != PYVALUE_TENSOR && tensor->kind != PYVALUE_ARRAY) {
		return error_set(evaluation->error,
				 "item() is supported only on tensors and arrays, not on %s",
				 pyvalue_type_name(evaluation, tensor));
	} else if (pyelement_index(evaluation, tensor, NULL, 0, value)) {
		return -1;
	}
	pyelement_make_plain(value);
	return 0;
}

static int get_shape(struct pyevaluation *evaluation, const struct pytensor *tensor,
		     struct pyvalue *value)
{
	size_t count = (size_t)tensor->dimension_count;
	struct pyvalue *items = pyevaluation_allocate(evaluation, count * sizeof(*items));

	for (size_t i = 0; i < count; i++)
		pyvalue_set_integer(evaluation, &items[i], tensor->shape[i]);
	*value = (struct pyvalue){ .kind = PYVALUE_TUPLE, .items = items, .count = count };
	return 1;
}

static int get_ndim(struct pyevaluation *evaluation, const struct pytensor *tensor,
		    struct pyvalue *value)
{
	pyvalue_set_integer(evaluation, value, tensor->dimension_count);
	return 1;
}

/* Each dtype, such as torch.float32, is a single object, an attribute of module torch. */
static int get_dtype(struct pyevaluation *evaluation, const struct pytensor *tensor,
		     struct pyvalue *value)
{
	uint64_t object = tensor->dtype_object;

	if (!object && pyevaluation_module(evaluation, "torch", pytensor_dtype(tensor), &object))
		return error_set(evaluation->error, "torch.%s not found in the process",
				 pytensor_dtype(tensor));
	return pyvalue_load(evaluation, object, value) ? -1 : 1;
}

/*
 * For a gradient that backward() created in C++ and to which no Python object refers yet. Returns
 * 1, or -1 with evaluation->error set.
 */
static int set_unseen(struct pyevaluation *evaluation, uint64_t object, struct pyvalue *value)
{
	struct pytensor *gradient = pyevaluation_allocate(evaluation, sizeof(*gradient));

	if (pytensor_read_unseen(evaluation->reader, object, gradient))
		return error_set(evaluation->error, "the gradient cannot be read");
	value->view = gradient;
	value->whole = object;
	value->is_unseen = true;
	return 1;
}

static int get_gradient(struct pyevaluation *evaluation, uint64_t object, struct pyvalue *value)
{
	bool has_gradient;
	uint64_t gradient;

	if (pytensor_gradient(evaluation->reader, object, &has_gradient, &gradient))
		return error_set(evaluation->error, "gradients cannot be located without an agent "
						    "in the process's version of torch");
	*value = (struct pyvalue){ .kind = PYVALUE_NONE };
	if (!has_gradient)
		return 1;
	value->kind = PYVALUE_TENSOR;
	if (!gradient)
		return set_unseen(evaluation, object, value);
	return pyvalue_load(evaluation, gradient, value) ? -1 : 1;
}

int pyelement_attribute(struct pyevaluation *evaluation, const struct pyvalue *value,
			const char *name, struct pyvalue *result)
{
	static const struct {
		const char *name;
		int (*get)(struct pyevaluation *evaluation, const struct pytensor *tensor,
			   struct pyvalue *value);
	} attributes[] = { { "shape", get_shape }, { "ndim", get_ndim }, { "dtype", get_dtype } };
	bool is_gradient = value->kind == PYVALUE_TENSOR && strcmp(name, "grad") == 0;
	struct pytensor tensor;

	for (size_t i = 0; i < ARRAY_LENGTH(attributes); i++) {
		if (strcmp(attributes[i].name, name) != 0)
			continue;
		if (pyelement_open(evaluation, value, &tensor))
			return -1;
		return attributes[i].get(evaluation, &tensor, result);
	}
	if (!is_gradient)
		return pyview_attribute(evaluation, value, name, result);
	if (pyelement_open(evaluation, value, &tensor))
		return -1;
	return get_gradient(evaluation, value->address, result);
}
