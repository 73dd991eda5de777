/*
 * task: reads the state of one thread from /proc/PID/task/TID/{syscall,
 * schedstat,wchan,stat,comm}. The files stay open between samples, so each
 * look costs one pread(2).
 */
#ifndef BACKENDS_LINUX_TASK_H
#define BACKENDS_LINUX_TASK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum task_file {
	TASK_SCHEDSTAT,
	TASK_SYSCALL,
	TASK_WCHAN,
	TASK_STAT,
	TASK_FILES,
};

struct task {
	pid_t pid;
	pid_t tid;
	int fds[TASK_FILES];   /* -1: not opened yet */
	uint64_t calls;	       /* system calls made for it so far */
	const char *missing;   /* first unreadable value since task_begin(); NULL: none */
	int failure;	       /* errno of that read */
	bool is_letter_unread; /* task_letter() could not read the state */
};

/* The state of the thread at one look. */
struct task_state {
	bool is_known;	   /* the rest was readable */
	bool is_blocked;   /* in the kernel, not on a processor */
	int syscall;	   /* -1: none */
	uint64_t argument; /* the first of the system call */
	uint64_t stack_pointer;
	uint64_t instruction;
	uint64_t cpu_ns;
	uint64_t switches; /* times it was given a processor; 0 unknown */
};

void task_init(struct task *task, pid_t pid, pid_t tid);
void task_clear(struct task *task);
/* Begins a look: task->missing is NULL. */
void task_begin(struct task *task);
/* switches and cpu_ns only: one call. -1: the thread is gone or refused. */
int task_look_switches(struct task *task, struct task_state *state);
/*
 * Updates *state, which has the values of the last look, or zeros. The switches are
 * read first: a thread that was blocked afterwards, and has the same number of
 * switches later, has not run in between. So one system call is enough for a
 * thread that has slept since the last look; otherwise there are two. -1: the
 * thread is gone.
 */
int task_look(struct task *task, struct task_state *state);
/* The kernel function in which the thread sleeps, at most size-1 bytes; "": unknown. */
void task_wchan(struct task *task, char *out, size_t size);
/* The name in /proc/PID/task/TID/comm; "" unknown. */
void task_name(struct task *task, char *out, size_t size);
/* 'R', 'S', 'T', 't', 'Z' …; 0 unknown. */
char task_letter(struct task *task);
/*
 * The tid, in this process's pid namespace, of the thread of process pid that has
 * the tid inner in its own pid namespace; 0: none.
 */
pid_t task_find(pid_t pid, pid_t inner);
/* The pid that process pid has in its own namespace; 0 unknown. */
pid_t task_inner(pid_t pid);
/* The tid that a thread of process pid has in its own namespace; 0: unknown. */
pid_t task_inner_thread(pid_t pid, pid_t tid);

/*
 * The system call that a thread sleeps in, as
 * /proc/PID/task/TID/syscall shows it (proc(5)): "running", or
 * "NUMBER SIX-ARGUMENTS SP PC", or "-1 SP PC" of a thread that sleeps outside
 * of a system call.
 */

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
