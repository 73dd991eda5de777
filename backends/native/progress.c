#include "backends/native/progress.h"

#include "banned.h"

void progress_init(struct progress *progress)
{
	*progress = (struct progress){ .mutex = PTHREAD_MUTEX_INITIALIZER };
}

void progress_clear(struct progress *progress)
{
	pthread_mutex_destroy(&progress->mutex);
}

void progress_start(struct progress *progress, int total)
{
	pthread_mutex_lock(&progress->mutex);
	progress->state = (struct progress_state){ .total = total };
	pthread_mutex_unlock(&progress->mutex);
}

void progress_say(struct progress *progress, const char *what)
{
	pthread_mutex_lock(&progress->mutex);
	snprintf(progress->state.what, sizeof(progress->state.what), "%s", what);
	pthread_mutex_unlock(&progress->mutex);
}

void progress_step(struct progress *progress)
{
	pthread_mutex_lock(&progress->mutex);
	progress->state.done++;
	pthread_mutex_unlock(&progress->mutex);
}

struct progress_state progress_get(struct progress *progress)
{
	struct progress_state state;

	pthread_mutex_lock(&progress->mutex);
	state = progress->state;
	pthread_mutex_unlock(&progress->mutex);
	return state;
}
