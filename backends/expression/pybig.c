#include "backends/expression/pybig.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "base/alloc.h"

#define DIGIT_MASK ((UINT32_C(1) << PYBIG_SHIFT) - 1)
/* hash() is the remainder of a division by this prime (CPython's _PyHASH_MODULUS). */
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

/*
 * Sums, products, quotients, bits and shifts of whole numbers of any size (Knuth, The Art of
 * Computer Programming, 4.3.1). Each function writes into digits for which the caller reserved the
 * room that pybig.h states.
 */

/* Limits of a double: DBL_MANT_DIG, DBL_MIN_EXP and DBL_MAX_EXP of <float.h>. */
#define FRACTION_BITS 53
#define EXPONENT_MINIMUM (-1021)
#define EXPONENT_MAXIMUM 1024

static size_t pybig_arithmetic_trim(const uint32_t *digits, size_t count)
{
	while (count && !digits[count - 1])
		count--;
	return count;
}

static void pybig_arithmetic_set(struct pybig *number, const uint32_t *digits, size_t count,
				 bool is_negative)
{
	count = pybig_arithmetic_trim(digits, count);
	*number = (struct pybig){ .is_negative = is_negative && count,
				  .count = count,
				  .digits = digits };
}

static struct pybig magnitude_of(const struct pybig *number)
{
	return (struct pybig){ .count = number->count, .digits = number->digits };
}

static size_t add_magnitudes(uint32_t *out, const struct pybig *left, const struct pybig *right)
{
	const struct pybig *longer = left->count < right->count ? right : left;
	const struct pybig *shorter = longer == left ? right : left;
	uint32_t carry = 0;

	for (size_t i = 0; i < longer->count; i++) {
		carry += longer->digits[i];
		if (i < shorter->count)
			carry += shorter->digits[i];
		out[i] = carry & DIGIT_MASK;
		carry >>= PYBIG_SHIFT;
	}
	out[longer->count] = carry;
	return longer->count + 1;
}

/* left must not be smaller than right. Returns the number of digits written. */
static size_t subtract_magnitudes(uint32_t *out, const struct pybig *left,
				  const struct pybig *right)
{
	uint32_t borrow = 0;

	for (size_t i = 0; i < left->count; i++) {
		uint32_t taken = borrow + (i < right->count ? right->digits[i] : 0);

		borrow = left->digits[i] < taken;
		out[i] = (left->digits[i] - taken) & DIGIT_MASK;
	}
	return left->count;
}

void pybig_add(struct pybig *sum, uint32_t *digits, const struct pybig *left,
	       const struct pybig *right)
{
	struct pybig a = magnitude_of(left), b = magnitude_of(right);
	bool is_left_negative = left->is_negative;
	bool is_right_negative = right->is_negative;

	if (is_left_negative == is_right_negative)
		pybig_arithmetic_set(sum, digits, add_magnitudes(digits, &a, &b), is_left_negative);
	else if (pybig_compare(&a, &b) >= 0)
		pybig_arithmetic_set(sum, digits, subtract_magnitudes(digits, &a, &b),
				     is_left_negative);
	else
		pybig_arithmetic_set(sum, digits, subtract_magnitudes(digits, &b, &a),
				     is_right_negative);
}

void pybig_subtract(struct pybig *difference, uint32_t *digits, const struct pybig *left,
		    const struct pybig *right)
{
	struct pybig negated = *right;

	negated.is_negative = !right->is_negative;
	pybig_add(difference, digits, left, &negated);
}

void pybig_multiply(struct pybig *product, uint32_t *digits, const struct pybig *left,
		    const struct pybig *right)
{
	size_t count = left->count + right->count;

	memset(digits, 0, count * sizeof(*digits));
	for (size_t i = 0; i < left->count; i++) {
		uint64_t carry = 0;

		for (size_t at = 0; at < right->count; at++) {
			carry += digits[i + at] + (uint64_t)left->digits[i] * right->digits[at];
			digits[i + at] = (uint32_t)carry & DIGIT_MASK;
			carry >>= PYBIG_SHIFT;
		}
		digits[i + right->count] = (uint32_t)carry;
	}
	pybig_arithmetic_set(product, digits, count, left->is_negative != right->is_negative);
}

