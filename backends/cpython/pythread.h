/*
 * pythread: the names of threads in the module threading (threading._active and Thread._name,
 * Lib/threading.py).
 */
#ifndef BACKENDS_CPYTHON_PYTHREAD_H
#define BACKENDS_CPYTHON_PYTHREAD_H

#include <stdint.h>

struct pyreader;

/*
 * Calls each for every named thread. ident: the thread's pthread_t, which is the thread state's
 * thread_id; name: UTF-8, valid during the call. Returns the number of named threads; -1: threading
 * is not imported, or its table is unreadable.
 */
int pythread_names(struct pyreader *reader, uint64_t interpreter,
		   void (*each)(uint64_t ident, const char *name, void *data), void *data);

#endif
