#include "backends/expression/pycompare.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "backends/cpython/pyobject.h"
#include "backends/expression/pyelement.h"
#include "backends/expression/pyvalue.h"
#include "banned.h"
#include "base/array.h"
#include "base/error.h"

/* Maximum number of items of a list, tuple or deque that is compared. */
#define ITEMS_MAXIMUM 100000
/* Maximum depth of nested sequences; Python itself allows some hundreds. */
#define DEPTH_MAXIMUM 100

static bool pycompare_is_number(const struct pyvalue *value)
{
	return pyvalue_is_integer(value) || value->kind == PYVALUE_FLOAT;
}

int pynumber_order(const struct pyvalue *left, const struct pyvalue *right)
{
	bool is_left_whole = pyvalue_is_integer(left);
	bool is_right_whole = pyvalue_is_integer(right);

	if (is_left_whole && is_right_whole)
		return pybig_compare(&left->integer, &right->integer);
	if ((!is_left_whole && isnan(left->number)) || (!is_right_whole && isnan(right->number)))
		return PYNUMBER_UNORDERED;
	if (is_left_whole)
		return pybig_compare_double(&left->integer, right->number);
	if (is_right_whole)
		return -pybig_compare_double(&right->integer, left->number);
	return (left->number > right->number) - (left->number < right->number);
}

/*
 * Result of each operator for the four orders of the operands: left is less than right, equal,
 * greater, unordered.
 */
static const struct {
	enum pyoperator operator;
	bool is_true[4];
} orders[] = {
	{ PYOPERATOR_EQUAL, { false, true, false, false } },
	{ PYOPERATOR_NOT_EQUAL, { true, false, true, true } },
	{ PYOPERATOR_LESS, { true, false, false, false } },
	{ PYOPERATOR_LESS_EQUAL, { true, true, false, false } },
	{ PYOPERATOR_GREATER, { false, false, true, false } },
	{ PYOPERATOR_GREATER_EQUAL, { false, true, true, false } },
};

static bool is_true_of(enum pyoperator operator, int order)
{
	int column = order == PYNUMBER_UNORDERED ? 3 : (order > 0) - (order < 0) + 1;

	for (size_t i = 0; i < ARRAY_LENGTH(orders); i++)
		if (orders[i].operator == operator)
			return orders[i].is_true[column];
	return false;
}

/*
 * True if a comparison runs only known code: the builtin type's comparison, or object's, which
 * compares identity.
 */
static bool pycompare_is_known(struct pyevaluation *evaluation, const struct pyvalue *value)
{
	uint64_t function;

	if (!value->address || value->type == value->base)
		return value->kind != PYVALUE_OBJECT ||
		       pyslot_is_kept(evaluation->reader, value->type, value->base, PYSLOT_COMPARE);
	if (value->kind == PYVALUE_OBJECT &&
	    !pyslot_read(evaluation->reader, value->type, PYSLOT_COMPARE, &function) && !function)
		return true;
	return pyslot_is_kept(evaluation->reader, value->type, value->base, PYSLOT_COMPARE);
}

static int pycompare_refuse_own(struct pyevaluation *evaluation, const struct pyvalue *value)
{
	return error_set(evaluation->error,
			 "cannot compare %s without an agent (code of the class would run in the "
			 "process; \"is\" compares only identity)",
			 pyvalue_type_name(evaluation, value));
}

static int check_known(struct pyevaluation *evaluation, const struct pyvalue *left,
		       const struct pyvalue *right)
{
	const struct pyvalue *both[] = { left, right };

	for (int i = 0; i < 2; i++) {
		if (both[i]->kind == PYVALUE_TENSOR || both[i]->kind == PYVALUE_ARRAY)
			return error_set(evaluation->error,
					 "comparing a whole %s is not supported without an agent: "
					 "compare .item() or an element",
					 pyvalue_type_name(evaluation, both[i]));
		if (both[i]->kind != PYVALUE_ELEMENT && !pycompare_is_known(evaluation, both[i]))
			return pycompare_refuse_own(evaluation, both[i]);
	}
	return 0;
}

/* Returns < 0, 0, > 0 for two str or bytes; sets *result to -1 on an error, else to 0. */
static int order_characters(struct pyevaluation *evaluation, const struct pyvalue *left,
			    const struct pyvalue *right, int *result)
{
	const uint32_t *a, *b;
	size_t a_count, b_count;

	*result = pyvalue_characters(evaluation, left, &a, &a_count) ||
				  pyvalue_characters(evaluation, right, &b, &b_count)
			  ? -1
			  : 0;
	if (*result)
		return 0;
	for (size_t i = 0; i < a_count && i < b_count; i++)
		if (a[i] != b[i])
			return a[i] < b[i] ? -1 : 1;
	return (a_count > b_count) - (a_count < b_count);
}