/*
 * Writes left * 2**bits to out, which has room for left->count + 1 digits; bits must be less than
 * PYBIG_SHIFT.
 */
static void shift_digits(uint32_t *out, const struct pybig *left, int bits)
{
	uint64_t carry = 0;

	for (size_t i = 0; i < left->count; i++) {
		carry |= (uint64_t)left->digits[i] << bits;
		out[i] = (uint32_t)carry & DIGIT_MASK;
		carry >>= PYBIG_SHIFT;
	}
	out[left->count] = (uint32_t)carry;
}

/* Subtracts quotient * divisor from the digits at top; true: the quotient was too large. */
static bool take_off(uint32_t *top, const uint32_t *divisor, size_t count, uint64_t quotient)
{
	uint64_t borrow = 0;

	for (size_t i = 0; i < count; i++) {
		uint32_t taken;

		borrow += quotient * divisor[i];
		taken = (uint32_t)borrow & DIGIT_MASK;
		borrow >>= PYBIG_SHIFT;
		borrow += top[i] < taken;
		top[i] = (top[i] - taken) & DIGIT_MASK;
	}
	return top[count] < borrow;
}

static void pybig_arithmetic_put_back(uint32_t *top, const uint32_t *divisor, size_t count)
{
	uint32_t carry = 0;

	for (size_t i = 0; i < count; i++) {
		carry += top[i] + divisor[i];
		top[i] = carry & DIGIT_MASK;
		carry >>= PYBIG_SHIFT;
	}
}

/*
 * Algorithm D of Knuth, 4.3.1. rest has left->count + 1 digits, quotient left->count, work
 * right->count + 1. right has at least two digits, and no more than left.
 */
static void divide_long(uint32_t *quotient, uint32_t *rest, uint32_t *work,
			const struct pybig *left, const struct pybig *right)
{
	size_t count = right->count;
	int bits = 0;

	while (!(right->digits[count - 1] << bits >> (PYBIG_SHIFT - 1)))
		bits++;
	shift_digits(work, right, bits);
	shift_digits(rest, left, bits);
	memset(quotient, 0, left->count * sizeof(*quotient));
	for (size_t i = left->count - count + 1; i-- > 0;) {
		uint32_t *top = rest + i;
		uint64_t two = (uint64_t)top[count] << PYBIG_SHIFT | top[count - 1];
		uint64_t guess = two / work[count - 1];
		uint64_t left_over = two % work[count - 1];

		while (left_over <= DIGIT_MASK &&
		       guess * work[count - 2] > (left_over << PYBIG_SHIFT | top[count - 2])) {
			guess--;
			left_over += work[count - 1];
		}
		if (take_off(top, work, count, guess)) {
			pybig_arithmetic_put_back(top, work, count);
			guess--;
		}
		top[count] = 0;
		quotient[i] = (uint32_t)guess;
	}
	for (size_t i = 0; i < count; i++) {
		uint64_t two = rest[i] | (uint64_t)rest[i + 1] << PYBIG_SHIFT;

		rest[i] = (uint32_t)(two >> bits) & DIGIT_MASK;
	}
}

static uint32_t divide_short(uint32_t *quotient, const struct pybig *left, uint32_t divisor)
{
	uint64_t rest = 0;

	for (size_t i = left->count; i-- > 0;) {
		rest = rest << PYBIG_SHIFT | left->digits[i];
		quotient[i] = (uint32_t)(rest / divisor);
		rest %= divisor;
	}
	return (uint32_t)rest;
}

