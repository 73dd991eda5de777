/*
 * pybig: integers of any size in CPython's layout: digits of 30 bits, lowest digit first, highest
 * digit not 0; the number 0 has no digits. pybig.digits is borrowed and never changed.
 */
#ifndef BACKENDS_EXPRESSION_PYBIG_H
#define BACKENDS_EXPRESSION_PYBIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PYBIG_SHIFT 30
#define PYBIG_SMALL 3	    /* digits of an int64_t, at most */
#define PYBIG_DOUBLE 36	    /* digits of the integral part of a double, at most */
#define PYBIG_DIGITS 65536u /* digits of an int that is read from a process, at most */

struct pybig {
	bool is_negative;
	size_t count;
	const uint32_t *digits;
};

/* Write the digits of value into `digits`, which *number borrows. */
void pybig_set(struct pybig *number, uint32_t digits[PYBIG_SMALL], int64_t value);
void pybig_set_unsigned(struct pybig *number, uint32_t digits[PYBIG_SMALL], uint64_t value);
/* Gets the number as an int64_t. Returns 0, or -1 if it does not fit. */
int pybig_get(const struct pybig *number, int64_t *value);
/*
 * pybig_parse() parses text, the number's digits in the base without a sign; `digits` has room for
 * PYBIG_TEXT_DIGITS(strlen(text)).
 */
#define PYBIG_TEXT_DIGITS(length) ((length) * 4 / PYBIG_SHIFT + 1)
void pybig_parse(struct pybig *number, uint32_t *digits, const char *text, int base);
/* Compares two numbers. Returns < 0, 0 or > 0. */
int pybig_compare(const struct pybig *left, const struct pybig *right);
/* Compares with a double that is not NaN, without rounding; returns < 0, 0 or > 0. */
int pybig_compare_double(const struct pybig *left, double right);
/* Return Python's hash() of the number. */
uint64_t pybig_hash(const struct pybig *number);
uint64_t pybig_hash_double(double number);
int64_t pybig_bits(const struct pybig *number);

/*
 * Arithmetic. `digits` receives the digits of the result, must not overlap the operands' digits,
 * and must have as much room as the comment of each function states.
 */

/* Room: one digit more than the longer operand. */
void pybig_add(struct pybig *sum, uint32_t *digits, const struct pybig *left,
	       const struct pybig *right);
void pybig_subtract(struct pybig *difference, uint32_t *digits, const struct pybig *left,
		    const struct pybig *right);
/* Room: the digits of both operands together. */
void pybig_multiply(struct pybig *product, uint32_t *digits, const struct pybig *left,
		    const struct pybig *right);
/*
 * Divides left by right, which must not be 0: rounds the quotient towards minus infinity, so that
 * the rest has the sign of right. Room for quotient and for rest: one digit more than both operands
 * together.
 */
void pybig_divide(struct pybig *quotient, uint32_t *quotient_digits, struct pybig *rest,
		  uint32_t *rest_digits, const struct pybig *left, const struct pybig *right);
/* operation: '&', '|' or '^', on two's complements. Room: one digit more than the longer
 * operand. */
void pybig_combine(struct pybig *result, uint32_t *digits, char operation, const struct pybig *left,
		   const struct pybig *right);
/* Room: left->count + bits / PYBIG_SHIFT + 1 digits. */
void pybig_shift_left(struct pybig *result, uint32_t *digits, const struct pybig *left,
		      size_t bits);
/* Rounds towards minus infinity. Room: one digit more than left. */
void pybig_shift_right(struct pybig *result, uint32_t *digits, const struct pybig *left,
		       size_t bits);
/* Computes left / right, rounded once; right must not be 0. Returns 0, or -1 if the result is too
 * large for a double. */
int pybig_quotient(const struct pybig *left, const struct pybig *right, double *number);

#endif