static int refuse_order(struct pyevaluation *evaluation, enum pyoperator operator,
			const struct pyvalue * left, const struct pyvalue *right)
{
	return error_set(evaluation->error, "\"%s\" is not supported between %s and %s",
			 pyoperator_name(operator), pyvalue_type_name(evaluation, left),
			 pyvalue_type_name(evaluation, right));
}

static bool is_equality(enum pyoperator operator)
{
	return operator == PYOPERATOR_EQUAL || operator == PYOPERATOR_NOT_EQUAL;
}

/* Like list_richcompare: the first pair of different items decides. */
static int compare_sequences(struct pyevaluation *evaluation, enum pyoperator operator,
			     const struct pyvalue * left, const struct pyvalue *right)
{
	int64_t counts[2] = { pyvalue_length(evaluation, left), pyvalue_length(evaluation, right) };
	int64_t count = counts[0] < counts[1] ? counts[0] : counts[1];

	if (count < 0)
		return -1;
	if (counts[0] != counts[1] && is_equality(operator))
		return operator == PYOPERATOR_NOT_EQUAL;
	if (count > ITEMS_MAXIMUM)
		return error_set(evaluation->error,
				 "a sequence of %" PRId64
				 " items is too long to compare without an agent",
				 count);
	for (int64_t i = 0; i < count; i++) {
		struct pyvalue a, b;
		int is_same;

		if (pyvalue_item(evaluation, left, i, &a) || pyvalue_item(evaluation, right, i, &b))
			return -1;
		is_same = pyvalue_is_same_or_equal(evaluation, &a, &b);
		if (is_same < 0)
			return -1;
		if (is_same)
			continue;
		if (is_equality(operator))
			return operator == PYOPERATOR_NOT_EQUAL;
		return pyvalue_compare(evaluation, operator, & a, &b);
	}
	return is_true_of(operator,(counts[0] > counts[1]) - (counts[0] < counts[1]));
}

/*
 * Compares a set literal with a set of the process: every item of the literal must be in the set,
 * and literal and set must have the same number of different items.
 */
static int compare_sets(struct pyevaluation *evaluation, enum pyoperator operator,
			const struct pyvalue * left, const struct pyvalue *right)
{
	const struct pyvalue *written = left->address ? right : left;
	const struct pyvalue *other = left->address ? left : right;
	int64_t count = 0;

	if (!is_equality(operator) || written->address || !other->address)
		return error_set(evaluation->error, "without an agent, a set can only be compared "
						    "by == or != with a set literal");
	for (size_t i = 0; i < written->count; i++) {
		bool is_again = false;
		int is_in = pyvalue_contains(evaluation, other, &written->items[i]);

		for (size_t at = 0; at < i && is_in > 0 && !is_again; at++)
			is_again = pyvalue_is_same_or_equal(evaluation, &written->items[at],
							    &written->items[i]) > 0;
		if (is_in <= 0)
			return is_in < 0 ? -1 : operator == PYOPERATOR_NOT_EQUAL;
		count += !is_again;
	}
	return (pyvalue_length(evaluation, other) == count) == (operator == PYOPERATOR_EQUAL);
}

static int pycompare_compare_elements(struct pyevaluation *evaluation, enum pyoperator operator,
				      const struct pyvalue * left, const struct pyvalue *right)
{
	int order, result;

	if (left->kind == PYVALUE_ELEMENT) {
		result = pyelement_compare(evaluation, left, right, &order);
	} else {
		result = pyelement_compare(evaluation, right, left, &order);
		order = order == PYNUMBER_UNORDERED ? order : -order;
	}
	return result < 0 ? -1 : is_true_of(operator, order);
}

/* Compares two values of the same kind, other than PYVALUE_OBJECT. */
static int compare_kind(struct pyevaluation *evaluation, enum pyoperator operator,
			const struct pyvalue * left, const struct pyvalue *right)
{
	int order, result;

	if (left->kind == PYVALUE_STRING || left->kind == PYVALUE_BYTES) {
		order = order_characters(evaluation, left, right, &result);
		return result < 0 ? -1 : is_true_of(operator, order);
	}
	if (left->kind == PYVALUE_TUPLE || left->kind == PYVALUE_LIST)
		return compare_sequences(evaluation, operator, left, right);
	if (left->kind == PYVALUE_SET)
		return compare_sets(evaluation, operator, left, right);
	if (left->kind == PYVALUE_NONE && is_equality(operator))
		return operator == PYOPERATOR_EQUAL;
	if (left->kind == PYVALUE_NONE)
		return refuse_order(evaluation, operator, left, right);
	return error_set(
		evaluation->error,
		"comparing two objects of %s is not supported without an agent: inject one",
		pyvalue_type_name(evaluation, left));
}

