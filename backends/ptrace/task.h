/*
 * task: what the kernel says of one thread: /proc/PID/task/TID/{syscall,
 * schedstat,wchan,stat,comm}. The files stay open between samples, so each
 * look costs one pread(2).
 */
#ifndef BACKENDS_PTRACE_TASK_H
#define BACKENDS_PTRACE_TASK_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct task {
	pid_t pid;
	pid_t tid;
	int syscall_fd;
	int schedstat_fd;
};

/* What one look showed. */
struct task_state {
	bool is_known;
	bool is_blocked;	/* in the kernel, not on a processor */
	int syscall;		/* -1: none */
	uint64_t argument;	/* the first */
	uint64_t stack_pointer;
	uint64_t instruction;
	uint64_t cpu_ns;
	uint64_t switches;	/* times it was given a processor */
};

void task_init(struct task *task, pid_t pid, pid_t tid);
void task_clear(struct task *task);
/* switches and cpu_ns only: one call. */
int task_look_switches(struct task *task, struct task_state *state);
/* All of task_state: two calls. */
int task_look(struct task *task, struct task_state *state);
/* Appends at most size-1 bytes of the kernel function it sleeps in. */
void task_wchan(const struct task *task, char *out, size_t size);
void task_name(const struct task *task, char *out, size_t size);
/* 'R', 'S', 'T', 't', 'Z' …; 0 unknown. */
char task_letter(const struct task *task);
uint64_t task_calls(void);

#endif
