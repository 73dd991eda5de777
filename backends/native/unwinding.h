/*
 * unwinding: makes native frames with names from captures of one process's threads. Runs in the
 * thread pool, and reads nothing of the process but its maps and, of sleeping threads, more of
 * their stacks.
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

/* Data of one process that is kept between its jobs. */
struct unwound_process {
	pid_t pid;
	uint64_t interpreter; /* an address in the interpreter's file */
	struct maps maps;
	double maps_time;    /* time when maps were read; 0: never */
	unsigned generation; /* images_generation() of the images in maps */
};

struct unwinding {
	const struct unwind_module *module;
	struct images *images;
	const atomic_bool *is_cancelled;
	struct progress *progress;
	double began;	 /* time of the job's start, as loop_now() */
	double deadline; /* time after which threads stay without native frames */
};

/* Unwinds and names the frames of all captures. */
void unwinding_run(const struct unwinding *unwinding, struct unwound_process *process,
		   struct capture *captures, size_t count);

#endif
