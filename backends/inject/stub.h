/*
 * stub: the few instructions that a process runs once, and then unmaps. What
 * is of one processor stands in arch-PROCESSOR.c alone.
 */
#ifndef BACKENDS_INJECT_STUB_H
#define BACKENDS_INJECT_STUB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct callees;

#define STUB_BYTES 4096 /* a page */
#define STUB_TEXT 256	/* where its text begins */

/*
 * Fills the page that is to lie at address: a function of one argument that
 * runs the text and returns 0. with_gil: it is a thread of its own, takes the
 * GIL for that, and waits a millisecond before: so long the thread that began
 * it, and that we hold, need not share a processor with it. -1: the text is
 * too long, or this processor is none we know.
 */
int stub_make(uint8_t page[STUB_BYTES], uint64_t address, const struct callees *callees,
	      const char *text, bool with_gil);

#endif
