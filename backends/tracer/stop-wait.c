#include "backends/tracer/stop-wait.h"

#include <time.h>

#include "banned.h"

#define FIRST_NS 100000 /* then twice as long, up to */
#define LONGEST_NS 2000000

static void make_child(sigset_t *child)
{
	sigemptyset(child);
	sigaddset(child, SIGCHLD);
}

void stop_wait_begin(struct stop_wait *nap)
{
	sigset_t child;

	make_child(&child);
	pthread_sigmask(SIG_BLOCK, &child, &nap->before);
	nap->nanoseconds = FIRST_NS;
	nap->was_woken = false;
}

void stop_wait_sleep(struct stop_wait *nap)
{
	const struct timespec longest = { .tv_nsec = nap->nanoseconds };
	sigset_t child;

	make_child(&child);
	if (sigtimedwait(&child, NULL, &longest) == SIGCHLD)
		nap->was_woken = true;
	else if (nap->nanoseconds < LONGEST_NS)
		nap->nanoseconds *= 2;
}

void stop_wait_end(struct stop_wait *nap)
{
	if (nap->was_woken)
		raise(SIGCHLD);
	pthread_sigmask(SIG_SETMASK, &nap->before, NULL);
}
