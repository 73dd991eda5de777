/*
 * pyplace: writes the location of code as " at train.py:12": file name without folders, and line.
 */
#ifndef BACKENDS_CPYTHON_PYPLACE_H
#define BACKENDS_CPYTHON_PYPLACE_H

#include <stdbool.h>
#include <stdint.h>

struct pywriter;

/* Writes the first line of a code object; -1: none, nothing is written. */
int pyplace_write_first(struct pywriter *writer, uint64_t code);
/*
 * Writes the frame's line, or the function's first line if the frame has not begun; -1: the line is
 * unknown, nothing is written.
 */
int pyplace_write(struct pywriter *writer, uint64_t frame, bool has_begun);

#endif
