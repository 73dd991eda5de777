/*
 * debug-registers: the four watches of one thread, each a perf event of its own, kept
 * open and changed in place. A watch ends when its descriptor is closed or the
 * process that opened it ends.
 */
#ifndef BACKENDS_TRACER_DEBUG_REGISTERS_H
#define BACKENDS_TRACER_DEBUG_REGISTERS_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct error;
struct perf_event_attr;
struct reason;

/*
 * A watch by the processor's debug registers in one thread, which has
 * four, set through perf_event_open(2) with sigtrap (Linux 5.13).
 *
 * The thread stops after an instruction that has written to the address or, with
 * HARDWARE_WATCH_ACCESS, has read or written; reads alone cannot be watched. With
 * HARDWARE_WATCH_EXECUTE it stops before the instruction.
 */

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

struct debug_registers {
	int fds[HARDWARE_WATCH_SLOTS]; /* -1: never opened */
	struct hardware_watch watches[HARDWARE_WATCH_SLOTS];
};

void debug_registers_init(struct debug_registers *slots);
/* Closes all. */
void debug_registers_clear(struct debug_registers *slots);
/* Whether any watch is set. */
bool debug_registers_are_set(const struct debug_registers *slots);
/*
 * Sets the watches of the thread, which may run; unchanged ones are left alone.
 * *changes grows by the number of changes. -1: not all are set, error says why.
 */
int debug_registers_set(struct debug_registers *slots, pid_t tid,
			const struct hardware_watch watches[HARDWARE_WATCH_SLOTS], size_t *changes,
			struct error *error);

enum debug_registers_trap {
	DEBUG_REGISTERS_NOT_OURS, /* the program's own signal */
	DEBUG_REGISTERS_STALE,	  /* a watch that has been changed since */
	DEBUG_REGISTERS_FIRED,
	/*
	 * A debug exception that does not name its watch. *slot: the only
	 * possible watch, or -1. The kernel has forced the signal: if SIGTRAP
	 * was ignored, it has its default action again.
	 */
	DEBUG_REGISTERS_FORCED,
};

/*
 * The meaning of the SIGTRAP for which the thread is stopped; *slot: the watch that
 * fired. Of several watches that fire at one instruction only one is reported.
 */
enum debug_registers_trap debug_registers_trap(const struct debug_registers *slots, pid_t tid,
					       const siginfo_t *info, int *slot);

/*
 * Hardware watches on a thread of another process, set through
 * perf_event_open(2) with sigtrap (Linux 5.13), which last as long as this process.
 */

/*
 * Fills in the attributes of a watch of length bytes (1, 2, 4 or 8) at address;
 * type is HW_BREAKPOINT_… of linux/hw_breakpoint.h. The watch is of one thread,
 * and ends at an exec.
 */
void perf_breakpoint_fill(struct perf_event_attr *attributes, uint64_t address, int length,
			  uint32_t type);
/* The watch's descriptor, or -1 with errno. */
int perf_breakpoint_open(pid_t tid, const struct perf_event_attr *attributes);

/*
 * Whether watches can be set: one is made, disabled, on the main thread of the
 * process and closed at once, so nothing ever stops there. False: the reason.
 */
bool perf_breakpoint_probe(pid_t pid, struct reason *reason);

#endif
