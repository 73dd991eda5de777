/*
 * syscall-restart: a system call that a ptrace-stop has ended with EINTR begins again.
 *
 * Most calls do so by themselves (ERESTARTSYS, a restart block); signal(7),
 * "Interruption of system calls by stop signals", lists those that fail with
 * EINTR though no handler has run: epoll_wait(2), sigtimedwait(2),
 * semtimedop(2), a socket with SO_RCVTIMEO, ... At the stop the result is made
 * ERESTARTNOHAND: the kernel itself then begins the call again when the thread
 * runs, also when the tracer is killed meanwhile, and still fails with EINTR
 * where a handler of the program's runs first.
 *
 * A relative time-out becomes what is left of it. When the call began is known
 * from the scheduler: se.exec_start of /proc/PID/task/TID/sched is the moment
 * when the thread last gave up its processor. The argument is changed where
 * the thread enters the kernel, and put back where it leaves it; a timespec
 * lies below the thread's red zone for that moment. Nothing of the program's
 * memory is changed. A thread that is detached from cannot be met there: a
 * time-out in a register is given what is left for good, all others begin
 * anew with all of their time (SYSCALL_RESTART_ANEW).
 */
#ifndef BACKENDS_TRACER_SYSCALL_RESTART_H
#define BACKENDS_TRACER_SYSCALL_RESTART_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Of one thread that is traced; zeros at first. */
struct syscall_restart {
	long number;	      /* of the call before the stop, */
	uint64_t slept_ns;    /* since when, by the scheduler's clock; 0: unknown */
	int processor;	      /* whose clock that is */
	bool is_counted;      /* until_ns is known */
	uint64_t until_ns;    /* loop_now_ns() at which the call times out */
	uint64_t instruction; /* where that call returns to, */
	uint64_t stack;	      /* and of which activation it is */
	bool is_same;	      /* that call was interrupted once more */
	bool is_due;	      /* the argument is to be changed at the entry */
	bool is_changed;      /* and is put back at the exit */
	uint64_t argument;
};

/* What detaching from a thread that sleeps would do to its system call. */
enum syscall_restart_harm {
	SYSCALL_RESTART_NONE, /* it continues, or the kernel restarts it */
	SYSCALL_RESTART_REST, /* it is begun again with what is left of its time */
	SYSCALL_RESTART_ANEW, /* it is begun again with all of its time */
};

/* By /proc, without a stop. */
enum syscall_restart_harm syscall_restart_harm(pid_t pid, pid_t tid);
/* The name of the call, where that is SYSCALL_RESTART_ANEW; else NULL. */
const char *syscall_restart_anew(pid_t pid, pid_t tid);
/* Before the thread is interrupted: when its system call has begun. */
void syscall_restart_note(struct syscall_restart *restart, pid_t pid, pid_t tid);
/*
 * The thread is in an event stop, or in the stop of a signal: signal_number is
 * WSTOPSIG() of its status. A group-stop changes nothing: SIGSTOP, SIGTSTP,
 * SIGTTIN, SIGTTOU and SIGCONT end the call with EINTR without a tracer, too.
 */
void syscall_restart_stood(struct syscall_restart *restart, pid_t pid, pid_t tid,
			   int signal_number);
/*
 * The thread is about to run. True: by ptrace_syscall(), and each stop
 * at a call is for syscall_restart_at_call(), until that says false.
 */
bool syscall_restart_go(struct syscall_restart *restart, pid_t tid);
bool syscall_restart_at_call(struct syscall_restart *restart, pid_t tid);
/* The thread is about to be detached from. */
void syscall_restart_leave(struct syscall_restart *restart, pid_t tid);

#endif
