/*
 * task: reads the state of one thread from /proc/PID/task/TID/{syscall, schedstat,wchan,stat,comm}.
 * The files stay open between samples, so that each read costs one pread(2).
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
	uint64_t calls;	       /* number of system calls made for this thread so far */
	const char *missing;   /* name of the first value that could not be read since
				* task_begin(); NULL: none */
	int failure;	       /* errno of that read */
	bool is_letter_unread; /* task_letter() could not read the state */
};

/* The state of the thread at one time. */
struct task_state {
	bool is_known;	   /* the other members could be read */
	bool is_blocked;   /* the thread sleeps in the kernel */
	int syscall;	   /* -1: none */
	uint64_t argument; /* first argument of the system call */
	uint64_t stack_pointer;
	uint64_t instruction;
	uint64_t cpu_ns;
	uint64_t switches; /* how often the thread was given a processor; 0: unknown */
};

void task_init(struct task *task, pid_t pid, pid_t tid);
void task_clear(struct task *task);
/* Begins a new read of the thread: resets missing, failure and is_letter_unread. */
void task_begin(struct task *task);
/* Reads only switches and cpu_ns, by one system call. Returns -1 if the thread is gone or may not
 * be read. */
int task_look_switches(struct task *task, struct task_state *state);
/*
 * Updates *state, which at the call has the values of the last task_look(), or zeros. The switches
 * are read first: if a thread was blocked at the last look and its number of switches is unchanged
 * now, it has not run in between. So a thread that has slept since the last look costs one system
 * call, any other thread two. Returns -1 if the thread is gone.
 */
int task_look(struct task *task, struct task_state *state);
/* Writes the name of the kernel function in which the thread sleeps, at most size - 1 bytes; "":
 * unknown. */
void task_wchan(struct task *task, char *out, size_t size);
/* Writes the name in /proc/PID/task/TID/comm; "": unknown. */
void task_name(struct task *task, char *out, size_t size);
/* Returns the thread's state: 'R', 'S', 'T', 't', 'Z' …; 0: unknown. */
char task_letter(struct task *task);
/*
 * Returns the tid (in this process's pid namespace) of the thread of process pid whose tid in its
 * own pid namespace is inner; 0: none.
 */
pid_t task_find(pid_t pid, pid_t inner);
/* Returns the pid that process pid has in its own pid namespace; 0: unknown. */
pid_t task_inner(pid_t pid);
/* Returns the tid that a thread of process pid has in its own pid namespace; 0: unknown. */
pid_t task_inner_thread(pid_t pid, pid_t tid);

/*
 * task_syscall: the system call that a thread sleeps in. The text of /proc/PID/task/TID/syscall
 * (proc(5)) is "running", "NUMBER SIX-ARGUMENTS SP PC", or, for a thread that sleeps outside of a
 * system call, "-1 SP PC".
 */

#define TASK_SYSCALL_ARGUMENTS 6

struct task_syscall {
	int number; /* -1: none */
	uint64_t arguments[TASK_SYSCALL_ARGUMENTS];
	uint64_t stack_pointer;
	uint64_t instruction;
};

/* Parses the text. Returns false and sets number to -1 if the text has no number (a running
 * thread). */
bool task_syscall_parse(struct task_syscall *call, const char *text);
/* Reads and parses the file. Returns false as task_syscall_parse() does, or if the file cannot be
 * read. */
bool task_syscall_read(struct task_syscall *call, pid_t pid, pid_t tid);

#endif
