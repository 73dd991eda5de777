/*
 * dtype: the element types of torch and numpy, one table for both programs. Bytes are
 * little-endian; the reader of a big-endian array (">float32") swaps the bytes first, in units of
 * swap_size.
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
	DTYPE_TIME,   /* datetime64, timedelta64: int64; INT64_MIN is NaT */
	DTYPE_TEXT,   /* str: UCS-4 */
	DTYPE_BYTES,  /* bytes; zero bytes at the end do not count */
	DTYPE_OPAQUE, /* void, quantized: bytes with a hash, without a value */
	DTYPE_OBJECT, /* pointers into the process: no hash, no value */
	DTYPE_PACKED, /* several elements in a byte: cannot be read */
};

struct dtype {
	const char *name;
	enum dtype_class class;
	int size;      /* bytes of an element; 0: depends on the array */
	int swap_size; /* bytes of a unit whose bytes are swapped; 1: no swap */
	/* Decodes count elements to floats, if floats are exact; else NULL. */
	void (*narrow)(const uint8_t *bytes, size_t count, float *out);
	/*
	 * Decodes count elements to doubles, if floats are not exact; else NULL. If narrow and
	 * decode are NULL, the type has no numbers.
	 */
	void (*decode)(const uint8_t *bytes, size_t count, double *out);
};

/*
 * Finds a type by its name in torch or numpy. A leading "<", ">", "=" or "|" is ignored, and so is
 * the size or unit of varying types ("str160", "datetime64[ns]"). NULL: unknown.
 */
const struct dtype *dtype_find(const char *name);
/* True if the name begins with ">" (big-endian). */
bool dtype_is_swapped_name(const char *name);
/* True for boolean, signed, unsigned and time types. */
bool dtype_is_integer(const struct dtype *dtype);
/*
 * Decodes count elements of a number type to doubles (two for a complex element); NaN and
 * infinities are kept, 64-bit integers and long doubles are rounded.
 */
void dtype_decode(const struct dtype *dtype, const uint8_t *bytes, size_t count, double *out);
/* Mask of the bits that are used in each byte of an element; the other bits may have any value. */
uint8_t dtype_bits(const struct dtype *dtype);
/* True if the type's elements are numbers, which have statistics. */
bool dtype_is_number(const struct dtype *dtype);
/*
 * Returns an integer element; for an unsigned type its bits, unchanged. Only for types for which
 * dtype_is_integer() is true.
 */
int64_t dtype_integer(const struct dtype *dtype, const uint8_t *bytes);
/*
 * Decodes one element of length bytes into *number, which must own nothing; an element without a
 * value (an object) stays TENSOR_NUMBER_UNKNOWN.
 */
void dtype_number(const struct dtype *dtype, const uint8_t *bytes, size_t length,
		  struct tensor_number *number);

#endif
