/*
 * debug-registers: the four watches of one thread, each a perf event of its own, kept
 * open and changed in place. They are ours alone: closed, or when we end, they
 * are gone from the thread.
 */
#ifndef BACKENDS_TRACER_DEBUG_REGISTERS_H
#define BACKENDS_TRACER_DEBUG_REGISTERS_H

#include <stdbool.h>
#include <signal.h>
#include <stddef.h>
#include <sys/types.h>

#include "backends/tracer/hardware-watch.h"

struct error;

struct slots {
	int fds[WATCH_SLOTS]; /* -1: never opened */
	struct watch watches[WATCH_SLOTS];
};

void slots_init(struct slots *slots);
/* Closes all. */
void slots_clear(struct slots *slots);
/* Whether any watch is set. */
bool slots_are_set(const struct slots *slots);
/*
 * Makes these the watches of the thread, which may run; those that are the
 * same are left alone. *changes grows by those made. -1 and a sentence: not
 * all of them are set.
 */
int slots_set(struct slots *slots, pid_t tid, const struct watch watches[WATCH_SLOTS],
	      size_t *changes, struct error *error);

enum slots_trap {
	SLOTS_NOT_OURS, /* the program's own signal */
	SLOTS_STALE,	/* a watch that has been changed since */
	SLOTS_FIRED,
	/*
	 * A debug exception that says nothing of its watch. *slot: the watch
	 * that it must be, or -1. The kernel has forced the signal: where
	 * SIGTRAP was ignored, it has its default action again.
	 */
	SLOTS_FORCED,
};

/*
 * What the signal SIGTRAP means that the thread stands for; *slot: which watch
 * fired. Of several that one instruction sets off only one is told of.
 */
enum slots_trap slots_trap(const struct slots *slots, pid_t tid, const siginfo_t *info, int *slot);

#endif
