#include "protocol/dtype.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "base/alloc.h"
#include "base/array.h"
#include "base/buffer.h"
#include "protocol/dtype-decode.h"
#include "protocol/tensor.h"

#define TEXT_MAXIMUM 256 /* bytes of an element's text; a longer text is cut */
#define NARROW_PART 512	 /* elements that are decoded at a time */

/* clang-format off */
static const struct dtype dtypes[] = {
	{ "float32", DTYPE_FLOAT, 4, 4, narrow_float32, NULL },
	{ "bfloat16", DTYPE_FLOAT, 2, 2, narrow_bfloat16, NULL },
	{ "float16", DTYPE_FLOAT, 2, 2, narrow_float16, NULL },
	{ "float64", DTYPE_FLOAT, 8, 8, NULL, decode_float64 },
	{ "int64", DTYPE_SIGNED, 8, 8, NULL, decode_int64 },
	{ "int32", DTYPE_SIGNED, 4, 4, NULL, decode_int32 },
	{ "int16", DTYPE_SIGNED, 2, 2, narrow_int16, NULL },
	{ "int8", DTYPE_SIGNED, 1, 1, narrow_int8, NULL },
	{ "uint8", DTYPE_UNSIGNED, 1, 1, narrow_uint8, NULL },
	{ "uint16", DTYPE_UNSIGNED, 2, 2, narrow_uint16, NULL },
	{ "uint32", DTYPE_UNSIGNED, 4, 4, NULL, decode_uint32 },
	{ "uint64", DTYPE_UNSIGNED, 8, 8, NULL, decode_uint64 },
	{ "bool", DTYPE_BOOLEAN, 1, 1, narrow_bool, NULL },
	{ "complex64", DTYPE_COMPLEX, 8, 4, narrow_complex64, NULL },
	{ "complex128", DTYPE_COMPLEX, 16, 8, NULL, decode_complex128 },
	{ "complex32", DTYPE_COMPLEX, 4, 2, narrow_complex32, NULL },
	{ "float8_e5m2", DTYPE_FLOAT, 1, 1, narrow_e5m2, NULL },
	{ "float8_e4m3fn", DTYPE_FLOAT, 1, 1, narrow_e4m3fn, NULL },
	{ "float8_e5m2fnuz", DTYPE_FLOAT, 1, 1, narrow_e5m2fnuz, NULL },
	{ "float8_e4m3fnuz", DTYPE_FLOAT, 1, 1, narrow_e4m3fnuz, NULL },
	{ "float8_e8m0fnu", DTYPE_FLOAT, 1, 1, narrow_e8m0fnu, NULL },
	/*
	 * Types of ml_dtypes, which numpy's arrays may have. A name that has another meaning in
	 * torch is prefixed with the module.
	 */
	{ "float8_e3m4", DTYPE_FLOAT, 1, 1, narrow_e3m4, NULL },
	{ "float8_e4m3", DTYPE_FLOAT, 1, 1, narrow_e4m3, NULL },
	{ "float8_e4m3b11fnuz", DTYPE_FLOAT, 1, 1, narrow_e4m3b11fnuz, NULL },
	{ "float6_e2m3fn", DTYPE_FLOAT, 1, 1, narrow_e2m3fn, NULL },
	{ "float6_e3m2fn", DTYPE_FLOAT, 1, 1, narrow_e3m2fn, NULL },
	{ "float4_e2m1fn", DTYPE_FLOAT, 1, 1, narrow_e2m1fn, NULL },
	{ "ml_dtypes.int1", DTYPE_SIGNED, 1, 1, narrow_int1, NULL },
	{ "ml_dtypes.int2", DTYPE_SIGNED, 1, 1, narrow_int2, NULL },
	{ "ml_dtypes.int4", DTYPE_SIGNED, 1, 1, narrow_int4, NULL },
	{ "ml_dtypes.uint1", DTYPE_UNSIGNED, 1, 1, narrow_uint1, NULL },
	{ "ml_dtypes.uint2", DTYPE_UNSIGNED, 1, 1, narrow_uint2, NULL },
	{ "ml_dtypes.uint4", DTYPE_UNSIGNED, 1, 1, narrow_uint4, NULL },
	{ "bcomplex32", DTYPE_COMPLEX, 4, 2, narrow_bcomplex32, NULL },
	{ "longdouble", DTYPE_FLOAT, 16, 16, NULL, decode_longdouble },
	{ "clongdouble", DTYPE_COMPLEX, 32, 16, NULL, decode_clongdouble },
	/* numpy's platform names for the two types above. */
	{ "float128", DTYPE_FLOAT, 16, 16, NULL, decode_longdouble },
	{ "complex256", DTYPE_COMPLEX, 32, 16, NULL, decode_clongdouble },
	{ "datetime64", DTYPE_TIME, 8, 8, NULL, decode_time },
	{ "timedelta64", DTYPE_TIME, 8, 8, NULL, decode_time },
	{ "str", DTYPE_TEXT, 0, 4, NULL, NULL },
	{ "bytes", DTYPE_BYTES, 0, 1, NULL, NULL },
	{ "void", DTYPE_OPAQUE, 0, 1, NULL, NULL },
	{ "object", DTYPE_OBJECT, 8, 1, NULL, NULL },
	/* The elements of StringDType point to their text, like objects. */
	{ "StringDType", DTYPE_OBJECT, 16, 1, NULL, NULL },
	/* The value of a quantized element depends on a scale outside the element. */
	{ "qint8", DTYPE_OPAQUE, 1, 1, NULL, NULL },
	{ "quint8", DTYPE_OPAQUE, 1, 1, NULL, NULL },
	{ "qint32", DTYPE_OPAQUE, 4, 4, NULL, NULL },
	{ "bits8", DTYPE_OPAQUE, 1, 1, NULL, NULL },
	{ "bits16", DTYPE_OPAQUE, 2, 2, NULL, NULL },
	/* How the elements are packed into these bytes is up to each program. */
	{ "bits1x8", DTYPE_OPAQUE, 1, 1, NULL, NULL },
	{ "bits2x4", DTYPE_OPAQUE, 1, 1, NULL, NULL },
	{ "bits4x2", DTYPE_OPAQUE, 1, 1, NULL, NULL },
	{ "float4_e2m1fn_x2", DTYPE_OPAQUE, 1, 1, NULL, NULL },
	{ "uint1", DTYPE_OPAQUE, 1, 1, NULL, NULL },
	{ "uint2", DTYPE_OPAQUE, 1, 1, NULL, NULL },
	{ "uint3", DTYPE_OPAQUE, 1, 1, NULL, NULL },
	{ "uint4", DTYPE_OPAQUE, 1, 1, NULL, NULL },
	{ "uint5", DTYPE_OPAQUE, 1, 1, NULL, NULL },
	{ "uint6", DTYPE_OPAQUE, 1, 1, NULL, NULL },
	{ "uint7", DTYPE_OPAQUE, 1, 1, NULL, NULL },
	{ "int1", DTYPE_OPAQUE, 1, 1, NULL, NULL },
	{ "int2", DTYPE_OPAQUE, 1, 1, NULL, NULL },
	{ "int3", DTYPE_OPAQUE, 1, 1, NULL, NULL },
	{ "int4", DTYPE_OPAQUE, 1, 1, NULL, NULL },
	{ "int5", DTYPE_OPAQUE, 1, 1, NULL, NULL },
	{ "int6", DTYPE_OPAQUE, 1, 1, NULL, NULL },
	{ "int7", DTYPE_OPAQUE, 1, 1, NULL, NULL },
	/* torch counts the packed elements of these types, not bytes. */
	{ "quint4x2", DTYPE_PACKED, 0, 1, NULL, NULL },
	{ "quint2x4", DTYPE_PACKED, 0, 1, NULL, NULL },
};
/* clang-format on */

