/*
 * pynumber: int of any size, bool, float and complex
 * (Include/cpython/longintrepr.h, Objects/floatobject.c), and numpy's scalars.
 */
#ifndef BACKENDS_CPYTHON_PYNUMBER_H
#define BACKENDS_CPYTHON_PYNUMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buffer;
struct pyreader;
struct pywriter;

enum pyfloat_width {
	PYFLOAT_HALF,
	PYFLOAT_SINGLE,
	PYFLOAT_DOUBLE,
};

/* Appends a number as repr() does: the shortest text that reads back. */
void pyfloat_put(struct buffer *out, double number, enum pyfloat_width width);
/* The same of a real and an imaginary part. */
void pycomplex_put(struct buffer *out, const double *parts, enum pyfloat_width width);
/* The number that two bytes are as an IEEE 754 half. */
double pyfloat_half(uint16_t bits);

/*
 * The digits of an int, 30 bits each, lowest first, and how many there are;
 * -1: it is none, or has more than maximum.
 */
int64_t pyinteger_digits(struct pyreader *reader, uint64_t address, bool *is_negative,
			 uint32_t *digits, size_t maximum);
/* An int of so many bits is printed in full. */
#define PYINTEGER_BITS 14284
/*
 * Appends those digits in decimal, or, where repr() would refuse them as too
 * many, "<int of N bits>".
 */
void pyinteger_put(struct buffer *out, bool is_negative, const uint32_t *digits,
		   int64_t digit_count);
void pyinteger_write(struct pywriter *writer, uint64_t address);
void pyboolean_write(struct pywriter *writer, uint64_t address);
void pyfloat_write(struct pywriter *writer, uint64_t address);
void pycomplex_write(struct pywriter *writer, uint64_t address);
/* Any of numpy's scalars that pykind has a row for. */
void pyscalar_write(struct pywriter *writer, uint64_t address);

#endif
