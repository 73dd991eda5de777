#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "backends/cpython/pynumber.h"
#include "backends/expression/pycompare.h"
#include "backends/expression/pyvalue.h"
#include "banned.h"
#include "base/array.h"
#include "base/error.h"

/* Maximum number of bits of a result, so that every result can be printed in full. */
#define BITS_MAXIMUM PYINTEGER_BITS
#define DIGITS_MAXIMUM (BITS_MAXIMUM / PYBIG_SHIFT + 2)
#define CHARACTERS_MAXIMUM ((size_t)1 << 20)
#define SHIFT_MAXIMUM 62

int pychecked_add(int64_t left, int64_t right, int64_t *sum)
{
	if (right > 0 ? left > INT64_MAX - right : left < INT64_MIN - right)
		return -1;
	*sum = left + right;
	return 0;
}

static int checked_subtract(int64_t left, int64_t right, int64_t *difference)
{
	if (right < 0 ? left > INT64_MAX + right : left < INT64_MIN + right)
		return -1;
	*difference = left - right;
	return 0;
}

int pychecked_multiply(int64_t left, int64_t right, int64_t *product)
{
	uint64_t a = left < 0 ? 0 - (uint64_t)left : (uint64_t)left;
	uint64_t b = right < 0 ? 0 - (uint64_t)right : (uint64_t)right;

	if (a > INT64_MAX || b > INT64_MAX || (a && b > INT64_MAX / a))
		return -1;
	*product = left * right;
	return 0;
}

/* Rounds towards minus infinity, as Python does. */
static int checked_floor_divide(int64_t left, int64_t right, int64_t *quotient)
{
	if (left == INT64_MIN && right == -1)
		return -1;
	*quotient = left / right;
	if (left % right && (left < 0) != (right < 0))
		--*quotient;
	return 0;
}

static int checked_modulo(int64_t left, int64_t right, int64_t *rest)
{
	*rest = right == -1 ? 0 : left % right;
	if (*rest && (*rest < 0) != (right < 0))
		*rest += right;
	return 0;
}

static int checked_and(int64_t left, int64_t right, int64_t *result)
{
	*result = left & right;
	return 0;
}

static int checked_or(int64_t left, int64_t right, int64_t *result)
{
	*result = left | right;
	return 0;
}

static int checked_xor(int64_t left, int64_t right, int64_t *result)
{
	*result = left ^ right;
	return 0;
}

static int checked_left(int64_t left, int64_t right, int64_t *result)
{
	*result = 0;
	if (right < 0 || (right > SHIFT_MAXIMUM && left))
		return -1;
	if (!left)
		return 0;
	return pychecked_multiply(left, INT64_C(1) << right, result);
}

/* In C the right shift of a negative number depends on the compiler, so -1 - left is shifted. */
static int checked_right(int64_t left, int64_t right, int64_t *result)
{
	if (right < 0)
		return -1;
	if (right > SHIFT_MAXIMUM)
		*result = left < 0 ? -1 : 0;
	else if (left < 0)
		*result = -1 - ((-1 - left) >> right);
	else
		*result = left >> right;
	return 0;
}

static double float_add(double left, double right)
{
	return left + right;
}

static double float_subtract(double left, double right)
{
	return left - right;
}

static double float_multiply(double left, double right)
{
	return left * right;
}

static double float_divide(double left, double right)
{
	return left / right;
}

/* As in Objects/floatobject.c: the remainder has the sign of the divisor. */
static double float_modulo(double left, double right)
{
	double rest = fmod(left, right);

	if (rest == 0)
		return copysign(0.0, right);
	return (right < 0) != (rest < 0) ? rest + right : rest;
}

static double float_floor_divide(double left, double right)
{
	double rest = fmod(left, right);
	double quotient = (left - rest) / right;
	double whole;

	if (rest != 0 && (right < 0) != (rest < 0))
		quotient -= 1.0;
	if (quotient == 0)
		return copysign(0.0, left / right);
	whole = floor(quotient);
	return quotient - whole > 0.5 ? whole + 1.0 : whole;
}

