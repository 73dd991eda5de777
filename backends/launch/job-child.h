/*
 * job-child: starts the job's process on a pseudoterminal, and reports whether its
 * execve(2) succeeded.
 */
#ifndef BACKENDS_LAUNCH_JOB_CHILD_H
#define BACKENDS_LAUNCH_JOB_CHILD_H

#include <stdbool.h>
#include <sys/resource.h>
#include <sys/types.h>

struct job_child {
	pid_t pid;   /* 0: not started */
	int master;  /* master end of the terminal, non-blocking */
	int slave;   /* kept open, so that the terminal outlives the processes that use it */
	int gate;    /* pipe: the child reads a byte from it before execve(2); -1: closed */
	int failure; /* pipe: the child writes the errno of a failed execve(2); end of file:
		      * success; -1: closed */
};

struct job_child_options {
	unsigned short rows;
	unsigned short columns;
	rlim_t files;	       /* soft RLIMIT_NOFILE; 0: unchanged */
	const char *directory; /* working directory; "": the caller's */
	int input;	       /* descriptor for standard input; -1: the terminal */
	char **argv;
};

/*
 * Makes a terminal and a process on that terminal, which waits for the gate. The terminal becomes
 * the controlling terminal of the caller, which must be a session leader without one. Returns 0 or
 * an errno.
 */
int job_child_start(struct job_child *job_child, const struct job_child_options *options);
/* Opens the gate: the child calls execve(2). */
void job_child_go(struct job_child *job_child);
/* Closes the gate: a child that still waits for the gate exits. */
void job_child_forbid(struct job_child *job_child);
/*
 * To be called when `failure` is readable. Returns 0 if the program runs, the errno of a failed
 * execve(2), or -1 if the outcome is not known yet.
 */
int job_child_outcome(struct job_child *job_child);
/* Sets the size of the terminal; ignored if rows or columns are 0. */
void job_child_resize(const struct job_child *job_child, unsigned short rows,
		      unsigned short columns);

#endif
