/*
 * pybig: whole numbers of any size, as CPython has them: digits of 30 bits,
 * lowest first, the highest not 0; no digits: 0. Lent, never changed.
 */
#ifndef BACKENDS_EXPRESSION_PYBIG_H
#define BACKENDS_EXPRESSION_PYBIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PYBIG_SHIFT 30
#define PYBIG_SMALL 3	    /* digits that an int64_t takes at most */
#define PYBIG_DOUBLE 36	    /* and the whole part of a double */
#define PYBIG_DIGITS 65536u /* more are not compared */

struct pybig {
	bool is_negative;
	size_t count;
	const uint32_t *digits;
};

/* Into digits, which the number then refers to. */
void pybig_set(struct pybig *number, uint32_t digits[PYBIG_SMALL], int64_t value);
void pybig_set_unsigned(struct pybig *number, uint32_t digits[PYBIG_SMALL], uint64_t value);
/* 0, or -1: it does not fit. */
int pybig_get(const struct pybig *number, int64_t *value);
/*
 * The number that text is in a base; digits has room for
 * PYBIG_TEXT_DIGITS(strlen(text)).
 */
#define PYBIG_TEXT_DIGITS(length) ((length) * 4 / PYBIG_SHIFT + 1)
void pybig_parse(struct pybig *number, uint32_t *digits, const char *text, int base);
/* < 0, 0, > 0. */
int pybig_compare(const struct pybig *left, const struct pybig *right);
/* The same with a double that is not NaN, exactly. */
int pybig_compare_double(const struct pybig *left, double right);
/* What hash() gives. */
uint64_t pybig_hash(const struct pybig *number);
uint64_t pybig_hash_double(double number);
int64_t pybig_bits(const struct pybig *number);

/*
 * Arithmetic. digits is where the result lies, apart from the operands, and
 * has room for as many as is said.
 */

/* One more than the longer operand. */
void pybig_add(struct pybig *sum, uint32_t *digits, const struct pybig *left,
	       const struct pybig *right);
void pybig_subtract(struct pybig *difference, uint32_t *digits, const struct pybig *left,
		    const struct pybig *right);
/* As many as both operands together. */
void pybig_multiply(struct pybig *product, uint32_t *digits, const struct pybig *left,
		    const struct pybig *right);
/*
 * Towards minus infinity, the rest with the sign of right, which is not 0; one
 * more than both operands together for each.
 */
void pybig_divide(struct pybig *quotient, uint32_t *quotient_digits, struct pybig *rest,
		  uint32_t *rest_digits, const struct pybig *left, const struct pybig *right);
/* operation: '&', '|', '^', of two's complements; one more than the longer. */
void pybig_combine(struct pybig *result, uint32_t *digits, char operation, const struct pybig *left,
		   const struct pybig *right);
/* left->count + bits / PYBIG_SHIFT + 1 digits. */
void pybig_shift_left(struct pybig *result, uint32_t *digits, const struct pybig *left,
		      size_t bits);
/* Towards minus infinity; one more than left. */
void pybig_shift_right(struct pybig *result, uint32_t *digits, const struct pybig *left,
		       size_t bits);
/* left / right, rounded once, right not 0; -1: too large for a double. */
int pybig_quotient(const struct pybig *left, const struct pybig *right, double *number);

#endif
