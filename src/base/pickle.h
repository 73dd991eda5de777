/*
 * pickle: reads Python's pickle format, protocol 2, as far as plain data needs it: dicts with
 * string keys, lists, tuples, strings, numbers, True, False and None. torch's C++ code writes such
 * pickles (torch/csrc/jit/serialization/pickler.cpp), and so does pickle.dumps(…, protocol=2).
 *
 * A pickle is a program for a stack machine, and may come from anybody. No Python object is named,
 * made or called: an opcode that does so is an error. Memory, nesting and time are bounded, also
 * for a pickle that shares one list a million times, or that contains itself.
 */
#ifndef BASE_PICKLE_H
#define BASE_PICKLE_H

#include <jansson.h>
#include <stdint.h>
#include <stddef.h>

struct error;

/* Maximum memory of a value, in bytes. */
#define PICKLE_MEMORY_MAXIMUM (UINT64_C(512) << 20)

/*
 * Returns a new value; NULL and *error: the bytes are no pickle, or a pickle of other things than
 * plain data. A tuple becomes an array; None, NaN and infinities become null; a string ends at a
 * NUL, and bytes in it that are not UTF-8 become U+FFFD. Parts that the pickle shares are shared in
 * the value: they must not be changed. Bytes behind the pickle are ignored.
 */
json_t *pickle_parse(const void *bytes, size_t length, struct error *error);

#endif
