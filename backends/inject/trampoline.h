/*
 * trampoline: a page of instructions that the process runs once and then
 * unmaps. Only trampoline-PROCESSOR.c knows the instructions of a processor.
 */
#ifndef BACKENDS_INJECT_TRAMPOLINE_H
#define BACKENDS_INJECT_TRAMPOLINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct callees;

#define TRAMPOLINE_BYTES 4096 /* a page */
#define TRAMPOLINE_TEXT 256   /* offset of the text that the page runs */

/*
 * Fills the page, which will be mapped at the given address, with a function of one argument that
 * runs the text and returns 0. with_gil: the function will run in a new thread, and first waits 1
 * ms and takes the GIL; in that millisecond the node detaches from the thread that has started the
 * new thread. Returns -1 if the text is too long or the processor is unknown.
 */
int trampoline_make(uint8_t page[TRAMPOLINE_BYTES], uint64_t address, const struct callees *callees,
		    const char *text, bool with_gil);

#endif