/* True if a suffix may follow the name: "str160", "datetime64[ns]". */
static bool is_varying(const struct dtype *dtype)
{
	return dtype->class == DTYPE_TIME || (dtype->size == 0 && dtype->class != DTYPE_PACKED);
}

static bool dtype_is_named(const struct dtype *dtype, const char *name)
{
	size_t length = strlen(dtype->name);
	const char *rest = name + length;

	if (strncmp(dtype->name, name, length) != 0)
		return false;
	if (*rest == '\0')
		return true;
	if (!is_varying(dtype))
		return false;
	return *rest == '[' || rest[strspn(rest, "0123456789")] == '\0';
}

const struct dtype *dtype_find(const char *name)
{
	if (*name && strchr("<>=|", *name))
		name++;
	for (size_t i = 0; i < ARRAY_LENGTH(dtypes); i++)
		if (dtype_is_named(&dtypes[i], name))
			return &dtypes[i];
	return NULL;
}

bool dtype_is_swapped_name(const char *name)
{
	return *name == '>';
}

bool dtype_is_integer(const struct dtype *dtype)
{
	return dtype->class == DTYPE_BOOLEAN || dtype->class == DTYPE_SIGNED ||
	       dtype->class == DTYPE_UNSIGNED || dtype->class == DTYPE_TIME;
}