/* Divides magnitudes; rest_digits has room for left->count + 1 digits. */
static void divide_magnitudes(struct pybig *quotient, uint32_t *quotient_digits, struct pybig *rest,
			      uint32_t *rest_digits, const struct pybig *left,
			      const struct pybig *right)
{
	if (left->count < right->count) {
		pybig_arithmetic_set(quotient, quotient_digits, 0, false);
		memcpy(rest_digits, left->digits, left->count * sizeof(*rest_digits));
		pybig_arithmetic_set(rest, rest_digits, left->count, false);
	} else if (right->count == 1) {
		rest_digits[0] = divide_short(quotient_digits, left, right->digits[0]);
		pybig_arithmetic_set(rest, rest_digits, 1, false);
		pybig_arithmetic_set(quotient, quotient_digits, left->count, false);
	} else {
		uint32_t *work = xcalloc(right->count + 1, sizeof(*work));

		divide_long(quotient_digits, rest_digits, work, left, right);
		pybig_arithmetic_set(rest, rest_digits, right->count, false);
		pybig_arithmetic_set(quotient, quotient_digits, left->count, false);
		free(work);
	}
}

void pybig_divide(struct pybig *quotient, uint32_t *quotient_digits, struct pybig *rest,
		  uint32_t *rest_digits, const struct pybig *left, const struct pybig *right)
{
	static const uint32_t one_digit[] = { 1 };
	const struct pybig one = { .count = 1, .digits = one_digit };
	struct pybig a = magnitude_of(left), b = magnitude_of(right);
	bool is_negative = left->is_negative != right->is_negative;

	divide_magnitudes(quotient, quotient_digits, rest, rest_digits, &a, &b);
	if (is_negative && rest->count) {
		pybig_arithmetic_set(quotient, quotient_digits,
				     add_magnitudes(quotient_digits, quotient, &one), false);
		pybig_arithmetic_set(rest, rest_digits, subtract_magnitudes(rest_digits, &b, rest),
				     false);
	}
	quotient->is_negative = is_negative && quotient->count;
	rest->is_negative = right->is_negative && rest->count;
}

/*
 * Returns digit i of the two's complement, which has infinitely many digits. *carry must be 1
 * before digit 0.
 */
static uint32_t complement_digit(const struct pybig *number, size_t i, uint32_t *carry)
{
	uint32_t digit = i < number->count ? number->digits[i] : 0;

	if (!number->is_negative)
		return digit;
	digit = (~digit & DIGIT_MASK) + *carry;
	*carry = digit >> PYBIG_SHIFT;
	return digit & DIGIT_MASK;
}

void pybig_combine(struct pybig *result, uint32_t *digits, char operation, const struct pybig *left,
		   const struct pybig *right)
{
	size_t count = (left->count > right->count ? left->count : right->count) + 1;
	uint32_t carries[2] = { 1, 1 }, carry = 1;
	bool is_negative;

	for (size_t i = 0; i < count; i++) {
		uint32_t a = complement_digit(left, i, &carries[0]);
		uint32_t b = complement_digit(right, i, &carries[1]);

		if (operation == '&')
			digits[i] = a & b;
		else
			digits[i] = operation == '|' ? a | b : a ^ b;
	}
	/* The highest digit contains only sign bits. */
	is_negative = digits[count - 1] != 0;
	for (size_t i = 0; i < count && is_negative; i++) {
		digits[i] = (~digits[i] & DIGIT_MASK) + carry;
		carry = digits[i] >> PYBIG_SHIFT;
		digits[i] &= DIGIT_MASK;
	}
	pybig_arithmetic_set(result, digits, count, is_negative);
}

void pybig_shift_left(struct pybig *result, uint32_t *digits, const struct pybig *left, size_t bits)
{
	size_t words = bits / PYBIG_SHIFT;

	memset(digits, 0, words * sizeof(*digits));
	shift_digits(digits + words, left, (int)(bits % PYBIG_SHIFT));
	pybig_arithmetic_set(result, digits, words + left->count + 1, left->is_negative);
}