static bool is_identical(const struct pyvalue *left, const struct pyvalue *right)
{
	return left->address && left->address == right->address;
}

static int compare_known(struct pyevaluation *evaluation, enum pyoperator operator,
			 const struct pyvalue * left, const struct pyvalue *right)
{
	bool are_numbers = pycompare_is_number(left) && pycompare_is_number(right);

	if (check_known(evaluation, left, right))
		return -1;
	if (are_numbers)
		return is_true_of(operator, pynumber_order(left, right));
	if ((left->kind == PYVALUE_ELEMENT &&
	     (pycompare_is_number(right) || right->kind == PYVALUE_ELEMENT)) ||
	    (right->kind == PYVALUE_ELEMENT && pycompare_is_number(left)))
		return pycompare_compare_elements(evaluation, operator, left, right);
	if (left->kind == PYVALUE_ELEMENT || right->kind == PYVALUE_ELEMENT)
		return refuse_order(evaluation, operator, left, right);
	/* Only floats can differ from themselves, and numbers were compared above. */
	if (is_identical(left, right) && is_equality(operator))
		return operator == PYOPERATOR_EQUAL;
	if (left->kind == right->kind && left->kind != PYVALUE_OBJECT)
		return compare_kind(evaluation, operator, left, right);
	if (is_equality(operator))
		return operator == PYOPERATOR_NOT_EQUAL;
	return refuse_order(evaluation, operator, left, right);
}

static int pycompare_compare(struct pyevaluation *evaluation, enum pyoperator operator,
			     const struct pyvalue * left, const struct pyvalue *right)
{
	int result;

	if (evaluation->depth >= DEPTH_MAXIMUM)
		return error_set(
			evaluation->error,
			"the compared values are nested more than %d deep, or contain themselves",
			DEPTH_MAXIMUM);
	evaluation->depth++;
	result = compare_known(evaluation, operator, left, right);
	evaluation->depth--;
	return result;
}

int pyvalue_is_equal(struct pyevaluation *evaluation, const struct pyvalue *left,
		     const struct pyvalue *right)
{
	return pycompare_compare(evaluation, PYOPERATOR_EQUAL, left, right);
}

int pyvalue_is_same_or_equal(struct pyevaluation *evaluation, const struct pyvalue *left,
			     const struct pyvalue *right)
{
	if (is_identical(left, right))
		return 1;
	return pycompare_compare(evaluation, PYOPERATOR_EQUAL, left, right);
}

static bool is_singleton(const struct pyvalue *value)
{
	return value->kind == PYVALUE_NONE || value->kind == PYVALUE_BOOLEAN;
}

/* A list or set that the expression creates is identical to no other object. */
static bool pycompare_is_new(const struct pyvalue *value)
{
	return !value->address && (value->kind == PYVALUE_LIST || value->kind == PYVALUE_SET);
}

static int compare_identity(struct pyevaluation *evaluation, const struct pyvalue *left,
			    const struct pyvalue *right)
{
	if (left->address && right->address)
		return left->address == right->address;
	if (pycompare_is_new(left) || pycompare_is_new(right))
		return 0;
	if (is_singleton(left) || is_singleton(right))
		return left->kind == right->kind &&
		       pybig_compare(&left->integer, &right->integer) == 0;
	return error_set(evaluation->error,
			 "\"is\" compares identity, and %s is a computed value, not an object of "
			 "the process: use == to compare values",
			 left->address ? "the right side" : "the left side");
}

/*
 * Returns how many characters of part are matched after `character`, if `matched` of them were
 * matched before `character`.
 */
static size_t match_next(const uint32_t *part, const uint32_t *borders, size_t matched,
			 uint32_t character)
{
	while (matched && part[matched] != character)
		matched = borders[matched - 1];
	return matched + (part[matched] == character);
}

/*
 * True if whole contains part; searches by the algorithm of Knuth, Morris and Pratt, in linear
 * time.
 */
static bool has_part(const uint32_t *whole, size_t whole_count, const uint32_t *part,
		     size_t part_count, uint32_t *borders)
{
	size_t matched = 0;

	for (size_t i = 1; i < part_count; i++) {
		matched = match_next(part, borders, matched, part[i]);
		borders[i] = (uint32_t)matched;
	}
	matched = 0;
	for (size_t i = 0; i < whole_count && matched < part_count; i++)
		matched = match_next(part, borders, matched, whole[i]);
	return matched == part_count;
}

static int find_text(struct pyevaluation *evaluation, const struct pyvalue *whole,
		     const struct pyvalue *part)
{
	const uint32_t *a, *b;
	size_t a_count, b_count;

	if (part->kind != PYVALUE_STRING)
		return error_set(evaluation->error, "a str can contain only str, not %s",
				 pyvalue_type_name(evaluation, part));
	if (pyvalue_characters(evaluation, whole, &a, &a_count) ||
	    pyvalue_characters(evaluation, part, &b, &b_count))
		return -1;
	return has_part(a, a_count, b, b_count,
			pyevaluation_allocate(evaluation, b_count * sizeof(*b)));
}

