/* pyexception: exceptions, and the exception that a frame handles. */
#ifndef BACKENDS_CPYTHON_PYEXCEPTION_H
#define BACKENDS_CPYTHON_PYEXCEPTION_H

#include <stdbool.h>
#include <stdint.h>

struct pyreader;

/*
 * Address of the exception that the frame handles: the one whose traceback begins in frame. entry:
 * the first _PyErr_StackItem to search, of a thread or a coroutine. is_newest: frame is its
 * thread's newest, so it also gets an exception without a traceback. 0: none.
 */
uint64_t pyexception_handled(struct pyreader *reader, uint64_t entry, uint64_t frame,
			     bool is_newest);
/* The _PyErr_StackItem of a thread (by its thread state) and of a coroutine; 0: unreadable. */
uint64_t pyexception_of_thread(struct pyreader *reader, uint64_t thread);
uint64_t pyexception_of_coroutine(const struct pyreader *reader, uint64_t coroutine);
/* The exception that the thread is raising now; 0: none. */
uint64_t pyexception_raised(struct pyreader *reader, uint64_t thread);

#endif