void pybig_shift_right(struct pybig *result, uint32_t *digits, const struct pybig *left,
		       size_t bits)
{
	static const uint32_t one_digit[] = { 1 };
	const struct pybig one = { .count = 1, .digits = one_digit };
	size_t words = bits / PYBIG_SHIFT;
	int rest = (int)(bits % PYBIG_SHIFT);
	size_t count = words < left->count ? left->count - words : 0;
	bool has_more = false;

	for (size_t i = 0; i < words && i < left->count; i++)
		has_more |= left->digits[i] != 0;
	if (count)
		has_more |= (left->digits[words] & ((UINT32_C(1) << rest) - 1)) != 0;
	for (size_t i = 0; i < count; i++) {
		uint64_t two = left->digits[words + i];

		if (i + 1 < count)
			two |= (uint64_t)left->digits[words + i + 1] << PYBIG_SHIFT;
		digits[i] = (uint32_t)(two >> rest) & DIGIT_MASK;
	}
	pybig_arithmetic_set(result, digits, count, false);
	if (left->is_negative && has_more)
		pybig_arithmetic_set(result, digits, add_magnitudes(digits, result, &one), false);
	result->is_negative = left->is_negative && result->count;
}

/* The value of a number of at most 64 bits. */
static uint64_t low_bits(const struct pybig *number)
{
	uint64_t bits = 0;

	for (size_t i = number->count; i-- > 0;)
		bits = bits << PYBIG_SHIFT | number->digits[i];
	return bits;
}

/*
 * Like long_true_divide in Objects/longobject.c: computes a quotient with two bits more than a
 * double has. The lowest bit is set if any bit was cut off, so the quotient is rounded only
 * once.
 */
int pybig_quotient(const struct pybig *left, const struct pybig *right, double *number)
{
	struct pybig a = magnitude_of(left), b = magnitude_of(right);
	struct pybig quotient, rest;
	int64_t shift = left->count ? pybig_bits(left) - pybig_bits(right) : 0;
	size_t room = a.count + b.count + 100;
	uint32_t *digits, *shifted, *rests;
	bool is_inexact = false;
	uint64_t whole, low;
	int extra, bits = 0;

	*number = left->is_negative != right->is_negative ? -0.0 : 0.0;
	if (!left->count || shift < EXPONENT_MINIMUM - FRACTION_BITS - 2)
		return 0;
	if (shift > EXPONENT_MAXIMUM)
		return -1;
	if (shift < EXPONENT_MINIMUM)
		shift = EXPONENT_MINIMUM;
	shift -= FRACTION_BITS + 2;
	digits = xcalloc(room, sizeof(*digits));
	shifted = xcalloc(room, sizeof(*shifted));
	rests = xcalloc(room, sizeof(*rests));
	if (shift <= 0) {
		pybig_shift_left(&a, shifted, &a, (size_t)-shift);
	} else {
		struct pybig cut = magnitude_of(left);

		for (size_t i = 0; i < (size_t)shift / PYBIG_SHIFT; i++)
			is_inexact |= cut.digits[i] != 0;
		is_inexact |= (cut.digits[(size_t)shift / PYBIG_SHIFT] &
			       ((UINT32_C(1) << shift % PYBIG_SHIFT) - 1)) != 0;
		pybig_shift_right(&a, shifted, &cut, (size_t)shift);
	}
	divide_magnitudes(&quotient, digits, &rest, rests, &a, &b);
	is_inexact |= rest.count > 0;
	whole = low_bits(&quotient);
	while (bits < 64 && whole >> bits)
		bits++;
	extra = (bits > EXPONENT_MINIMUM - shift ? bits : (int)(EXPONENT_MINIMUM - shift)) -
		FRACTION_BITS;
	low = whole | is_inexact;
	/* A value half way between two doubles is rounded to the even one. */
	if (low & UINT64_C(1) << (extra - 1) && low & ((UINT64_C(3) << (extra - 1)) - 1))
		low += UINT64_C(1) << (extra - 1);
	low &= ~((UINT64_C(1) << extra) - 1);
	*number = copysign(ldexp((double)low, (int)shift), *number);
	free(rests);
	free(shifted);
	free(digits);
	return isinf(*number) ? -1 : 0;
}
