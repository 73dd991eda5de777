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

void nap_begin(struct nap *nap)
{
	sigset_t child;

	make_child(&child);
	pthread_sigmask(SIG_BLOCK, &child, &nap->before);
	nap->nanoseconds = FIRST_NS;
	nap->was_woken = false;
}

void nap_sleep(struct nap *nap)
{
	const struct timespec longest = { .tv_nsec = nap->nanoseconds };
	sigset_t child;

	make_child(&child);
	if (sigtimedwait(&child, NULL, &longest) == SIGCHLD)
		nap->was_woken = true;
	else if (nap->nanoseconds < LONGEST_NS)
		nap->nanoseconds *= 2;
}

void nap_end(struct nap *nap)
{
	if (nap->was_woken)
		raise(SIGCHLD);
	pthread_sigmask(SIG_SETMASK, &nap->before, NULL);
}
