#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "backends/control/pycompare.h"
#include "backends/control/pyslot.h"
#include "backends/control/pyvalue.h"
#include "banned.h"
#include "base/array.h"
#include "base/error.h"

/* Whole numbers up to here are exact in a double. */
#define EXACT_MAXIMUM (INT64_C(1) << 53)
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

/* Towards minus infinity, as Python divides. */
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

/* A negative number is never shifted as such: that is not C. */
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

/* As Objects/floatobject.c has it: the rest has the sign of the divisor. */
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
	{ PYOPERATOR_SUBTRACT, PYSLOT_SUBTRACT, checked_subtract,
	  float_subtract, false },
	{ PYOPERATOR_MULTIPLY, PYSLOT_MULTIPLY, pychecked_multiply,
	  float_multiply, false },
	{ PYOPERATOR_DIVIDE, PYSLOT_DIVIDE, NULL, float_divide, true },
	{ PYOPERATOR_FLOOR_DIVIDE, PYSLOT_FLOOR_DIVIDE, checked_floor_divide,
	  float_floor_divide, true },
	{ PYOPERATOR_MODULO, PYSLOT_REMAINDER, checked_modulo, float_modulo,
	  true },
	{ PYOPERATOR_AND, PYSLOT_AND, checked_and, NULL, false },
	{ PYOPERATOR_OR, PYSLOT_OR, checked_or, NULL, false },
	{ PYOPERATOR_XOR, PYSLOT_XOR, checked_xor, NULL, false },
	{ PYOPERATOR_LEFT, PYSLOT_LEFT, checked_left, NULL, false },
	{ PYOPERATOR_RIGHT, PYSLOT_RIGHT, checked_right, NULL, false },
};

static const struct computation *find(enum pyoperator operator)
{
	for (size_t i = 0; i < ARRAY_LENGTH(computations); i++)
		if (computations[i].operator == operator)
			return &computations[i];
	return NULL;
}

static int refuse_element(struct pyevaluation *evaluation,
			  const struct pyvalue *element)
{
	return error_set(evaluation->error,
			 "A %s computes in a type of its own: compute with its "
			 ".item().",
			 element->element.name);
}

static int refuse(struct pyevaluation *evaluation, const char *operator,
		  const struct pyvalue *left, const struct pyvalue *right)
{
	if (left->kind == PYVALUE_ELEMENT || right->kind == PYVALUE_ELEMENT)
		return refuse_element(evaluation,
				      left->kind == PYVALUE_ELEMENT ? left
								    : right);
	return error_set(evaluation->error,
			 "\"%s\" of %s and %s is not computed from outside: "
			 "it is for numbers only.",
			 operator, pyvalue_type_name(evaluation, left),
			 pyvalue_type_name(evaluation, right));
}

static int refuse_large(struct pyevaluation *evaluation, const char *operator)
{
	return error_set(evaluation->error,
			 "\"%s\" leaves what is computed from outside: whole "
			 "numbers of 64 bits.",
			 operator);
}

/* A number whose class computes as int or float does. */
static bool is_plain(struct pyevaluation *evaluation,
		     const struct pyvalue *value, enum pyslot slot)
{
	if (!pyvalue_is_integer(value) && value->kind != PYVALUE_FLOAT)
		return false;
	return !value->address || pyslot_is_kept(evaluation->reader,
						 value->type, value->base,
						 slot);
}

static int to_double(struct pyevaluation *evaluation,
		     const struct pyvalue *value, const char *operator,
		     double *number)
{
	int64_t whole;

	if (value->kind == PYVALUE_FLOAT) {
		*number = value->number;
		return 0;
	}
	if (pybig_get(&value->integer, &whole))
		return refuse_large(evaluation, operator);
	*number = (double)whole;
	return 0;
}

