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

/* Maximum bytes of a frame, a code object and the head of a str, respectively, that are read at
 * once. */
#define OFFSETS_FRAME_BYTES 128
#define OFFSETS_CODE_BYTES 4096
#define OFFSETS_STRING_BYTES 64

#define OFFSETS_MINOR_FIRST 8
#define OFFSETS_MINOR_LAST 14

/* Returns the layout of 3.MINOR on x86-64; NULL: unknown version. */
const struct offsets *offsets_find(int minor);
/*
 * Replaces offsets by those in the process's _Py_DebugOffsets (3.13 and later), which is at the
 * address runtime. The process can write to that struct, so each offset is checked to lie within
 * its object. Returns 0, or -1 if there is no such struct or an offset is implausible: *offsets is
 * then unchanged.
 */
int offsets_override(struct offsets *offsets, int minor, struct memory *memory, uint64_t runtime);

#endif
