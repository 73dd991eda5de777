/*
 * pythread: the names of threads as the threading module knows them
 * (threading._active and Thread._name, Lib/threading.py).
 */
#ifndef BACKENDS_CPYTHON_PYTHREAD_H
#define BACKENDS_CPYTHON_PYTHREAD_H

#include <stdint.h>

struct pyreader;

/*
 * Calls each for every thread that has a name. ident is the thread's
 * pthread_t, the tstate's thread_id; name is UTF-8 and lent for the call.
 * Returns how many there were, -1 when threading is not imported or its table
 * cannot be read.
 */
int pythread_names(struct pyreader *reader, uint64_t interpreter,
		   void (*each)(uint64_t ident, const char *name, void *data), void *data);

#endif