bool dtype_is_number(const struct dtype *dtype)
{
	return dtype->narrow != NULL || dtype->decode != NULL;
}

void dtype_decode(const struct dtype *dtype, const uint8_t *bytes, size_t count, double *out)
{
	size_t numbers = dtype->class == DTYPE_COMPLEX ? 2 : 1;
	float values[2 * NARROW_PART];

	if (dtype->decode) {
		dtype->decode(bytes, count, out);
		return;
	}
	while (count > 0) {
		size_t part = count < NARROW_PART ? count : NARROW_PART;

		dtype->narrow(bytes, part, values);
		decode_floats(values, part * numbers, out);
		bytes += part * (size_t)dtype->size;
		out += part * numbers;
		count -= part;
	}
}

uint8_t dtype_bits(const struct dtype *dtype)
{
	static const struct {
		void (*narrow)(const uint8_t *bytes, size_t count, float *out);
		uint8_t bits;
	} parts[] = {
		{ narrow_e2m3fn, 0x3f }, { narrow_e3m2fn, 0x3f }, { narrow_e2m1fn, 0x0f },
		{ narrow_int1, 0x01 },	 { narrow_int2, 0x03 },	  { narrow_int4, 0x0f },
		{ narrow_uint1, 0x01 },	 { narrow_uint2, 0x03 },  { narrow_uint4, 0x0f },
	};

	for (size_t i = 0; i < ARRAY_LENGTH(parts); i++)
		if (dtype->narrow == parts[i].narrow)
			return parts[i].bits;
	return UINT8_MAX;
}

int64_t dtype_integer(const struct dtype *dtype, const uint8_t *bytes)
{
	uint64_t bits = 0;
	int unused = 64 - dtype->size * 8;

	if (dtype->class == DTYPE_BOOLEAN)
		return bytes[0] != 0;
	if (dtype_bits(dtype) != UINT8_MAX) {
		float value;

		dtype->narrow(bytes, 1, &value);
		return (int64_t)value;
	}
	memcpy(&bits, bytes, (size_t)dtype->size);
	if (dtype->class == DTYPE_UNSIGNED)
		return (int64_t)bits;
	/* Moves the sign bit to bit 63 and back, to extend the sign. */
	return (int64_t)(bits << unused) >> unused;
}

/* From here on: elements as numbers and texts. */

static void dtype_set_text(struct tensor_number *number, struct buffer *text)
{
	number->kind = TENSOR_NUMBER_TEXT;
	number->text = xstrdup(text->length > 0 ? text->data : "");
	buffer_clear(text);
}

/* Appends a code point as UTF-8; an invalid one and 0 become U+FFFD. */
static void append_character(struct buffer *text, uint32_t code)
{
	char bytes[4];
	size_t length = 0;

	if (code > 0x10ffff || (code >= 0xd800 && code < 0xe000) || code == 0)
		code = 0xfffd;
	if (code < 0x80) {
		bytes[length++] = (char)code;
	} else if (code < 0x800) {
		bytes[length++] = (char)(0xc0 | code >> 6);
	} else if (code < 0x10000) {
		bytes[length++] = (char)(0xe0 | code >> 12);
		bytes[length++] = (char)(0x80 | (code >> 6 & 0x3f));
	} else {
		bytes[length++] = (char)(0xf0 | code >> 18);
		bytes[length++] = (char)(0x80 | (code >> 12 & 0x3f));
		bytes[length++] = (char)(0x80 | (code >> 6 & 0x3f));
	}
	if (code >= 0x80)
		bytes[length++] = (char)(0x80 | (code & 0x3f));
	buffer_append(text, bytes, length);
}

