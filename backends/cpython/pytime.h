/*
 * pytime: writes the types of the module datetime (Include/datetime.h) as repr() does; "?" if
 * unreadable.
 */
#ifndef BACKENDS_CPYTHON_PYTIME_H
#define BACKENDS_CPYTHON_PYTIME_H

#include <stdint.h>

struct pywriter;

void pydate_write(struct pywriter *writer, uint64_t address);
void pytime_write(struct pywriter *writer, uint64_t address);
void pydatetime_write(struct pywriter *writer, uint64_t address);
void pytimedelta_write(struct pywriter *writer, uint64_t address);
void pytimezone_write(struct pywriter *writer, uint64_t address);

#endif
