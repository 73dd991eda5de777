/*
 * pep768: whether a CPython of 3.14 or later lets debuggers in (PEP 768).
 *
 * It is not asked to run a script that way: it would open the script by the
 * __import__ of whatever frame runs just then, and say on standard error that
 * it cannot where that has none, as that of collections.namedtuple(); and its
 * eval breaker, of which it changes bits at any time, would be written from
 * outside.
 */
#ifndef BACKENDS_INJECT_PEP768_H
#define BACKENDS_INJECT_PEP768_H

#include <stdbool.h>
#include <stdint.h>

struct cpython;
struct error;
struct memory;

/* False, and a sentence: it does not, or that is not found. */
bool pep768_is_allowed(struct memory *memory, const struct cpython *python, uint64_t interpreter,
		       struct error *error);

#endif
