/*
 * native: unwinds stacks and reads symbols on a second thread of the node, so that the loop never
 * waits for a file. Each process has at most one job at a time. Jobs run one after the other, and
 * only the running job uses its data.
 */
#ifndef BACKENDS_NATIVE_NATIVE_H
#define BACKENDS_NATIVE_NATIVE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "backends/linux/maps.h"

struct capture;
struct capture_set;
struct error;
struct images;
struct loop;
struct native;
struct native_process;
struct progress;
struct unwind_module;

/* progress: how far a job on another thread has got. Both threads may call these functions at any
 * time. */

struct progress_state {
	int done;
	int total; /* 0: nothing to show */
	char what[128];
};

struct progress {
	pthread_mutex_t mutex;
	struct progress_state state;
};

void progress_init(struct progress *progress);
void progress_clear(struct progress *progress);
/* Starts to count the job's steps, of which there are `total`; 0: the job is over. */
void progress_start(struct progress *progress, int total);
/* progress_say() sets the name of the current step, progress_step() counts a finished step. */
void progress_say(struct progress *progress, const char *what);
void progress_step(struct progress *progress);
struct progress_state progress_get(struct progress *progress);

/* say() is called some times per second while symbols are read, and once with total 0 at the
 * end. */
struct native *native_new(struct loop *loop,
			  void (*say)(const struct progress_state *state, void *data), void *data);
/*
 * To be called after native_process_free() for all processes, and before the loop is freed. Cancels
 * a running job; the loop does not end before the job has ended.
 */
void native_free(struct native *native);
/* Loads the unwinder. Returns 0, or -1 and sets error if native frames are unavailable. */
int native_open(struct native *native, struct error *error);

/*
 * interpreter: an address in the process at which the interpreter's file is mapped. The loop calls
 * done() with the captures of native_start(), which are unwound then, and borrowed during the call.
 */
struct native_process *native_process_new(struct native *native, pid_t pid, uint64_t interpreter,
					  void (*done)(struct capture_set *captures, void *data),
					  void *data);
/* Frees the process; done() is not called any more, even for a running job. */
void native_process_free(struct native_process *process);
bool native_is_busy(const struct native_process *process);
/* Starts a job; moves the captures out of *captures. The process must not be busy. */
void native_start(struct native_process *process, struct capture_set *captures);

/*
 * unwinding: makes native frames with names from captures of one process's threads. Runs in the
 * thread pool. Of the process, reads only the maps and, for sleeping threads, more of their stacks.
 */

/* Data of one process that is kept between its jobs. */
struct unwound_process {
	pid_t pid;
	uint64_t interpreter; /* an address at which the interpreter's file is mapped */
	struct maps maps;
	double maps_time;    /* time when maps were read; 0: never */
	unsigned generation; /* images_generation() when the images in maps were looked up */
};

struct unwinding {
	const struct unwind_module *module;
	struct images *images;
	const atomic_bool *is_cancelled;
	struct progress *progress;
	double began;	 /* loop_now() at the job's start */
	double deadline; /* loop_now() after which further threads get no native frames */
};

/* Unwinds and names the frames of all captures. */
void unwinding_run(const struct unwinding *unwinding, struct unwound_process *process,
		   struct capture *captures, size_t count);

#endif
