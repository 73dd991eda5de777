/*
 * pycall: the C function that the newest frame of a Python thread calls, with the type of the
 * object whose method it is: "_thread.lock.acquire", "time.sleep".
 *
 * The callable lies on the frame's value stack until the call returns; bytecode.h says where. A
 * callable counts if it is of a type known here, with a readable name, and either has the name by
 * which the instructions before the call loaded it, or cannot have changed during the read. Else
 * the name in those instructions is given, with the type of the object where that can be read.
 */
#ifndef BACKENDS_CPYTHON_PYCALL_H
#define BACKENDS_CPYTHON_PYCALL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct code;
struct cpython;
struct frame;
struct memory;
struct pycall_cache;
struct pyframe;

/* A cache of code objects and their calls. memory and python are borrowed. */
struct pycall_cache *pycall_cache_new(struct memory *memory, const struct cpython *python);
void pycall_cache_free(struct pycall_cache *cache);
/*
 * Returns the call at the frame's position, a new text; NULL: the frame calls no C function, or it
 * is unknown. code: the contents of the frame's code object, by which a code object at a reused
 * address is noticed. is_still: the thread has not run since before the frame was read.
 */
char *pycall_read(struct pycall_cache *cache, const struct pyframe *frame, const struct code *code,
		  bool is_still);
/*
 * Returns a hash of the local variables and of the loops of the innermost frames (16 frames, 64
 * words of each), which differs if the thread has left the call and has entered it anew in a later
 * turn of a loop; 0: it could not be read. named: the same frames with their code.
 */
uint64_t pycall_values(struct pycall_cache *cache, const struct pyframe *frames,
		       const struct frame *named, size_t count);

#endif
