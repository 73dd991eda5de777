/*
 * pybig: whole numbers of any size, as CPython has them: digits of 30 bits,
 * lowest first, the highest not 0; no digits: 0. Lent, never changed.
 */
#ifndef BACKENDS_CONTROL_PYBIG_H
#define BACKENDS_CONTROL_PYBIG_H

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
void pybig_set(struct pybig *number, uint32_t digits[PYBIG_SMALL],
	       int64_t value);
void pybig_set_unsigned(struct pybig *number, uint32_t digits[PYBIG_SMALL],
			uint64_t value);
/* 0, or -1: it does not fit. */
int pybig_get(const struct pybig *number, int64_t *value);
/*
 * The number that text is in a base; digits has room for
 * PYBIG_TEXT_DIGITS(strlen(text)).
 */
#define PYBIG_TEXT_DIGITS(length) ((length) * 4 / PYBIG_SHIFT + 1)
void pybig_parse(struct pybig *number, uint32_t *digits, const char *text,
		 int base);
/* < 0, 0, > 0. */
int pybig_compare(const struct pybig *left, const struct pybig *right);
/* The same with a double that is not NaN, exactly. */
int pybig_compare_double(const struct pybig *left, double right);
/* What hash() gives. */
uint64_t pybig_hash(const struct pybig *number);
uint64_t pybig_hash_double(double number);
int64_t pybig_bits(const struct pybig *number);

#endif
