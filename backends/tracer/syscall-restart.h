/*
 * syscall-restart: restarts a system call that a ptrace-stop has ended with EINTR.
 *
 * The kernel restarts most calls by itself (ERESTARTSYS, a restart block). signal(7), "Interruption
 * of system calls by stop signals", lists the calls that fail with EINTR although no handler has
 * run: epoll_wait(2), sigtimedwait(2), semtimedop(2), a socket with SO_RCVTIMEO, ... For these, the
 * result is set to ERESTARTNOHAND during the stop: the kernel then restarts the call when the
 * thread is resumed, even if the tracer is killed meanwhile, and the call still fails with EINTR if
 * a handler of the program runs first.
 *
 * A relative time-out is replaced by its remaining time. The scheduler knows when the call began:
 * se.exec_start of /proc/PID/task/TID/sched is the time at which the thread last gave up its
 * processor. The argument is changed at the syscall-stop at the call's entry, and restored at the
 * syscall-stop at its exit; a changed timespec lies below the thread's red zone during that time,
 * so no data of the program is overwritten. At a detach there is no stop at the entry: a time-out
 * in a register is then replaced by the remaining time for good, and all other calls restart with
 * their full time-out (SYSCALL_RESTART_ANEW).
 */
#ifndef BACKENDS_TRACER_SYSCALL_RESTART_H
#define BACKENDS_TRACER_SYSCALL_RESTART_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* State of one traced thread; initially all members are 0. */
struct syscall_restart {
	long number;	      /* number of the system call before the stop; -1: none */
	uint64_t slept_ns;    /* begin of the call, by the scheduler's clock; 0: unknown */
	int processor;	      /* processor whose clock that is; -1: unknown */
	bool is_counted;      /* until_ns is known */
	uint64_t until_ns;    /* loop_now_ns() at which the call times out */
	uint64_t instruction; /* address to which the call returns */
	uint64_t stack;	      /* arch_below_stack() of the call */
	bool is_same;	      /* the same call was interrupted again */
	bool is_due;	      /* the argument is to be changed at the entry */
	bool is_changed;      /* the argument is to be restored at the exit */
	uint64_t argument;    /* value of the argument before the change */
};

/* The effect that detaching from a sleeping thread would have on the thread's system call. */
enum syscall_restart_harm {
	SYSCALL_RESTART_NONE, /* the call continues, or the kernel restarts it */
	SYSCALL_RESTART_REST, /* the call restarts with the remaining time */
	SYSCALL_RESTART_ANEW, /* the call restarts with its full time-out */
};

/* Determines the harm from /proc, without stopping the thread. */
enum syscall_restart_harm syscall_restart_harm(pid_t pid, pid_t tid);
/* Returns the name of the thread's system call if the harm is SYSCALL_RESTART_ANEW, else NULL. */
const char *syscall_restart_anew(pid_t pid, pid_t tid);
/* To be called before the thread is interrupted: notes when the thread's system call began. */
void syscall_restart_note(struct syscall_restart *restart, pid_t pid, pid_t tid);
/*
 * To be called in an event-stop or signal-delivery-stop; signal_number is WSTOPSIG() of the status.
 * In a group-stop the result is left as it is: SIGSTOP, SIGTSTP, SIGTTIN, SIGTTOU and SIGCONT end
 * the call with EINTR without a tracer, too.
 */
void syscall_restart_stood(struct syscall_restart *restart, pid_t pid, pid_t tid,
			   int signal_number);
/*
 * To be called before the thread is resumed. If it returns true, the caller must resume the thread
 * by ptrace_syscall(), and call syscall_restart_at_call() at each syscall-stop until that function
 * returns false.
 */
bool syscall_restart_go(struct syscall_restart *restart, pid_t tid);
bool syscall_restart_at_call(struct syscall_restart *restart, pid_t tid);
/* To be called before PTRACE_DETACH. */
void syscall_restart_leave(struct syscall_restart *restart, pid_t tid);

#endif
