#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "backends/cpython/pykind.h"
#include "backends/cpython/pynumber.h"
#include "backends/cpython/pyobject.h"
#include "backends/cpython/pyreader.h"
#include "backends/cpython/pytype.h"
#include "backends/cpython/pywriter.h"
#include "banned.h"
#include "base/array.h"
#include "base/buffer.h"

/*
 * numpy's scalars hold their value directly behind the object's head (numpy/arrayscalars.h), equal
 * in numpy 1.x and 2.x.
 */
#define BYTES_MAXIMUM 16

static void put_bool(struct buffer *out, const uint8_t *bytes)
{
	buffer_append_string(out, bytes[0] ? "True" : "False");
}

#define INTEGER(name, type, format, as)                                                            \
	static void put_##name(struct buffer *out, const uint8_t *bytes)                           \
	{                                                                                          \
		type value;                                                                        \
                                                                                                   \
		memcpy(&value, bytes, sizeof(value));                                              \
		buffer_printf(out, "%" format, (as)value);                                         \
	}

INTEGER(int8, int8_t, PRId64, int64_t)
INTEGER(int16, int16_t, PRId64, int64_t)
INTEGER(int32, int32_t, PRId64, int64_t)
INTEGER(int64, int64_t, PRId64, int64_t)
INTEGER(uint8, uint8_t, PRIu64, uint64_t)
INTEGER(uint16, uint16_t, PRIu64, uint64_t)
INTEGER(uint32, uint32_t, PRIu64, uint64_t)
INTEGER(uint64, uint64_t, PRIu64, uint64_t)

static void put_half(struct buffer *out, const uint8_t *bytes)
{
	uint16_t bits;

	memcpy(&bits, bytes, sizeof(bits));
	pyfloat_put(out, pyfloat_half(bits), PYFLOAT_HALF);
}

static void put_single(struct buffer *out, const uint8_t *bytes)
{
	float value;

	memcpy(&value, bytes, sizeof(value));
	pyfloat_put(out, (double)value, PYFLOAT_SINGLE);
}

static void put_complex64(struct buffer *out, const uint8_t *bytes)
{
	float values[2];
	double parts[2];

	memcpy(values, bytes, sizeof(values));
	parts[0] = (double)values[0];
	parts[1] = (double)values[1];
	pycomplex_put(out, parts, PYFLOAT_SINGLE);
}

static void put_complex128(struct buffer *out, const uint8_t *bytes)
{
	double parts[2];

	memcpy(parts, bytes, sizeof(parts));
	pycomplex_put(out, parts, PYFLOAT_DOUBLE);
}

/* Units of time by their number in numpy (numpy/ndarraytypes.h). */
static const struct unit {
	const char *name;
	int64_t seconds;   /* seconds in one unit; 0: the unit is shorter than a second */
	int64_t in_second; /* units in one second; 0: the unit is longer than a second */
	int digits;
} units[] = {
	[2] = { "W", 604800, 0, 0 },   [4] = { "D", 86400, 0, 0 },
	[5] = { "h", 3600, 0, 0 },     [6] = { "m", 60, 0, 0 },
	[7] = { "s", 1, 0, 0 },	       [8] = { "ms", 0, 1000, 3 },
	[9] = { "us", 0, 1000000, 6 }, [10] = { "ns", 0, 1000000000, 9 },
};

/* Reads a count of units; returns the unit, NULL: unknown unit. */
static const struct unit *pyscalar_read_time(const uint8_t *bytes, int64_t *count)
{
	int32_t number, times;

	memcpy(count, bytes, sizeof(*count));
	memcpy(&number, bytes + 8, sizeof(number));
	memcpy(&times, bytes + 12, sizeof(times));
	if (number < 0 || (size_t)number >= ARRAY_LENGTH(units) || times != 1 ||
	    !units[number].name)
		return NULL;
	return &units[number];
}

