/*
 * pyfunction: writes functions, methods, builtins and generators: their names, and the file and
 * line where a function is defined or a generator is suspended. Unreadable parts are written as
 * "?".
 */
#ifndef BACKENDS_CPYTHON_PYFUNCTION_H
#define BACKENDS_CPYTHON_PYFUNCTION_H

#include <stdbool.h>
#include <stdint.h>

struct pypage;
struct pyreader;
struct pywriter;

void pyfunction_write(struct pywriter *writer, uint64_t address);
/* A method's children: __self__ and __func__. */
int64_t pymethod_count(struct pyreader *reader, uint64_t address);
int pymethod_items(struct pypage *page, uint64_t address);
void pymethod_write(struct pywriter *writer, uint64_t address);
void pybuiltin_write(struct pywriter *writer, uint64_t address);
void pypartial_write(struct pywriter *writer, uint64_t address);
/* Generators, coroutines and asynchronous generators. */
void pygenerator_write(struct pywriter *writer, uint64_t address);

/*
 * pyplace: writes the location of code as " at train.py:12": the file name without folders, and the
 * line.
 */

/* Writes the location of a code object's first line. Returns -1, with nothing written, if it has
 * none. */
int pyplace_write_first(struct pywriter *writer, uint64_t code);
/*
 * Writes the location of the frame's line, or of the function's first line if the frame has not
 * begun. Returns -1, with nothing written, if the line is unknown.
 */
int pyplace_write(struct pywriter *writer, uint64_t frame, bool has_begun);

#endif
