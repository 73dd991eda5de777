/*
 * errand: a thread of another process that stands is made to call the kernel,
 * and then a C function that may be called from a signal handler, and is put
 * back to where it was. It stands still for as few turns as can be: two for
 * the kernel, one for a function whatever that calls.
 *
 * The thread calls as a signal handler does, below its stack (arch.h). Behind
 * a function it sends itself a signal that means nothing to the program: for
 * us it stands then, and without us it comes back by itself. Its signals are
 * blocked meanwhile but that one, and those that the C library keeps for all
 * threads.
 *
 * Who is killed in between leaves a thread that does what it was told and then
 * comes back by itself, at any moment. A wait that it was in begins again with
 * all of its time, where the kernel counts that (nanosleep, poll): from
 * errand_ready() to errand_end() this is the one thing that is lost.
 */
#ifndef BACKENDS_INJECT_ERRAND_H
#define BACKENDS_INJECT_ERRAND_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "backends/control/arch.h"

struct error;

/* Found before anything stands. */
struct errand_places {
	struct arch_places code;
	uint64_t send; /* raise(3) */
	int signal;
	pid_t inner; /* the process, as it calls itself */
};

/* For tests: called with the place where it is. NULL: none. */
struct errand_watch {
	void (*passing)(const char *point, void *data);
	void *data;
};

struct errand {
	const struct errand_places *places; /* borrowed */
	const struct errand_watch *watch;
	pid_t tid;
	bool is_begun;	/* registers and mask are not the thread's own */
	bool is_lost;	/* it does not stand any more */
	unsigned turns; /* times it went on, and came to stand again */
	uint64_t began_ns;
	uint64_t took_ns; /* how long it was away */
	uint64_t mask;
	struct arch_dump registers;
	struct arch_floats floats;
	struct arch_frame frame;
};

/* -1 and a sentence: this process has not all that it takes. */
int errand_find(struct errand_places *places, pid_t pid, uint64_t send, struct error *error);
/* Of a thread that stands: reads where it is. -1 and a sentence. */
int errand_init(struct errand *errand, pid_t tid, const struct errand_places *places,
		struct error *error);
/* Writes below its stack what it will come back by. -1 and a sentence. */
int errand_ready(struct errand *errand, struct error *error);
/*
 * A system call. -1 and a sentence: it returned -errno, or did not come back
 * in time, when nothing else is to be tried.
 */
int errand_ask(struct errand *errand, const struct arch_call *call, int64_t *result,
	       struct error *error);
/* A function, of two arguments at most. What it returns is not known. */
int errand_do(struct errand *errand, const struct arch_call *call, struct error *error);
/*
 * The thread is as it was, and stands, or has ended, or will come back by
 * itself. It is to be detached from next.
 */
void errand_end(struct errand *errand);
void errand_pass(const struct errand_watch *watch, const char *point);

#endif
