/*
 * pyplace: where code is, as " at train.py:12": the file's name without its
 * folders and a line.
 */
#ifndef BACKENDS_CPYTHON_PYPLACE_H
#define BACKENDS_CPYTHON_PYPLACE_H

#include <stdbool.h>
#include <stdint.h>

struct pywriter;

/* The first line of a code object; -1 and nothing written: there is none. */
int pyplace_write_first(struct pywriter *writer, uint64_t code);
/*
 * Writes the frame's line, or the function's first line if the frame has not begun; -1: the line is
 * unknown, nothing is written.
 */
int pyplace_write(struct pywriter *writer, uint64_t frame, bool has_begun);

#endif
