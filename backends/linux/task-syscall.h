/*
 * task-syscall: the system call that a thread sleeps in, as
 * /proc/PID/task/TID/syscall shows it (proc(5)): "running", or
 * "NUMBER SIX-ARGUMENTS SP PC", or "-1 SP PC" of a thread that sleeps outside
 * of a system call.
 */
#ifndef BACKENDS_LINUX_TASK_SYSCALL_H
#define BACKENDS_LINUX_TASK_SYSCALL_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define TASK_SYSCALL_ARGUMENTS 6

struct task_syscall {
	int number; /* -1: none */
	uint64_t arguments[TASK_SYSCALL_ARGUMENTS];
	uint64_t stack_pointer;
	uint64_t instruction;
};

/* False: the text has no number, as of a thread that runs; number is -1. */
bool task_syscall_parse(struct task_syscall *call, const char *text);
/* False: likewise, or the file cannot be read. */
bool task_syscall_read(struct task_syscall *call, pid_t pid, pid_t tid);

#endif
