/*
 * hardware-watch: what the processor is to look out for in one thread: four of these
 * at a time, set through perf_event_open(2) with sigtrap (Linux 5.13).
 *
 * The thread stops after an instruction that wrote there, or (of
 * WATCH_ACCESS) read or wrote; there is no watch of reads alone. Of
 * WATCH_EXECUTE it stops before the instruction.
 */
#ifndef BACKENDS_TRACER_HARDWARE_WATCH_H
#define BACKENDS_TRACER_HARDWARE_WATCH_H

#include <stdbool.h>
#include <stdint.h>

#define WATCH_SLOTS 4

enum watch_access {
	WATCH_NONE, /* the slot is free */
	WATCH_WRITE,
	WATCH_ACCESS,
	WATCH_EXECUTE, /* before the instruction there; length is 8 */
};

struct watch {
	uint64_t address; /* a multiple of length */
	int length;	  /* 1, 2, 4 or 8 bytes */
	enum watch_access access;
};

static inline bool watch_is_same(const struct watch *a, const struct watch *b)
{
	return a->address == b->address && a->length == b->length && a->access == b->access;
}

#endif
