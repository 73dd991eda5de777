/*
 * pycompare: what comparing and computing with values comes to in Python, as
 * far as no code of the program has to run for it.
 */
#ifndef BACKENDS_EXPRESSION_PYCOMPARE_H
#define BACKENDS_EXPRESSION_PYCOMPARE_H

#include <stdint.h>

#include "backends/expression/pysyntax.h"

struct pyevaluation;
struct pyvalue;

/* In *order: NaN is neither less, equal nor greater. */
#define PYNUMBER_UNORDERED 2

/* Of int, bool and float: < 0, 0, > 0 or PYNUMBER_UNORDERED, exactly. */
int pynumber_order(const struct pyvalue *left, const struct pyvalue *right);
/* Whether they are equal: 1, 0, or -1 and a sentence. */
int pyvalue_is_equal(struct pyevaluation *evaluation, const struct pyvalue *left,
		     const struct pyvalue *right);
/* The same, where an object equals itself whatever it says (in lists). */
int pyvalue_is_same_or_equal(struct pyevaluation *evaluation, const struct pyvalue *left,
			     const struct pyvalue *right);
/* left OPERATOR right of a comparison: 1, 0, or -1 and a sentence. */
int pyvalue_compare(struct pyevaluation *evaluation, enum pyoperator operator,
		    const struct pyvalue * left, const struct pyvalue *right);
/* item in container: 1, 0, or -1 and a sentence. */
int pyvalue_contains(struct pyevaluation *evaluation, const struct pyvalue *container,
		     const struct pyvalue *item);
/*
 * Where the value of the key stands in a dict: 1, 0: there is no such key, -1
 * and a sentence.
 */
int pykey_find(struct pyevaluation *evaluation, const struct pyvalue *dict,
	       const struct pyvalue *key, uint64_t *place);
/* Whether a set has it: 1, 0, or -1 and a sentence. */
int pykey_is_in_set(struct pyevaluation *evaluation, const struct pyvalue *set,
		    const struct pyvalue *key);
/* Of numbers; -1 and a sentence. */
int pyvalue_compute(struct pyevaluation *evaluation, enum pyoperator operator,
		    const struct pyvalue * left, const struct pyvalue *right,
		    struct pyvalue *result);
int pyvalue_negate(struct pyevaluation *evaluation, enum pyoperator operator,
		   const struct pyvalue * operand, struct pyvalue *result);

/* -1: it does not fit. */
int pychecked_add(int64_t left, int64_t right, int64_t *sum);
int pychecked_multiply(int64_t left, int64_t right, int64_t *product);

#endif
