/*
 * remote-call: makes a ptrace-stopped thread of another process make a system call, and then call a
 * C function that is async-signal-safe; gdb calls that an inferior call. Afterwards the thread's
 * registers, signal mask and stack are as before. The thread is resumed as rarely as possible:
 * twice for a system call, once for a function.
 *
 * The frame of the call lies below the thread's stack pointer, like that of a signal handler
 * (tracer/arch.h). After a function, the thread sends itself a signal that the program has no
 * handler for: while the thread is traced, the signal causes a signal-delivery-stop; if the tracer
 * is gone, the thread returns from the frame by itself (sigreturn(2)). All other signals are
 * blocked meanwhile, except those of the C library.
 *
 * If the tracer is killed during a call, the thread finishes the call and returns by itself. The
 * only lasting effect then: a wait whose remaining time the kernel keeps (nanosleep, poll) restarts
 * with its full time.
 */
#ifndef BACKENDS_INJECT_REMOTE_CALL_H
#define BACKENDS_INJECT_REMOTE_CALL_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "backends/tracer/arch.h"

struct error;

/* Addresses and ids, found before the thread is stopped. */
struct remote_call_places {
	struct arch_places code;
	uint64_t send; /* address of raise(3) */
	int signal;    /* signal that the thread sends to itself after a function */
	pid_t inner;   /* pid of the process in its own PID namespace */
};

/* For tests: passing(point) is called at each step of a remote call. NULL: no calls. */
struct remote_call_watch {
	void (*passing)(const char *point, void *data);
	void *data;
};

struct remote_call {
	const struct remote_call_places *places; /* borrowed */
	const struct remote_call_watch *watch;
	pid_t tid;
	bool is_begun;	/* the thread's registers and mask are changed */
	bool is_lost;	/* the thread has exited, or could not be stopped again */
	unsigned turns; /* number of times that the thread was resumed */
	uint64_t began_ns;
	uint64_t took_ns; /* how long the registers were changed */
	uint64_t mask;	  /* the thread's own signal mask */
	struct arch_dump registers;
	struct arch_floats floats;
	struct arch_frame frame;
};

/* Fills *places. Returns -1 and sets error if the process lacks a code sequence that a call
 * needs. */
int remote_call_find(struct remote_call_places *places, pid_t pid, uint64_t send,
		     struct error *error);
/* Reads the registers of the stopped thread. -1: error is set. */
int remote_call_init(struct remote_call *remote, pid_t tid, const struct remote_call_places *places,
		     struct error *error);
/* Writes the frame below the stack pointer. -1: error is set. */
int remote_call_prepare(struct remote_call *remote, struct error *error);
/* Makes the system call. Returns -1 and sets error if the system call returned -errno, or did not
 * return in time; in the latter case, only remote_call_end() may be called next. */
int remote_call_syscall(struct remote_call *remote, const struct arch_call *call, int64_t *result,
			struct error *error);
/* Calls a function with two arguments at most; its result is not read. -1: error is set. */
int remote_call_function(struct remote_call *remote, const struct arch_call *call,
			 struct error *error);
/*
 * Restores registers and mask of a thread that is stopped; does nothing for a thread that has
 * exited or that will return by itself. The caller then detaches (PTRACE_DETACH).
 */
void remote_call_end(struct remote_call *remote);
/* Calls watch->passing(point), if there is one. */
void remote_call_pass(const struct remote_call_watch *watch, const char *point);

#endif
