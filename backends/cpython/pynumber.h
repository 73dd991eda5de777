/*
 * pynumber: int of any size, bool, float and complex (Include/cpython/longintrepr.h,
 * Objects/floatobject.c), and numpy's scalars. A ..._write function writes the object as repr()
 * does, "?" if unreadable.
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

/* Appends a number as repr() does: the shortest text that parses to the same number. */
void pyfloat_put(struct buffer *out, double number, enum pyfloat_width width);
/* Appends a complex number as repr() does; parts: real, imaginary. */
void pycomplex_put(struct buffer *out, const double *parts, enum pyfloat_width width);
/* Returns the value of an IEEE 754 half-precision number. */
double pyfloat_half(uint16_t bits);

/*
 * Reads the digits of an int, 30 bits each, lowest first. Returns the number of digits; -1: not an
 * int, or more than `maximum` digits.
 */
int64_t pyinteger_digits(struct pyreader *reader, uint64_t address, bool *is_negative,
			 uint32_t *digits, size_t maximum);
/* An int of at most this many bits is printed in full. */
#define PYINTEGER_BITS 14284
/* Appends an int in decimal, or "<int of N bits>" if it has more digits than repr() allows. */
void pyinteger_put(struct buffer *out, bool is_negative, const uint32_t *digits,
		   int64_t digit_count);
void pyinteger_write(struct pywriter *writer, uint64_t address);
void pyboolean_write(struct pywriter *writer, uint64_t address);
void pyfloat_write(struct pywriter *writer, uint64_t address);
void pycomplex_write(struct pywriter *writer, uint64_t address);
/* Writes any numpy scalar that has a row in pywriter.c. */
void pyscalar_write(struct pywriter *writer, uint64_t address);

#endif
