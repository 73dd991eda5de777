/*
 * debug-registers: the four watches of one thread, each a perf event, which is kept open and
 * changed in place. A watch ends when its descriptor is closed or this process exits.
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
 * A watch uses one of the four debug registers that the processor has for each thread, and is set
 * through perf_event_open(2) with sigtrap (Linux 5.13).
 *
 * With HARDWARE_WATCH_WRITE the thread stops after an instruction that has written to the address;
 * with HARDWARE_WATCH_ACCESS after an instruction that has read or written (reads alone cannot be
 * watched); with HARDWARE_WATCH_EXECUTE before the instruction at the address.
 */

#define HARDWARE_WATCH_SLOTS 4

enum hardware_watch_access {
	HARDWARE_WATCH_NONE, /* the slot is free */
	HARDWARE_WATCH_WRITE,
	HARDWARE_WATCH_ACCESS,
	HARDWARE_WATCH_EXECUTE, /* stops before the instruction; length is 8 */
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
/* Closes all watches. */
void debug_registers_clear(struct debug_registers *slots);
/* Whether any watch is set. */
bool debug_registers_are_set(const struct debug_registers *slots);
/*
 * Sets the watches of the thread, which may be running. Unchanged watches are left alone; the
 * number of changes is added to *changes. Returns 0, or -1 and sets error if not all watches could
 * be set.
 */
int debug_registers_set(struct debug_registers *slots, pid_t tid,
			const struct hardware_watch watches[HARDWARE_WATCH_SLOTS], size_t *changes,
			struct error *error);

enum debug_registers_trap {
	DEBUG_REGISTERS_NOT_OURS, /* the program's own signal */
	DEBUG_REGISTERS_STALE,	  /* from a watch that was changed after it fired */
	DEBUG_REGISTERS_FIRED,
	/*
	 * A debug exception that does not name its watch. *slot: the only possible watch, or -1.
	 * The kernel has forced the signal: if the process ignored SIGTRAP, the kernel has reset
	 * SIGTRAP to its default action.
	 */
	DEBUG_REGISTERS_FORCED,
};

/*
 * Returns the meaning of the SIGTRAP for which the thread is stopped, and sets *slot to the watch
 * that fired. Of several watches that fire at one instruction, only one is reported.
 */
enum debug_registers_trap debug_registers_trap(const struct debug_registers *slots, pid_t tid,
					       const siginfo_t *info, int *slot);

/*
 * perf_breakpoint: a hardware watch on a thread of another process through perf_event_open(2) with
 * sigtrap (Linux 5.13). The watch lasts as long as this process.
 */

/*
 * Fills in the attributes of a watch of length bytes (1, 2, 4 or 8) at address; type is
 * HW_BREAKPOINT_… of linux/hw_breakpoint.h. The watch will be in one thread only, and will end at
 * an exec.
 */
void perf_breakpoint_fill(struct perf_event_attr *attributes, uint64_t address, int length,
			  uint32_t type);
/* Opens a watch. Returns its descriptor, or -1 with errno. */
int perf_breakpoint_open(pid_t tid, const struct perf_event_attr *attributes);

/*
 * Whether watches can be set; if not, sets *reason. Opens a disabled watch, which cannot fire, on
 * the main thread of the process, and closes it at once.
 */
bool perf_breakpoint_probe(pid_t pid, struct reason *reason);

#endif
