/*
 * pyexception: exceptions, and which one a frame handles.
 */
#ifndef BACKENDS_CPYTHON_PYEXCEPTION_H
#define BACKENDS_CPYTHON_PYEXCEPTION_H

#include <stdbool.h>
#include <stdint.h>

struct pyreader;

/*
 * The exception that the frame handles: its traceback begins there. entry is
 * where to look, of a thread or of a coroutine. With is_newest, when no frame
 * can be told for an exception, it is this one's. 0: none.
 */
uint64_t pyexception_handled(struct pyreader *reader, uint64_t entry, uint64_t frame,
			     bool is_newest);
/* Entries of a thread, by its state, and of a coroutine; 0: none. */
uint64_t pyexception_of_thread(struct pyreader *reader, uint64_t thread);
uint64_t pyexception_of_coroutine(const struct pyreader *reader, uint64_t coroutine);
/* The exception that the thread is just raising; 0: none. */
uint64_t pyexception_raised(struct pyreader *reader, uint64_t thread);

#endif
