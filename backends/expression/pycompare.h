/*
 * pycompare: compares and computes values as Python does, and refuses where code of the program
 * would have to run.
 *
 * "An error" in this header means that evaluation->error is set.
 */
#ifndef BACKENDS_EXPRESSION_PYCOMPARE_H
#define BACKENDS_EXPRESSION_PYCOMPARE_H

#include <stdint.h>

#include "backends/expression/pysyntax.h"

struct pyevaluation;
struct pyvalue;

/* The order of two numbers if one is NaN: neither less, equal nor greater. */
#define PYNUMBER_UNORDERED 2

/* Compares int, bool and float exactly: < 0, 0, > 0 or PYNUMBER_UNORDERED. */
int pynumber_order(const struct pyvalue *left, const struct pyvalue *right);
/* Whether left == right: 1, 0, or -1: an error. */
int pyvalue_is_equal(struct pyevaluation *evaluation, const struct pyvalue *left,
		     const struct pyvalue *right);
/* Like pyvalue_is_equal(), but an object always equals itself, as in a comparison of lists. */
int pyvalue_is_same_or_equal(struct pyevaluation *evaluation, const struct pyvalue *left,
			     const struct pyvalue *right);
/* Evaluates left OPERATOR right of a comparison: 1, 0, or -1: an error. */
int pyvalue_compare(struct pyevaluation *evaluation, enum pyoperator operator,
		    const struct pyvalue * left, const struct pyvalue *right);
/* Whether item is in container: 1, 0, or -1: an error. */
int pyvalue_contains(struct pyevaluation *evaluation, const struct pyvalue *container,
		     const struct pyvalue *item);
/*
 * Finds the address of the word that holds the key's value in a dict: 1: found, 0: no such key, -1:
 * an error.
 */
int pykey_find(struct pyevaluation *evaluation, const struct pyvalue *dict,
	       const struct pyvalue *key, uint64_t *place);
/* Whether the key is in the set: 1, 0, or -1: an error. */
int pykey_is_in_set(struct pyevaluation *evaluation, const struct pyvalue *set,
		    const struct pyvalue *key);
/*
 * Computes left OPERATOR right of numbers, or + of two str or two bytes. Returns 0, or -1: an
 * error.
 */
int pyvalue_compute(struct pyevaluation *evaluation, enum pyoperator operator,
		    const struct pyvalue * left, const struct pyvalue *right,
		    struct pyvalue *result);
int pyvalue_negate(struct pyevaluation *evaluation, enum pyoperator operator,
		   const struct pyvalue * operand, struct pyvalue *result);

/* Compute in int64_t. Returns 0, or -1: overflow. */
int pychecked_add(int64_t left, int64_t right, int64_t *sum);
int pychecked_multiply(int64_t left, int64_t right, int64_t *product);

#endif
