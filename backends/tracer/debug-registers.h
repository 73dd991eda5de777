/*
 * debug-registers: the four watches of one thread, each a perf event of its own, kept
 * open and changed in place. A watch ends when its descriptor is closed or the
 * process that opened it ends.
 */
#ifndef BACKENDS_TRACER_DEBUG_REGISTERS_H
#define BACKENDS_TRACER_DEBUG_REGISTERS_H

#include <stdbool.h>
#include <signal.h>
#include <stddef.h>
#include <sys/types.h>

#include "backends/tracer/hardware-watch.h"

struct error;

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

#endif
