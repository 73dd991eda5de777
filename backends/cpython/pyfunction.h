/*
 * pyfunction: writes functions, methods, builtins and generators: their names, and the file and
 * line where a function is defined or a generator is suspended. "?" is written for what cannot be
 * read.
 */
#ifndef BACKENDS_CPYTHON_PYFUNCTION_H
#define BACKENDS_CPYTHON_PYFUNCTION_H

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

#endif
