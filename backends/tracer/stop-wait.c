#include "backends/tracer/stop-wait.h"

#include <time.h>

#include "banned.h"

#define FIRST_NS 100000 /* then twice as long each time, up to LONGEST_NS */
#define LONGEST_NS 2000000

static void make_child(sigset_t *child)
{
	sigemptyset(child);
	sigaddset(child, SIGCHLD);
}

void stop_wait_begin(struct stop_wait *stop_wait)
{
	sigset_t child;

	make_child(&child);
	pthread_sigmask(SIG_BLOCK, &child, &stop_wait->before);
	stop_wait->nanoseconds = FIRST_NS;
	stop_wait->was_woken = false;
}

void stop_wait_sleep(struct stop_wait *stop_wait)
{
	const struct timespec longest = { .tv_nsec = stop_wait->nanoseconds };
	sigset_t child;

	make_child(&child);
	if (sigtimedwait(&child, NULL, &longest) == SIGCHLD)
		stop_wait->was_woken = true;
	else if (stop_wait->nanoseconds < LONGEST_NS)
		stop_wait->nanoseconds *= 2;
}

void stop_wait_end(struct stop_wait *stop_wait)
{
	if (stop_wait->was_woken)
		raise(SIGCHLD);
	pthread_sigmask(SIG_SETMASK, &stop_wait->before, NULL);
}
