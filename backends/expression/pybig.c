#include "backends/expression/pybig.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "banned.h"

#define DIGIT_MASK ((UINT32_C(1) << PYBIG_SHIFT) - 1)
/* hash() is the remainder of a division by this prime (pyhash.h). */
#define HASH_BITS 61
#define HASH_MODULUS ((UINT64_C(1) << HASH_BITS) - 1)
#define HASH_INFINITY UINT64_C(314159)

static size_t put_magnitude(uint32_t *digits, uint64_t magnitude)
{
	size_t count = 0;

	for (; magnitude; magnitude >>= PYBIG_SHIFT)
		digits[count++] = (uint32_t)magnitude & DIGIT_MASK;
	return count;
}

void pybig_set_unsigned(struct pybig *number, uint32_t digits[PYBIG_SMALL], uint64_t value)
{
	number->is_negative = false;
	number->digits = digits;
	number->count = put_magnitude(digits, value);
}

void pybig_set(struct pybig *number, uint32_t digits[PYBIG_SMALL], int64_t value)
{
	uint64_t magnitude = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;

	number->is_negative = value < 0;
	number->digits = digits;
	number->count = put_magnitude(digits, magnitude);
}

int pybig_get(const struct pybig *number, int64_t *value)
{
	uint64_t magnitude = 0;
	uint64_t limit = (uint64_t)INT64_MAX + number->is_negative;

	if (number->count > PYBIG_SMALL ||
	    (number->count == PYBIG_SMALL && number->digits[2] > 0xf))
		return -1;
	for (size_t i = number->count; i-- > 0;)
		magnitude = magnitude << PYBIG_SHIFT | number->digits[i];
	if (magnitude > limit)
		return -1;
	if (number->is_negative)
		*value = magnitude ? -(int64_t)(magnitude - 1) - 1 : 0;
	else
		*value = (int64_t)magnitude;
	return 0;
}

static uint32_t digit_of(char letter)
{
	if (letter >= '0' && letter <= '9')
		return (uint32_t)(letter - '0');
	return (uint32_t)((letter | 0x20) - 'a' + 10);
}

void pybig_parse(struct pybig *number, uint32_t *digits, const char *text, int base)
{
	size_t count = 0;

	for (; *text; text++) {
		uint64_t carry = digit_of(*text);

		for (size_t i = 0; i < count; i++) {
			carry += (uint64_t)digits[i] * (uint64_t)base;
			digits[i] = (uint32_t)carry & DIGIT_MASK;
			carry >>= PYBIG_SHIFT;
		}
		if (carry)
			digits[count++] = (uint32_t)carry;
	}
	*number = (struct pybig){ .count = count, .digits = digits };
}

static int compare_magnitudes(const struct pybig *left, const struct pybig *right)
{
	if (left->count != right->count)
		return left->count < right->count ? -1 : 1;
	for (size_t i = left->count; i-- > 0;) {
		if (left->digits[i] != right->digits[i])
			return left->digits[i] < right->digits[i] ? -1 : 1;
	}
	return 0;
}

static int sign_of(const struct pybig *number)
{
	if (!number->count)
		return 0;
	return number->is_negative ? -1 : 1;
}

int pybig_compare(const struct pybig *left, const struct pybig *right)
{
	int order;

	if (sign_of(left) != sign_of(right))
		return sign_of(left) < sign_of(right) ? -1 : 1;
	order = compare_magnitudes(left, right);
	return left->is_negative ? -order : order;
}

/* Sets number to the integral part of a finite double. */
static void truncate_double(struct pybig *number, uint32_t *digits, double value)
{
	int exponent;
	double fraction = frexp(fabs(value), &exponent);
	size_t count;

	*number = (struct pybig){ .is_negative = value < 0, .digits = digits };
	if (exponent <= 0)
		return;
	count = (size_t)((exponent - 1) / PYBIG_SHIFT + 1);
	number->count = count;
	fraction = ldexp(fraction, (exponent - 1) % PYBIG_SHIFT + 1);
	while (count-- > 0) {
		digits[count] = (uint32_t)fraction;
		fraction = ldexp(fraction - (double)digits[count], PYBIG_SHIFT);
	}
}

int pybig_compare_double(const struct pybig *left, double right)
{
	uint32_t digits[PYBIG_DOUBLE];
	struct pybig whole;
	double fraction, integral;
	int order;

	if (isinf(right))
		return right > 0 ? -1 : 1;
	truncate_double(&whole, digits, right);
	order = pybig_compare(left, &whole);
	if (order)
		return order;
	fraction = modf(right, &integral);
	if (fraction > 0)
		return -1;
	return fraction < 0;
}

static uint64_t finish_hash(uint64_t hash, bool is_negative)
{
	if (is_negative)
		hash = 0 - hash;
	return hash == UINT64_MAX ? UINT64_MAX - 1 : hash;
}

static uint64_t shift_hash(uint64_t hash, int bits)
{
	return (hash << bits & HASH_MODULUS) | hash >> (HASH_BITS - bits);
}

uint64_t pybig_hash(const struct pybig *number)
{
	uint64_t hash = 0;

	for (size_t i = number->count; i-- > 0;) {
		hash = shift_hash(hash, PYBIG_SHIFT) + number->digits[i];
		if (hash >= HASH_MODULUS)
			hash -= HASH_MODULUS;
	}
	return finish_hash(hash, number->is_negative);
}

/* Like _Py_HashDouble: a float has the hash of the equal int. */
uint64_t pybig_hash_double(double number)
{
	uint64_t hash = 0;
	int exponent;
	double rest;

	if (isinf(number))
		return number > 0 ? HASH_INFINITY : 0 - HASH_INFINITY;
	rest = frexp(fabs(number), &exponent);
	while (rest > 0) {
		uint64_t part;

		hash = shift_hash(hash, 28);
		rest *= 268435456.0; /* 2**28 */
		exponent -= 28;
		part = (uint64_t)rest;
		rest -= (double)part;
		hash += part;
		if (hash >= HASH_MODULUS)
			hash -= HASH_MODULUS;
	}
	exponent =
		exponent >= 0 ? exponent % HASH_BITS : HASH_BITS - 1 - (-1 - exponent) % HASH_BITS;
	return finish_hash(exponent ? shift_hash(hash, exponent) : hash, number < 0);
}

int64_t pybig_bits(const struct pybig *number)
{
	int64_t bits = (int64_t)number->count * PYBIG_SHIFT;

	for (uint32_t top = number->count ? number->digits[number->count - 1] : DIGIT_MASK;
	     !(top >> (PYBIG_SHIFT - 1)); top <<= 1)
		bits--;
	return bits;
}
