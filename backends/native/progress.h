/* progress: how far a job of another thread is. Both threads may call any function at any time. */
#ifndef BACKENDS_NATIVE_PROGRESS_H
#define BACKENDS_NATIVE_PROGRESS_H

#include <pthread.h>

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
/* Starts a count; total 0: the job is over. */
void progress_start(struct progress *progress, int total);
/* progress_say() names the current step, progress_step() counts a finished step. */
void progress_say(struct progress *progress, const char *what);
void progress_step(struct progress *progress);
struct progress_state progress_get(struct progress *progress);

#endif
