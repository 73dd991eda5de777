/*
 * syscall-restart: makes a system call that a ptrace-stop has ended with EINTR begin again.
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
 * memory is changed. A thread that is detached from has no stop at the entry: a
 * time-out in a register is replaced for good by what is left, all others begin
 * again with their full time (SYSCALL_RESTART_ANEW).
 */
#ifndef BACKENDS_TRACER_SYSCALL_RESTART_H
#define BACKENDS_TRACER_SYSCALL_RESTART_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* State of one traced thread; all 0 at first. */
struct syscall_restart {
	long number;	      /* of the system call before the stop; -1: none */
	uint64_t slept_ns;    /* its begin, by the scheduler's clock; 0: unknown */
	int processor;	      /* processor of that clock; -1: unknown */
	bool is_counted;      /* until_ns is known */
	uint64_t until_ns;    /* loop_now_ns() at which the call times out */
	uint64_t instruction; /* address to which the call returns */
	uint64_t stack;	      /* arch_below_stack() of the call */
	bool is_same;	      /* the same call was interrupted again */
	bool is_due;	      /* the argument is to be changed at the entry */
	bool is_changed;      /* the argument is to be restored at the exit */
	uint64_t argument;    /* its value before the change */
};

/* What detaching from a thread that sleeps would do to its system call. */
enum syscall_restart_harm {
	SYSCALL_RESTART_NONE, /* it continues, or the kernel restarts it */
	SYSCALL_RESTART_REST, /* it is begun again with what is left of its time */
	SYSCALL_RESTART_ANEW, /* it is begun again with all of its time */
};

/* Reads /proc; the thread is not stopped. */
enum syscall_restart_harm syscall_restart_harm(pid_t pid, pid_t tid);
/* The name of the system call, if the harm is SYSCALL_RESTART_ANEW; else NULL. */
const char *syscall_restart_anew(pid_t pid, pid_t tid);
/* To be called before the thread is interrupted: notes when its system call has begun. */
void syscall_restart_note(struct syscall_restart *restart, pid_t pid, pid_t tid);
/*
 * To be called in an event-stop or signal-delivery-stop; signal_number is
 * WSTOPSIG() of the status. A group-stop changes nothing: SIGSTOP, SIGTSTP,
 * SIGTTIN, SIGTTOU and SIGCONT end the call with EINTR without a tracer, too.
 */
void syscall_restart_stood(struct syscall_restart *restart, pid_t pid, pid_t tid,
			   int signal_number);
/*
 * To be called before the thread is resumed. True: it is to be resumed by
 * ptrace_syscall(), and syscall_restart_at_call() to be called at each
 * syscall-stop, until that function returns false.
 */
bool syscall_restart_go(struct syscall_restart *restart, pid_t tid);
bool syscall_restart_at_call(struct syscall_restart *restart, pid_t tid);
/* To be called before the thread is detached from. */
void syscall_restart_leave(struct syscall_restart *restart, pid_t tid);

#endif
