/*
 * pynumber: int of any size, bool, float and complex
 * (Include/cpython/longintrepr.h, Objects/floatobject.c).
 */
#ifndef BACKENDS_PTRACE_PYNUMBER_H
#define BACKENDS_PTRACE_PYNUMBER_H

#include <stdint.h>

struct pywriter;

void pyinteger_write(struct pywriter *writer, uint64_t address);
void pyboolean_write(struct pywriter *writer, uint64_t address);
void pyfloat_write(struct pywriter *writer, uint64_t address);
void pycomplex_write(struct pywriter *writer, uint64_t address);

#endif