static const struct computation {
	enum pyoperator operator;
	enum pyslot slot;
	int (*whole)(int64_t left, int64_t right, int64_t *result);
	double (*real)(double left, double right);
	bool is_division;
} computations[] = {
	{ PYOPERATOR_ADD, PYSLOT_ADD, pychecked_add, float_add, false },
	{ PYOPERATOR_SUBTRACT, PYSLOT_SUBTRACT, checked_subtract, float_subtract, false },
	{ PYOPERATOR_MULTIPLY, PYSLOT_MULTIPLY, pychecked_multiply, float_multiply, false },
	{ PYOPERATOR_DIVIDE, PYSLOT_DIVIDE, NULL, float_divide, true },
	{ PYOPERATOR_FLOOR_DIVIDE, PYSLOT_FLOOR_DIVIDE, checked_floor_divide, float_floor_divide,
	  true },
	{ PYOPERATOR_MODULO, PYSLOT_REMAINDER, checked_modulo, float_modulo, true },
	{ PYOPERATOR_POWER, PYSLOT_POWER, NULL, pow, false },
	{ PYOPERATOR_AND, PYSLOT_AND, checked_and, NULL, false },
	{ PYOPERATOR_OR, PYSLOT_OR, checked_or, NULL, false },
	{ PYOPERATOR_XOR, PYSLOT_XOR, checked_xor, NULL, false },
	{ PYOPERATOR_LEFT, PYSLOT_LEFT, checked_left, NULL, false },
	{ PYOPERATOR_RIGHT, PYSLOT_RIGHT, checked_right, NULL, false },
};

static const struct computation *pyarithmetic_find(enum pyoperator operator)
{
	for (size_t i = 0; i < ARRAY_LENGTH(computations); i++)
		if (computations[i].operator == operator)
			return &computations[i];
	return NULL;
}

static int refuse_element(struct pyevaluation *evaluation, const struct pyvalue *element)
{
	return error_set(evaluation->error,
			 "arithmetic on an element of a tensor or array (%s) is not supported "
			 "without an agent: use .item()",
			 element->element.name);
}

static int pyarithmetic_refuse(struct pyevaluation *evaluation, const char *operator,
			       const struct pyvalue * left, const struct pyvalue *right)
{
	if (left->kind == PYVALUE_ELEMENT || right->kind == PYVALUE_ELEMENT)
		return refuse_element(evaluation, left->kind == PYVALUE_ELEMENT ? left : right);
	return error_set(evaluation->error,
			 "\"%s\" of %s and %s is not supported without an agent: %s", operator,
			 pyvalue_type_name(evaluation, left), pyvalue_type_name(evaluation, right),
			 strcmp(operator, "+") == 0
				 ? "only numbers, two str or two bytes can be added"
				 : "only numbers are supported");
}

static int refuse_large(struct pyevaluation *evaluation, const char *operator)
{
	return error_set(
		evaluation->error,
		"\"%s\" is limited to integers of %d bits (about 4300 digits) without an agent",
		operator, BITS_MAXIMUM);
}

static int refuse_overflow(struct pyevaluation *evaluation, const char *operator)
{
	return error_set(evaluation->error,
			 "\"%s\" overflows a float (OverflowError in Python)", operator);
}

/* True if the value is a number whose class does not override the operator. */
static bool pyarithmetic_is_plain(struct pyevaluation *evaluation, const struct pyvalue *value,
				  enum pyslot slot)
{
	if (!pyvalue_is_integer(value) && value->kind != PYVALUE_FLOAT)
		return false;
	return !value->address ||
	       pyslot_is_kept(evaluation->reader, value->type, value->base, slot);
}

static int to_double(struct pyevaluation *evaluation, const struct pyvalue *value,
		     const char *operator, double * number)
{
	static const uint32_t one_digit[] = { 1 };
	const struct pybig one = { .count = 1, .digits = one_digit };

	if (value->kind == PYVALUE_FLOAT) {
		*number = value->number;
		return 0;
	}
	if (pybig_quotient(&value->integer, &one, number))
		return refuse_overflow(evaluation, operator);
	return 0;
}

/*
 * Refuses the powers for which float_pow() in Objects/floatobject.c fails or returns a complex
 * number, whereas pow() returns a float.
 */
