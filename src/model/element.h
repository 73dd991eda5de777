/*
 * element: the values' bytes of a tensor (protocol/tensor.h: little-endian, in
 * the order of the indices) as numbers. What is in no row of the table can
 * only be told to be equal or not.
 */
#ifndef MODEL_ELEMENT_H
#define MODEL_ELEMENT_H

#include <stdbool.h>
#include <stdint.h>

struct tensor_number;

enum element_kind {
	ELEMENT_BOOLEAN,
	ELEMENT_SIGNED,
	ELEMENT_UNSIGNED,
	ELEMENT_FLOAT,
	ELEMENT_COMPLEX, /* two floats of half the size */
	ELEMENT_SMALL,	 /* a float of 8 or 16 bits: see bits */
};

/* How a small float is made of bits, behind its sign. */
struct element_bits {
	int exponent_bits;
	int mantissa_bits;
	int bias;
	enum {
		ELEMENT_IEEE,	 /* all ones: infinite, or NaN */
		ELEMENT_FINITE,	 /* the last value is NaN; nothing infinite */
		ELEMENT_NO_ZERO, /* -0 is NaN; nothing infinite */
		ELEMENT_POWER,	 /* no sign, no mantissa; the last is NaN */
	} flavour;
};

struct element_type {
	const char *name; /* "bfloat16" */
	int size;	  /* bytes */
	enum element_kind kind;
	struct element_bits bits; /* of ELEMENT_SMALL */
	const char *npy;	  /* numpy's name of it, "<f4"; NULL: it has
				   * none, and float32 holds all its values */
};

/* ">int16" is found as "int16"; NULL: there is no such row. */
const struct element_type *element_type_find(const char *dtype);
void element_read(const struct element_type *type, const uint8_t *bytes,
		  struct tensor_number *number);
/* Of a real one; of integers the nearest double. */
double element_real(const struct element_type *type, const uint8_t *bytes);
/*
 * How far two are apart; 0: they are the same (NaN and NaN, too); NAN: one is
 * no finite number, or of another sign of infinity.
 */
double element_distance(const struct element_type *type, const uint8_t *a,
			const uint8_t *b);

#endif
