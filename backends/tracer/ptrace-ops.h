/*
 * ptrace-ops: the ptrace(2) operations that remote-syscall and backends/inject/remote-call use:
 * registers, signal mask and memory of a ptrace-stopped thread, resuming and waiting.
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

/* These functions return 0, or -1 and set errno. */
int ptrace_mark_syscalls(pid_t tid); /* PTRACE_O_TRACESYSGOOD */
int ptrace_get_registers(pid_t tid, struct arch_dump *dump);
int ptrace_set_registers(pid_t tid, const struct arch_dump *dump);
int ptrace_get_floats(pid_t tid, struct arch_floats *floats);
int ptrace_set_floats(pid_t tid, const struct arch_floats *floats);
int ptrace_get_mask(pid_t tid, uint64_t *mask);
int ptrace_set_mask(pid_t tid, uint64_t mask);
/* Read and write memory as the process itself may, respecting page protections.
 * ptrace_read_memory() returns the number of bytes read, or -1; ptrace_write_memory() returns 0, or
 * -1. */
ssize_t ptrace_read_memory(pid_t tid, uint64_t address, void *bytes, size_t length);
int ptrace_write_memory(pid_t tid, uint64_t address, const void *bytes, size_t length);

/* PTRACE_CONT. signal_number: the signal to deliver; 0: none. */
void ptrace_cont(pid_t tid, int signal_number);
/* PTRACE_SYSCALL: resumes the thread until its next syscall-stop. */
void ptrace_syscall(pid_t tid, int signal_number);
/* PTRACE_INTERRUPT. For a thread that is stopped already, the interrupt takes effect when the
 * thread is resumed. */
void ptrace_interrupt(pid_t tid);
/* For a thread in signal-delivery-stop: returns the pid of the process that has sent the signal by
 * tgkill(2); 0: the signal was sent otherwise. */
pid_t ptrace_signal_sender(pid_t tid);
/* Waits for the thread's next status. Returns false if there is none within that time. */
bool ptrace_wait(pid_t tid, uint64_t nanoseconds, int *status);

/*
 * stop_wait: waits for a traced thread to stop, without taking the processor from that thread: a
 * tracer that polls without sleeping, or sleeps too briefly, delays a thread on the same processor.
 *
 * SIGCHLD ends a sleep. The kernel may send SIGCHLD to another thread of this process, so each
 * sleep has a time limit as well. A SIGCHLD may also announce something for waits.h, so
 * stop_wait_end() raises SIGCHLD again.
 */

struct stop_wait {
	sigset_t before;
	long nanoseconds; /* limit of the next sleep */
	bool was_woken;
};

/* To be called before the first poll: blocks SIGCHLD, so that no SIGCHLD is missed from then on. */
void stop_wait_begin(struct stop_wait *stop_wait);
/* To be called after each poll that has found no status: sleeps. */
void stop_wait_sleep(struct stop_wait *stop_wait);
void stop_wait_end(struct stop_wait *stop_wait);

#endif
