/*
 * hardware-watch: a watch by the processor's debug registers in one thread, which has
 * four, set through perf_event_open(2) with sigtrap (Linux 5.13).
 *
 * The thread stops after an instruction that has written to the address or, with
 * HARDWARE_WATCH_ACCESS, has read or written; reads alone cannot be watched. With
 * HARDWARE_WATCH_EXECUTE it stops before the instruction.
 */
#ifndef BACKENDS_TRACER_HARDWARE_WATCH_H
#define BACKENDS_TRACER_HARDWARE_WATCH_H

#include <stdbool.h>
#include <stdint.h>

#define HARDWARE_WATCH_SLOTS 4

enum hardware_watch_access {
	HARDWARE_WATCH_NONE, /* the slot is free */
	HARDWARE_WATCH_WRITE,
	HARDWARE_WATCH_ACCESS,
	HARDWARE_WATCH_EXECUTE, /* before the instruction there; length is 8 */
};

struct hardware_watch {
	uint64_t address; /* a multiple of length */
	int length;	  /* 1, 2, 4 or 8 bytes */
	enum hardware_watch_access access;
};

static inline bool hardware_watch_is_same(const struct hardware_watch *a,
					  const struct hardware_watch *b)
{
	return a->address == b->address && a->length == b->length && a->access == b->access;
}

#endif