static int compute_float(struct pyevaluation *evaluation,
			 const struct computation *computation,
			 const struct pyvalue *left,
			 const struct pyvalue *right, struct pyvalue *result)
{
	const char *name = pyoperator_name(computation->operator);
	double a = 0, b = 0;

	if (to_double(evaluation, left, name, &a) ||
	    to_double(evaluation, right, name, &b))
		return -1;
	if (computation->is_division && b == 0)
		return error_set(evaluation->error, "Division by zero.");
	pyvalue_set_float(result, computation->real(a, b));
	return 0;
}

/* int / int: exact numbers, or the quotient would be rounded twice. */
static int divide_integers(struct pyevaluation *evaluation, int64_t left,
			   int64_t right, struct pyvalue *result)
{
	if (left > EXACT_MAXIMUM || left < -EXACT_MAXIMUM ||
	    right > EXACT_MAXIMUM || right < -EXACT_MAXIMUM)
		return refuse_large(evaluation, "/");
	pyvalue_set_float(result, (double)left / (double)right);
	return 0;
}

static int compute_integer(struct pyevaluation *evaluation,
			   const struct computation *computation,
			   const struct pyvalue *left,
			   const struct pyvalue *right, struct pyvalue *result)
{
	const char *name = pyoperator_name(computation->operator);
	bool are_booleans = left->kind == PYVALUE_BOOLEAN &&
			    right->kind == PYVALUE_BOOLEAN;
	int64_t a = 0, b = 0, number;

	if (pybig_get(&left->integer, &a) || pybig_get(&right->integer, &b))
		return refuse_large(evaluation, name);
	if (computation->is_division && b == 0)
		return error_set(evaluation->error, "Division by zero.");
	if (!computation->whole)
		return divide_integers(evaluation, a, b, result);
	if (computation->whole(a, b, &number))
		return refuse_large(evaluation, name);
	pyvalue_set_integer(evaluation, result, number);
	if (are_booleans && (computation->slot == PYSLOT_AND ||
			     computation->slot == PYSLOT_OR ||
			     computation->slot == PYSLOT_XOR))
		result->kind = PYVALUE_BOOLEAN;
	return 0;
}

int pyvalue_compute(struct pyevaluation *evaluation, enum pyoperator operator,
		    const struct pyvalue *left, const struct pyvalue *right,
		    struct pyvalue *result)
{
	const struct computation *computation = find(operator);

	if (!computation || !is_plain(evaluation, left, computation->slot) ||
	    !is_plain(evaluation, right, computation->slot))
		return refuse(evaluation, pyoperator_name(operator), left,
			      right);
	if (pyvalue_is_integer(left) && pyvalue_is_integer(right))
		return compute_integer(evaluation, computation, left, right,
				       result);
	if (!computation->real)
		return refuse(evaluation, pyoperator_name(operator), left,
			      right);
	return compute_float(evaluation, computation, left, right, result);
}

int pyvalue_negate(struct pyevaluation *evaluation, enum pyoperator operator,
		   const struct pyvalue *operand, struct pyvalue *result)
{
	enum pyslot slot = PYSLOT_INVERT;
	int64_t number;

	if (operator == PYOPERATOR_SUBTRACT)
		slot = PYSLOT_NEGATIVE;
	else if (operator == PYOPERATOR_ADD)
		slot = PYSLOT_POSITIVE;
	if (operand->kind == PYVALUE_ELEMENT)
		return refuse_element(evaluation, operand);
	if (!is_plain(evaluation, operand, slot) ||
	    (operator == PYOPERATOR_INVERT && !pyvalue_is_integer(operand)))
		return error_set(evaluation->error,
				 "\"%s\" of %s is not computed from outside: "
				 "it is for numbers only.",
				 pyoperator_name(operator),
				 pyvalue_type_name(evaluation, operand));
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
	if (pybig_get(&operand->integer, &number))
		return refuse_large(evaluation, "~");
	pyvalue_set_integer(evaluation, result, -1 - number);
	return 0;
}