static int check_power(struct pyevaluation *evaluation, double base, double exponent)
{
	if (!isfinite(base) || !isfinite(exponent))
		return 0;
	if (base == 0 && exponent < 0)
		return error_set(
			evaluation->error,
			"0 cannot be raised to a negative power (ZeroDivisionError in Python)");
	if (base < 0 && exponent != floor(exponent))
		return error_set(evaluation->error, "the result of \"**\" is a complex number, "
						    "which is not supported without an agent");
	return isinf(pow(base, exponent)) ? refuse_overflow(evaluation, "**") : 0;
}

static int compute_float(struct pyevaluation *evaluation, const struct computation *computation,
			 const struct pyvalue *left, const struct pyvalue *right,
			 struct pyvalue *result)
{
	const char *name = pyoperator_name(computation->operator);
	double a = 0, b = 0;

	if (to_double(evaluation, left, name, &a) || to_double(evaluation, right, name, &b))
		return -1;
	if (computation->is_division && b == 0)
		return error_set(evaluation->error, "division by zero");
	if (computation->operator == PYOPERATOR_POWER && check_power(evaluation, a, b))
		return -1;
	pyvalue_set_float(result, computation->real(a, b));
	return 0;
}

static uint32_t *allocate_digits(struct pyevaluation *evaluation, size_t count)
{
	return pyevaluation_allocate(evaluation, count * sizeof(uint32_t));
}

static void set_big(struct pyvalue *result, const struct pybig *number)
{
	*result = (struct pyvalue){ .kind = PYVALUE_INTEGER, .integer = *number };
}

static int divide_integers(struct pyevaluation *evaluation, const struct pybig *left,
			   const struct pybig *right, struct pyvalue *result)
{
	double number;

	if (pybig_quotient(left, right, &number))
		return refuse_overflow(evaluation, "/");
	pyvalue_set_float(result, number);
	return 0;
}

static bool is_computed(const struct pybig *number)
{
	return !number->count || pybig_bits(number) <= BITS_MAXIMUM;
}

static int shift_big(struct pyevaluation *evaluation, enum pyoperator operator,
		     const struct pybig * left, const struct pybig *right, struct pybig *result)
{
	int64_t bits;
	bool is_large = pybig_get(right, &bits);

	if (right->is_negative)
		return error_set(evaluation->error, "negative shift count");
	if (operator == PYOPERATOR_RIGHT) {
		/*
		 * A right shift by more than BITS_MAXIMUM bits gives the same result as one by
		 * BITS_MAXIMUM bits.
		 */
		if (is_large || bits > BITS_MAXIMUM)
			bits = BITS_MAXIMUM;
		pybig_shift_right(result, allocate_digits(evaluation, left->count + 1), left,
				  (size_t)bits);
		return 0;
	}
	if (!left->count) {
		*result = *left;
		return 0;
	}
	if (is_large || bits > BITS_MAXIMUM)
		return refuse_large(evaluation, pyoperator_name(operator));
	pybig_shift_left(result, allocate_digits(evaluation, left->count + DIGITS_MAXIMUM + 2),
			 left, (size_t)bits);
	return 0;
}

static void multiply_big(struct pyevaluation *evaluation, const struct pybig *left,
			 const struct pybig *right, struct pybig *product)
{
	pybig_multiply(product, allocate_digits(evaluation, left->count + right->count), left,
		       right);
}

/* Raises base to an exponent that is not negative. */
static int raise_big(struct pyevaluation *evaluation, const struct pybig *base,
		     const struct pybig *exponent, struct pybig *power)
{
	static const uint32_t one_digit[] = { 1 };
	struct pybig square = *base;
	int64_t count;
	bool is_large = pybig_get(exponent, &count);
	bool is_odd = exponent->count && (exponent->digits[0] & 1);

	*power = (struct pybig){ .count = 1, .digits = one_digit };
	if (!base->count || pybig_bits(base) == 1) {
		/* 0, 1 and -1 */
		if (exponent->count)
			*power = *base;
		power->is_negative = base->is_negative && is_odd;
		return 0;
	}
	if (is_large || count > BITS_MAXIMUM || (pybig_bits(base) - 1) * count > BITS_MAXIMUM)
		return refuse_large(evaluation, "**");
	while (count) {
		struct pybig before = *power;

		if (count & 1)
			multiply_big(evaluation, &before, &square, power);
		count >>= 1;
		before = square;
		if (count)
			multiply_big(evaluation, &before, &before, &square);
	}
	return 0;
}

