/*
 * unwinding: from captures of one process's threads to native frames with
 * names. Runs in the thread pool and asks nothing of the process but its maps
 * and, of threads that sleep, more of their stacks.
 */
#ifndef BACKENDS_NATIVE_UNWINDING_H
#define BACKENDS_NATIVE_UNWINDING_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "backends/linux/maps.h"

struct capture;
struct images;
struct progress;
struct unwind_module;

/* What is kept of one process between its jobs. */
struct unwound_process {
	pid_t pid;
	uint64_t interpreter; /* an address in the interpreter's own file */
	struct maps maps;
	double maps_time;    /* when they were read; 0: never */
	unsigned generation; /* of the images that the maps point to */
};

struct unwinding {
	const struct unwind_module *module;
	struct images *images;
	const atomic_bool *is_cancelled;
	struct progress *progress;
	double began;	 /* of loop_now() */
	double deadline; /* what would be later stays without frames */
};

/* Unwinds and names all of them. */
void unwinding_run(const struct unwinding *unwinding, struct unwound_process *process,
		   struct capture *captures, size_t count);

#endif
