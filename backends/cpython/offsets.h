/*
 * offsets: the checked-in layouts, one a minor version of CPython.
 *
 * offsets.inc and positions.inc are printed by offsets-gen.c, compiled against
 * each version's headers. Lent rows are constant.
 */
#ifndef BACKENDS_CPYTHON_OFFSETS_H
#define BACKENDS_CPYTHON_OFFSETS_H

#include <stdint.h>

struct memory;
struct offsets;

/* What is read at once of a frame, a code object, a str, at most. */
#define OFFSETS_FRAME_BYTES 128
#define OFFSETS_CODE_BYTES 4096
#define OFFSETS_STRING_BYTES 64

#define OFFSETS_MINOR_FIRST 8
#define OFFSETS_MINOR_LAST 14

/* The layout of 3.MINOR on x86-64, NULL when there is none. */
const struct offsets *offsets_find(int minor);
/*
 * Overrides what the interpreter says of itself in the _Py_DebugOffsets at
 * runtime (3.13 and later), which anybody there can write to. -1: they are
 * not there or make no sense; what is taken lies within its object.
 */
int offsets_override(struct offsets *offsets, int minor, struct memory *memory, uint64_t runtime);

#endif
