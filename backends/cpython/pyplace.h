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
 * The line that the frame is at, the first one when it has not begun; -1 and
 * nothing written: it cannot be told.
 */
int pyplace_write(struct pywriter *writer, uint64_t frame, bool has_begun);

#endif