static void divide_big(struct pyevaluation *evaluation, enum pyoperator operator,
		       const struct pybig * left, const struct pybig *right, struct pybig *result)
{
	size_t room = left->count + right->count + 1;
	bool is_modulo = operator == PYOPERATOR_MODULO;
	struct pybig other;

	pybig_divide(is_modulo ? &other : result, allocate_digits(evaluation, room),
		     is_modulo ? result : &other, allocate_digits(evaluation, room), left, right);
}

/* Computes with integers, or to a result, of more than 64 bits. */
static int compute_big(struct pyevaluation *evaluation, enum pyoperator operator,
		       const struct pybig * left, const struct pybig *right, struct pybig *result)
{
	size_t longer = left->count > right->count ? left->count : right->count;
	uint32_t *digits = allocate_digits(evaluation, longer + 2);

	switch (operator) {
	case PYOPERATOR_ADD:
		pybig_add(result, digits, left, right);
		return 0;
	case PYOPERATOR_SUBTRACT:
		pybig_subtract(result, digits, left, right);
		return 0;
	case PYOPERATOR_MULTIPLY:
		multiply_big(evaluation, left, right, result);
		return 0;
	case PYOPERATOR_FLOOR_DIVIDE:
	case PYOPERATOR_MODULO:
		divide_big(evaluation, operator, left, right, result);
		return 0;
	case PYOPERATOR_LEFT:
	case PYOPERATOR_RIGHT:
		return shift_big(evaluation, operator, left, right, result);
	case PYOPERATOR_POWER:
		return raise_big(evaluation, left, right, result);
	default:
		/* "&", "|" or "^" */
		pybig_combine(result, digits, pyoperator_name(operator)[0], left, right);
		return 0;
	}
}

static int compute_integer(struct pyevaluation *evaluation, const struct computation *computation,
			   const struct pyvalue *left, const struct pyvalue *right,
			   struct pyvalue *result)
{
	const char *name = pyoperator_name(computation->operator);
	bool are_booleans = left->kind == PYVALUE_BOOLEAN && right->kind == PYVALUE_BOOLEAN;
	struct pybig large;
	int64_t a = 0, b = 0, number;

	if (!is_computed(&left->integer) || !is_computed(&right->integer))
		return refuse_large(evaluation, name);
	if (computation->is_division && !right->integer.count)
		return error_set(evaluation->error, "division by zero");
	if (computation->operator == PYOPERATOR_DIVIDE)
		return divide_integers(evaluation, &left->integer, &right->integer, result);
	if (computation->operator == PYOPERATOR_POWER && right->integer.is_negative)
		return compute_float(evaluation, computation, left, right, result);
	if (computation->whole && !pybig_get(&left->integer, &a) &&
	    !pybig_get(&right->integer, &b) && !computation->whole(a, b, &number)) {
		pyvalue_set_integer(evaluation, result, number);
	} else {
		if (compute_big(evaluation, computation->operator, & left->integer, &right->integer,
				&large))
			return -1;
		if (!is_computed(&large))
			return refuse_large(evaluation, name);
		set_big(result, &large);
	}
	if (are_booleans && (computation->slot == PYSLOT_AND || computation->slot == PYSLOT_OR ||
			     computation->slot == PYSLOT_XOR))
		result->kind = PYVALUE_BOOLEAN;
	return 0;
}

static bool pyarithmetic_is_text(struct pyevaluation *evaluation, const struct pyvalue *value)
{
	if (value->kind != PYVALUE_STRING && value->kind != PYVALUE_BYTES)
		return false;
	return !value->address ||
	       (pyslot_is_kept(evaluation->reader, value->type, value->base, PYSLOT_ADD) &&
		pyslot_is_kept(evaluation->reader, value->type, value->base, PYSLOT_CONCATENATE));
}