static int find_item(struct pyevaluation *evaluation, const struct pyvalue *container,
		     const struct pyvalue *item)
{
	int64_t count = container->kind == PYVALUE_SET ? (int64_t)container->count
						       : pyvalue_length(evaluation, container);

	for (int64_t i = 0; i < count; i++) {
		struct pyvalue other;
		int is_it;

		if (i >= ITEMS_MAXIMUM)
			return error_set(evaluation->error,
					 "a %s of %" PRId64
					 " items is too long to search without an agent",
					 pyvalue_type_name(evaluation, container), count);
		if (container->address ? pyvalue_item(evaluation, container, i, &other)
				       : (other = container->items[i], 0))
			return -1;
		is_it = pyvalue_is_same_or_equal(evaluation, &other, item);
		if (is_it)
			return is_it;
	}
	return count < 0 ? -1 : 0;
}

static int is_in_range(struct pyevaluation *evaluation, const struct pyvalue *range,
		       const struct pyvalue *item)
{
	struct pyvalue first, last;
	int64_t count = pyvalue_length(evaluation, range);
	int64_t start, end, step, at;

	if (!pyvalue_is_integer(item))
		return find_item(evaluation, range, item);
	if (count <= 0)
		return count < 0 ? -1 : 0;
	if (pyvalue_item(evaluation, range, 0, &first) ||
	    pyvalue_item(evaluation, range, count - 1, &last))
		return -1;
	if (pybig_get(&item->integer, &at) || pybig_get(&first.integer, &start) ||
	    pybig_get(&last.integer, &end))
		return 0;
	if (at == start)
		return 1;
	if (count == 1 || (start < end ? at < start || at > end : at > start || at < end))
		return 0;
	step = (int64_t)(((uint64_t)end - (uint64_t)start)) / (count - 1);
	return ((int64_t)((uint64_t)at - (uint64_t)start)) % step == 0;
}

static int contains(struct pyevaluation *evaluation, const struct pyvalue *container,
		    const struct pyvalue *item)
{
	uint64_t place;

	switch (container->kind) {
	case PYVALUE_STRING:
		return find_text(evaluation, container, item);
	case PYVALUE_TUPLE:
	case PYVALUE_LIST:
	case PYVALUE_DEQUE:
		return find_item(evaluation, container, item);
	case PYVALUE_RANGE:
		return is_in_range(evaluation, container, item);
	case PYVALUE_DICT:
		return pykey_find(evaluation, container, item, &place);
	case PYVALUE_SET:
		if (container->address)
			return pykey_is_in_set(evaluation, container, item);
		return find_item(evaluation, container, item);
	case PYVALUE_OBJECT:
	case PYVALUE_NONE:
	case PYVALUE_BOOLEAN:
	case PYVALUE_INTEGER:
	case PYVALUE_FLOAT:
	case PYVALUE_BYTES:
	case PYVALUE_BUFFER:
	case PYVALUE_TENSOR:
	case PYVALUE_ARRAY:
	case PYVALUE_SERIES:
	case PYVALUE_ELEMENT:
		break;
	}
	return error_set(
		evaluation->error,
		"cannot search an object of %s without an agent (code would run in the process)",
		pyvalue_type_name(evaluation, container));
}

int pyvalue_contains(struct pyevaluation *evaluation, const struct pyvalue *container,
		     const struct pyvalue *item)
{
	if (container->address && container->kind != PYVALUE_OBJECT &&
	    !pyslot_is_kept(evaluation->reader, container->type, container->base, PYSLOT_CONTAINS))
		return error_set(evaluation->error,
				 "cannot search %s without an agent (its __contains__ would run in "
				 "the process)",
				 pyvalue_type_name(evaluation, container));
	return contains(evaluation, container, item);
}

int pyvalue_compare(struct pyevaluation *evaluation, enum pyoperator operator,
		    const struct pyvalue * left, const struct pyvalue *right)
{
	bool is_negated = operator == PYOPERATOR_IS_NOT || operator == PYOPERATOR_NOT_IN;
	int result;

	if (operator == PYOPERATOR_IS || operator == PYOPERATOR_IS_NOT)
		result = compare_identity(evaluation, left, right);
	else if (operator == PYOPERATOR_IN || operator == PYOPERATOR_NOT_IN)
		result = pyvalue_contains(evaluation, right, left);
	else
		return pycompare_compare(evaluation, operator, left, right);
	if (result < 0)
		return -1;
	return is_negated ? !result : result;
}
