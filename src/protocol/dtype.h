/*
 * dtype: what elements there are, of torch and of numpy: one table for both
 * programs. Bytes are taken as they lie on a little-endian machine; who reads
 * swapped ones (">float32") swaps them first, in units of swap_size.
 */
#ifndef PROTOCOL_DTYPE_H
#define PROTOCOL_DTYPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tensor_number;

enum dtype_class {
	DTYPE_BOOLEAN,
	DTYPE_SIGNED,
	DTYPE_UNSIGNED,
	DTYPE_FLOAT,
	DTYPE_COMPLEX,
	DTYPE_TIME,   /* datetime64, timedelta64: int64, the least one is NaT */
	DTYPE_TEXT,   /* str: UCS-4 */
	DTYPE_BYTES,  /* zeros at the end are none of it */
	DTYPE_OPAQUE, /* void; quantized: bytes that have a hash and no value */
	DTYPE_OBJECT, /* pointers into the process: no hash either */
	DTYPE_PACKED, /* less than a byte each: cannot be read */
};

struct dtype {
	const char *name;
	enum dtype_class class;
	int size;      /* bytes of one; 0: each layout says it */
	int swap_size; /* bytes that are turned around together; 1: none */
	/* For dtype_decode(): so many as floats, which hold them exactly. */
	void (*narrow)(const uint8_t *bytes, size_t count, float *out);
	/* The same as doubles, of those that floats do not. */
	void (*decode)(const uint8_t *bytes, size_t count, double *out);
};

/*
 * By the name in torch or numpy; "<", ">", "=" and "|" in front are passed
 * over, and so is what follows the names of those whose size varies ("str160",
 * "datetime64[ns]"). NULL: there is none of that name.
 */
const struct dtype *dtype_find(const char *name);
/* Whether a name begins with ">". */
bool dtype_is_swapped_name(const char *name);
/* Boolean, signed, unsigned or time. */
bool dtype_is_integer(const struct dtype *dtype);
/*
 * So many elements of a type of numbers as doubles (a complex one gives two):
 * NaN and infinities as such. 64-bit integers and long doubles are rounded.
 */
void dtype_decode(const struct dtype *dtype, const uint8_t *bytes, size_t count, double *out);
/* The bits of each byte that count: what is above them may be anything. */
uint8_t dtype_bits(const struct dtype *dtype);
/* Whether there are statistics of it. */
bool dtype_is_number(const struct dtype *dtype);
/* An unsigned one's bits as they are. Only of dtype_is_integer(). */
int64_t dtype_integer(const struct dtype *dtype, const uint8_t *bytes);
/*
 * One element of so many bytes, into one that is empty or was cleared; what
 * cannot be told (an object) stays unknown.
 */
void dtype_number(const struct dtype *dtype, const uint8_t *bytes, size_t length,
		  struct tensor_number *number);

#endif
