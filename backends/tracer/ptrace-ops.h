/*
 * ptrace-ops: ptrace(2) for remote-syscall and backends/inject/remote-call: registers,
 * signal mask and memory of a ptrace-stopped thread, resuming and waiting.
 */
#ifndef BACKENDS_TRACER_PTRACE_OPS_H
#define BACKENDS_TRACER_PTRACE_OPS_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct arch_dump;
struct arch_floats;

/* WSTOPSIG() of a syscall-stop, after ptrace_mark_syscalls(). */
#define SYSCALL_STOP 0x85

/* Each returns 0, or -1 and errno. */
int ptrace_mark_syscalls(pid_t tid); /* PTRACE_O_TRACESYSGOOD */
int ptrace_get_registers(pid_t tid, struct arch_dump *dump);
int ptrace_set_registers(pid_t tid, const struct arch_dump *dump);
int ptrace_get_floats(pid_t tid, struct arch_floats *floats);
int ptrace_set_floats(pid_t tid, const struct arch_floats *floats);
int ptrace_get_mask(pid_t tid, uint64_t *mask);
int ptrace_set_mask(pid_t tid, uint64_t mask);
/* Within the page protections of the process. read: number of bytes, or -1. */
ssize_t ptrace_read_memory(pid_t tid, uint64_t address, void *bytes, size_t length);
int ptrace_write_memory(pid_t tid, uint64_t address, const void *bytes, size_t length);

/* PTRACE_CONT, with that signal; 0: none. */
void ptrace_cont(pid_t tid, int signal_number);
/* PTRACE_SYSCALL: to the next syscall-stop. */
void ptrace_syscall(pid_t tid, int signal_number);
/* PTRACE_INTERRUPT; pending where the thread is stopped and resumed afterwards. */
void ptrace_interrupt(pid_t tid);
/* Sender, by tgkill(2), of the signal of a signal-delivery-stop; 0: none. */
pid_t ptrace_signal_sender(pid_t tid);
/* Waits for the next status. False: none in that time. */
bool ptrace_wait(pid_t tid, uint64_t nanoseconds, int *status);

/*
 * Waits for a traced thread to stop, without taking the processor from
 * that thread: a tracer that polls without sleeps, or with too short ones, delays
 * a thread on the same processor.
 *
 * SIGCHLD ends a sleep. The kernel may send it to another thread of this
 * process, so each sleep has a limit as well. SIGCHLD may also be meant for
 * waits.h: it is raised again at the end.
 */

struct stop_wait {
	sigset_t before;
	long nanoseconds; /* limit of the next sleep */
	bool was_woken;
};

/* Before the first look: blocks SIGCHLD, so that none is missed from then on. */
void stop_wait_begin(struct stop_wait *stop_wait);
/* After each look that has found nothing: sleeps. */
void stop_wait_sleep(struct stop_wait *stop_wait);
void stop_wait_end(struct stop_wait *stop_wait);

#endif
