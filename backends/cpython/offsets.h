/*
 * offsets: the built-in layouts, one for each minor version of CPython.
 *
 * offsets.inc and positions.inc are printed by offsets-gen.c, compiled against each version's
 * headers. The rows are constant.
 */
#ifndef BACKENDS_CPYTHON_OFFSETS_H
#define BACKENDS_CPYTHON_OFFSETS_H

#include <stdint.h>

struct memory;
struct offsets;

/* Maximum bytes fetched in one read of a frame, a code object and a str's head. */
#define OFFSETS_FRAME_BYTES 128
#define OFFSETS_CODE_BYTES 4096
#define OFFSETS_STRING_BYTES 64

#define OFFSETS_MINOR_FIRST 8
#define OFFSETS_MINOR_LAST 14

/* The layout of 3.MINOR on x86-64; NULL: unknown version. */
const struct offsets *offsets_find(int minor);
/*
 * Replaces offsets by those in the process's _Py_DebugOffsets at runtime (3.13 and later). The
 * process can write there, so each offset is checked to lie within its object. -1: no such struct,
 * or implausible offsets; *offsets is unchanged.
 */
int offsets_override(struct offsets *offsets, int minor, struct memory *memory, uint64_t runtime);

#endif