static void put_timedelta(struct buffer *out, const uint8_t *bytes)
{
	int64_t count;
	const struct unit *unit = pyscalar_read_time(bytes, &count);

	if (!unit)
		buffer_append_string(out, PYWRITER_UNKNOWN);
	else if (count == INT64_MIN)
		buffer_append_string(out, "NaT");
	else
		buffer_printf(out, "%" PRId64 " %s", count, unit->name);
}

static void put_moment(struct buffer *out, const struct unit *unit, int64_t seconds,
		       int64_t fraction)
{
	time_t time = (time_t)seconds;
	struct tm is;

	if (!gmtime_r(&time, &is)) {
		buffer_append_string(out, PYWRITER_UNKNOWN);
		return;
	}
	buffer_printf(out, "%04d-%02d-%02d", is.tm_year + 1900, is.tm_mon + 1, is.tm_mday);
	if (unit->seconds < 86400)
		buffer_printf(out, "T%02d", is.tm_hour);
	if (unit->seconds < 3600)
		buffer_printf(out, ":%02d", is.tm_min);
	if (unit->seconds < 60)
		buffer_printf(out, ":%02d", is.tm_sec);
	if (unit->digits)
		buffer_printf(out, ".%0*" PRId64, unit->digits, fraction);
}

static void put_datetime(struct buffer *out, const uint8_t *bytes)
{
	int64_t count;
	const struct unit *unit = pyscalar_read_time(bytes, &count);
	int64_t seconds, fraction = 0;

	if (!unit) {
		buffer_append_string(out, PYWRITER_UNKNOWN);
		return;
	}
	if (count == INT64_MIN) {
		buffer_append_string(out, "NaT");
		return;
	}
	if (unit->seconds) {
		if (count > INT64_MAX / unit->seconds || count < INT64_MIN / unit->seconds) {
			buffer_append_string(out, PYWRITER_UNKNOWN);
			return;
		}
		seconds = count * unit->seconds;
	} else {
		seconds = count / unit->in_second;
		fraction = count % unit->in_second;
		if (fraction < 0) {
			fraction += unit->in_second;
			seconds--;
		}
	}
	put_moment(out, unit, seconds, fraction);
}

/* clang-format off */
static const struct {
	const char *name;
	size_t size;
	void (*put)(struct buffer *out, const uint8_t *bytes);
} scalars[] = {
	{ "numpy.bool_", 1, put_bool },
	{ "numpy.bool", 1, put_bool },
	{ "numpy.int8", 1, put_int8 },
	{ "numpy.int16", 2, put_int16 },
	{ "numpy.int32", 4, put_int32 },
	{ "numpy.int64", 8, put_int64 },
	{ "numpy.longlong", 8, put_int64 },
	{ "numpy.uint8", 1, put_uint8 },
	{ "numpy.uint16", 2, put_uint16 },
	{ "numpy.uint32", 4, put_uint32 },
	{ "numpy.uint64", 8, put_uint64 },
	{ "numpy.ulonglong", 8, put_uint64 },
	{ "numpy.float16", 2, put_half },
	{ "numpy.float32", 4, put_single },
	{ "numpy.complex64", 8, put_complex64 },
	{ "numpy.complex128", 16, put_complex128 },
	{ "numpy.datetime64", 16, put_datetime },
	{ "numpy.timedelta64", 16, put_timedelta },
};
/* clang-format on */

void pyscalar_write(struct pywriter *writer, uint64_t address)
{
	uint8_t bytes[BYTES_MAXIMUM];
	struct pytype type;

	if (!pytype_of(writer->reader, address, &type) && type.kind) {
		for (size_t i = 0; i < ARRAY_LENGTH(scalars); i++) {
			if (strcmp(scalars[i].name, type.kind->name) != 0 ||
			    pyreader_read(writer->reader, address + PYREADER_HEAD, bytes,
					  scalars[i].size))
				continue;
			scalars[i].put(writer->out, bytes);
			return;
		}
	}
	pywriter_text(writer, PYWRITER_UNKNOWN);
}
