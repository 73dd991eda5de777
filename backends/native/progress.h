/*
 * progress: how far a job of another thread has come. Both threads may call
 * any of these at any time.
 */
#ifndef BACKENDS_NATIVE_PROGRESS_H
#define BACKENDS_NATIVE_PROGRESS_H

#include <pthread.h>

struct progress_state {
	int done;
	int total; /* 0: there is nothing to be shown */
	char what[128];
};

struct progress {
	pthread_mutex_t mutex;
	struct progress_state state;
};

void progress_init(struct progress *progress);
void progress_clear(struct progress *progress);
/* Begins a count; 0: it is over. */
void progress_start(struct progress *progress, int total);
/* What is being done now, and that one more has been done. */
void progress_say(struct progress *progress, const char *what);
void progress_step(struct progress *progress);
struct progress_state progress_get(struct progress *progress);

#endif