static void dtype_set_string(struct tensor_number *number, const uint8_t *bytes, size_t length)
{
	struct buffer text = BUFFER_INIT;
	size_t end = 0;

	for (size_t i = 0; i + 4 <= length; i += 4) {
		uint32_t code;

		memcpy(&code, bytes + i, sizeof(code));
		if (code)
			end = i + 4;
	}
	for (size_t i = 0; i < end && i < TEXT_MAXIMUM * 4; i += 4) {
		uint32_t code;

		memcpy(&code, bytes + i, sizeof(code));
		append_character(&text, code);
	}
	if (end > TEXT_MAXIMUM * 4)
		buffer_append(&text, "…", strlen("…"));
	dtype_set_text(number, &text);
}

/* Writes bytes as Python does: b'ab\x00'. */
static void set_bytes(struct tensor_number *number, const uint8_t *bytes, size_t length)
{
	struct buffer text = BUFFER_INIT;
	bool is_cut = length > TEXT_MAXIMUM;

	while (!is_cut && length > 0 && bytes[length - 1] == 0)
		length--;
	buffer_printf(&text, "b'");
	for (size_t i = 0; i < length && i < TEXT_MAXIMUM; i++) {
		uint8_t byte = bytes[i];

		if (byte < ' ' || byte > '~' || byte == '\'' || byte == '\\')
			buffer_printf(&text, "\\x%02x", byte);
		else
			buffer_printf(&text, "%c", byte);
	}
	buffer_printf(&text, is_cut ? "…'" : "'");
	dtype_set_text(number, &text);
}

static void set_opaque(struct tensor_number *number, const uint8_t *bytes, size_t length)
{
	struct buffer text = BUFFER_INIT;

	buffer_printf(&text, "0x");
	for (size_t i = 0; i < length && i < TEXT_MAXIMUM / 2; i++)
		buffer_printf(&text, "%02x", bytes[i]);
	if (length > TEXT_MAXIMUM / 2)
		buffer_printf(&text, "…");
	dtype_set_text(number, &text);
}

static void set_integer(struct tensor_number *number, const struct dtype *dtype,
			const uint8_t *bytes)
{
	number->integer = dtype_integer(dtype, bytes);
	number->kind = TENSOR_NUMBER_INTEGER;
	if (dtype->class == DTYPE_BOOLEAN)
		number->kind = TENSOR_NUMBER_BOOLEAN;
	else if (dtype->class == DTYPE_UNSIGNED && number->integer < 0)
		number->kind = TENSOR_NUMBER_UNSIGNED;
	if (dtype->class == DTYPE_TIME && number->integer == INT64_MIN) {
		number->kind = TENSOR_NUMBER_REAL;
		number->real = NAN;
	}
}

void dtype_number(const struct dtype *dtype, const uint8_t *bytes, size_t length,
		  struct tensor_number *number)
{
	double parts[2] = { 0, 0 };

	*number = (struct tensor_number){ .kind = TENSOR_NUMBER_UNKNOWN };
	switch (dtype->class) {
	case DTYPE_BOOLEAN:
	case DTYPE_SIGNED:
	case DTYPE_UNSIGNED:
	case DTYPE_TIME:
		set_integer(number, dtype, bytes);
		return;
	case DTYPE_FLOAT:
	case DTYPE_COMPLEX:
		dtype_decode(dtype, bytes, 1, parts);
		number->kind =
			dtype->class == DTYPE_FLOAT ? TENSOR_NUMBER_REAL : TENSOR_NUMBER_COMPLEX;
		number->real = parts[0];
		number->imaginary = parts[1];
		return;
	case DTYPE_TEXT:
		dtype_set_string(number, bytes, length);
		return;
	case DTYPE_BYTES:
		set_bytes(number, bytes, length);
		return;
	case DTYPE_OPAQUE:
		set_opaque(number, bytes, length);
		return;
	case DTYPE_OBJECT:
	case DTYPE_PACKED:
		return;
	}
}
