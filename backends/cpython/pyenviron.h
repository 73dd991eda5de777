/*
 * pyenviron: the environment a Python program has now, as os.environ shows
 * it (os.environ._data, Lib/os.py). The block in /proc/PID/environ is the one
 * the process was started with; a rank made by multiprocessing sets RANK
 * later.
 */
#ifndef BACKENDS_CPYTHON_PYENVIRON_H
#define BACKENDS_CPYTHON_PYENVIRON_H

#include <stdint.h>

struct buffer;
struct pyreader;

/*
 * Appends the value of name, byte for byte. interpreter is the address of the
 * interpreter's state. 0 found; -1: no such variable, or os is not imported.
 */
int pyenviron_find(struct pyreader *reader, uint64_t interpreter, const char *name,
		   struct buffer *value);

#endif
