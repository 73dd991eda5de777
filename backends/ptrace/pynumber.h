/*
 * pynumber: int of any size, bool, float and complex
 * (Include/cpython/longintrepr.h, Objects/floatobject.c).
 */
#ifndef BACKENDS_PTRACE_PYNUMBER_H
#define BACKENDS_PTRACE_PYNUMBER_H

#include <stdbool.h>
#include <stdint.h>

struct buffer;
struct pywriter;

/* Appends a number as repr() does: the shortest text that reads back. */
void pyfloat_put(struct buffer *out, double number, bool has_point);

void pyinteger_write(struct pywriter *writer, uint64_t address);
void pyboolean_write(struct pywriter *writer, uint64_t address);
void pyfloat_write(struct pywriter *writer, uint64_t address);
void pycomplex_write(struct pywriter *writer, uint64_t address);

#endif
