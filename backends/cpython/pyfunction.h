/*
 * pyfunction: writes functions, methods, builtins and generators: their names, and the file and
 * line where a function is defined or a generator is suspended. "?" is written for what cannot be
 * read.
 */
#ifndef BACKENDS_CPYTHON_PYFUNCTION_H
#define BACKENDS_CPYTHON_PYFUNCTION_H

#include <stdbool.h>
#include <stdint.h>

struct pypage;
struct pyreader;
struct pywriter;

void pyfunction_write(struct pywriter *writer, uint64_t address);
/* Children: __self__ and __func__. */
int64_t pymethod_count(struct pyreader *reader, uint64_t address);
int pymethod_items(struct pypage *page, uint64_t address);
void pymethod_write(struct pywriter *writer, uint64_t address);
void pybuiltin_write(struct pywriter *writer, uint64_t address);
void pypartial_write(struct pywriter *writer, uint64_t address);
/* Generators, coroutines and asynchronous generators. */
void pygenerator_write(struct pywriter *writer, uint64_t address);

/*
 * Writes the location of code as " at train.py:12": file name without folders, and line.
 */

/* Writes the first line of a code object; -1: none, nothing is written. */
int pyplace_write_first(struct pywriter *writer, uint64_t code);
/*
 * Writes the frame's line, or the function's first line if the frame has not begun; -1: the line is
 * unknown, nothing is written.
 */
int pyplace_write(struct pywriter *writer, uint64_t frame, bool has_begun);

#endif
