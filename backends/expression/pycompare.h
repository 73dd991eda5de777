/*
 * pycompare: compares and computes values as Python does; refuses operations for which code of the
 * program would have to run.
 *
 * "An error" in this header means that evaluation->error is set.
 */
#ifndef BACKENDS_EXPRESSION_PYCOMPARE_H
#define BACKENDS_EXPRESSION_PYCOMPARE_H

#include <stdint.h>

#include "backends/expression/pysyntax.h"

struct pyevaluation;
struct pyvalue;

/* The result of pynumber_order() if a number is NaN: neither less, equal nor greater. */
#define PYNUMBER_UNORDERED 2

/* Compares int, bool and float exactly. Returns < 0, 0, > 0 or PYNUMBER_UNORDERED. */
int pynumber_order(const struct pyvalue *left, const struct pyvalue *right);
/* Returns 1 if left == right, 0 if not, -1 with an error. */
int pyvalue_is_equal(struct pyevaluation *evaluation, const struct pyvalue *left,
		     const struct pyvalue *right);
/* Like pyvalue_is_equal(), but an object always equals itself, as in a comparison of lists. */
int pyvalue_is_same_or_equal(struct pyevaluation *evaluation, const struct pyvalue *left,
			     const struct pyvalue *right);
/* Evaluates the comparison left OPERATOR right. Returns 1 (true), 0 (false), or -1 with an
 * error. */
int pyvalue_compare(struct pyevaluation *evaluation, enum pyoperator operator,
		    const struct pyvalue * left, const struct pyvalue *right);
/* Returns 1 if item is in container, 0 if not, -1 with an error. */
int pyvalue_contains(struct pyevaluation *evaluation, const struct pyvalue *container,
		     const struct pyvalue *item);
/*
 * Finds the address of the word that holds the key's value in a dict. Returns 1 if found, 0 if
 * there is no such key, -1 with an error.
 */
int pykey_find(struct pyevaluation *evaluation, const struct pyvalue *dict,
	       const struct pyvalue *key, uint64_t *place);
/* Returns 1 if the key is in the set, 0 if not, -1 with an error. */
int pykey_is_in_set(struct pyevaluation *evaluation, const struct pyvalue *set,
		    const struct pyvalue *key);
/*
 * Computes left OPERATOR right of two numbers, or the concatenation (+) of two str or two bytes.
 * Returns 0, or -1 with an error.
 */
int pyvalue_compute(struct pyevaluation *evaluation, enum pyoperator operator,
		    const struct pyvalue * left, const struct pyvalue *right,
		    struct pyvalue *result);
int pyvalue_negate(struct pyevaluation *evaluation, enum pyoperator operator,
		   const struct pyvalue *operand, struct pyvalue *result);

/* Compute in int64_t. Return 0, or -1 on overflow. */
int pychecked_add(int64_t left, int64_t right, int64_t *sum);
int pychecked_multiply(int64_t left, int64_t right, int64_t *product);

#endif
