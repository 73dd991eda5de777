/* pyexception: finds the exception that a frame handles, and the exception that a thread is
 * raising. */
#ifndef BACKENDS_CPYTHON_PYEXCEPTION_H
#define BACKENDS_CPYTHON_PYEXCEPTION_H

#include <stdbool.h>
#include <stdint.h>

struct buffer;
struct pyreader;
struct pywalk;

/*
 * Returns the address of the exception that the frame handles, which is the exception whose
 * traceback begins in that frame; 0: none. entry: the first _PyErr_StackItem to search, of a thread
 * or a coroutine. is_newest: frame is the newest of its thread, so an exception without a traceback
 * also counts as handled by it.
 */
uint64_t pyexception_handled(struct pyreader *reader, uint64_t entry, uint64_t frame,
			     bool is_newest);
/* Return the address of the _PyErr_StackItem of a thread (given its thread state) and of a
 * coroutine, respectively; 0: unreadable. */
uint64_t pyexception_of_thread(struct pyreader *reader, uint64_t thread);
uint64_t pyexception_of_coroutine(const struct pyreader *reader, uint64_t coroutine);
/*
 * True for an exception whose traceback begins with a program's first frame: nothing has handled
 * it.
 */
bool pyexception_has_left_program(struct pyreader *reader, uint64_t exception);
/*
 * Appends the exception as a traceback's last line has it, "ValueError: bad batch"; if it has other
 * arguments than one string, "OSError(2, 'No such file')". The length is bounded.
 */
void pyexception_append(struct pyreader *reader, uint64_t exception, struct buffer *out);
/*
 * Replaces *walk by the exception's traceback, the innermost frame first; of a very long one
 * the outermost ones are dropped. It is empty if not all can be read. Only address, code and
 * position of the frames are set.
 */
void pyexception_walk(struct pyreader *reader, uint64_t exception, struct pywalk *walk);
/* Returns the address of the exception that the thread is raising now; 0: none. */
uint64_t pyexception_raised(struct pyreader *reader, uint64_t thread);

#endif