static int pyarithmetic_join(struct pyevaluation *evaluation, const struct pyvalue *left,
			     const struct pyvalue *right, struct pyvalue *result)
{
	const uint32_t *a, *b;
	size_t a_count, b_count;
	uint32_t *characters;

	if (pyvalue_characters(evaluation, left, &a, &a_count) ||
	    pyvalue_characters(evaluation, right, &b, &b_count))
		return -1;
	if (a_count + b_count > CHARACTERS_MAXIMUM)
		return error_set(evaluation->error,
				 "the result is a %s of %zu characters, too long to compute "
				 "without an agent",
				 pyvalue_type_name(evaluation, left), a_count + b_count);
	if (pyevaluation_check_room(evaluation, (a_count + b_count) * sizeof(*characters)))
		return -1;
	*result = (struct pyvalue){ .kind = left->kind, .count = a_count + b_count };
	characters = pyevaluation_allocate(evaluation, result->count * sizeof(*characters));
	if (a_count)
		memcpy(characters, a, a_count * sizeof(*a));
	if (b_count)
		memcpy(characters + a_count, b, b_count * sizeof(*b));
	result->characters = characters;
	return 0;
}

int pyvalue_compute(struct pyevaluation *evaluation, enum pyoperator operator,
		    const struct pyvalue * left, const struct pyvalue *right,
		    struct pyvalue *result)
{
	const struct computation *computation = pyarithmetic_find(operator);

	if (operator == PYOPERATOR_ADD && left->kind == right->kind &&
	    pyarithmetic_is_text(evaluation, left) &&
	    pyarithmetic_is_text(evaluation, right))
		return pyarithmetic_join(evaluation, left, right, result);
	if (!computation || !pyarithmetic_is_plain(evaluation, left, computation->slot) ||
	    !pyarithmetic_is_plain(evaluation, right, computation->slot))
		return pyarithmetic_refuse(evaluation, pyoperator_name(operator), left, right);
	if (pyvalue_is_integer(left) && pyvalue_is_integer(right))
		return compute_integer(evaluation, computation, left, right, result);
	if (!computation->real)
		return pyarithmetic_refuse(evaluation, pyoperator_name(operator), left, right);
	return compute_float(evaluation, computation, left, right, result);
}

int pyvalue_negate(struct pyevaluation *evaluation, enum pyoperator operator,
		   const struct pyvalue *operand, struct pyvalue *result)
{
	enum pyslot slot = PYSLOT_INVERT;
	struct pyvalue one;

	if (operator == PYOPERATOR_SUBTRACT)
		slot = PYSLOT_NEGATIVE;
	else if (operator == PYOPERATOR_ADD)
		slot = PYSLOT_POSITIVE;
	if (operand->kind == PYVALUE_ELEMENT)
		return refuse_element(evaluation, operand);
	if (!pyarithmetic_is_plain(evaluation, operand, slot) ||
	    (operator == PYOPERATOR_INVERT && !pyvalue_is_integer(operand)))
		return error_set(evaluation->error,
				 "\"%s\" of %s is not supported without an agent: only plain %s "
				 "are supported",
				 pyoperator_name(operator), pyvalue_type_name(evaluation, operand),
				 slot == PYSLOT_INVERT ? "integers" : "integers and floats");
	*result = *operand;
	result->address = 0;
	if (operand->kind == PYVALUE_FLOAT) {
		if (operator == PYOPERATOR_SUBTRACT)
			result->number = -operand->number;
		return 0;
	}
	result->kind = PYVALUE_INTEGER;
	if (operator == PYOPERATOR_ADD)
		return 0;
	if (operator == PYOPERATOR_SUBTRACT) {
		result->integer.is_negative =
			operand->integer.count && !operand->integer.is_negative;
		return 0;
	}
	if (!is_computed(&operand->integer))
		return refuse_large(evaluation, "~");
	/* Computes ~x as -1 - x. */
	pyvalue_set_integer(evaluation, &one, -1);
	pybig_subtract(&result->integer, allocate_digits(evaluation, operand->integer.count + 2),
		       &one.integer, &operand->integer);
	return 0;
}
