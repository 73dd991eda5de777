/*
 * pyenviron: the present environment of a Python program, as in os.environ (os.environ._data,
 * Lib/os.py). /proc/PID/environ only has the environment at the process's start; a rank made by
 * multiprocessing sets RANK later.
 */
#ifndef BACKENDS_CPYTHON_PYENVIRON_H
#define BACKENDS_CPYTHON_PYENVIRON_H

#include <stdint.h>

struct buffer;
struct pyreader;

/*
 * Appends the value of name, byte for byte. interpreter: address of the interpreter state. 0:
 * found; -1: no such variable, or os is not imported.
 */
int pyenviron_find(struct pyreader *reader, uint64_t interpreter, const char *name,
		   struct buffer *value);

#endif
