/*
 * pep768: whether a CPython of 3.14 or later permits remote debugging (PEP 768).
 *
 * PEP 768 is not used to run scripts: CPython would import what it needs with the
 * __import__ of the current frame, and print an error where the frame has none
 * (collections.namedtuple()). Moreover the eval breaker, whose bits CPython changes
 * at any time, would have to be written from outside.
 */
#ifndef BACKENDS_INJECT_PEP768_H
#define BACKENDS_INJECT_PEP768_H

#include <stdbool.h>
#include <stdint.h>

struct cpython;
struct error;
struct memory;

/* False: not permitted, or unknown; error is set. True before 3.14. */
bool pep768_is_allowed(struct memory *memory, const struct cpython *python, uint64_t interpreter,
		       struct error *error);

#endif
