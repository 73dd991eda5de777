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
	int slave;   /* kept open, so that the terminal outlives the processes on it */
	int gate;    /* pipe from which the child reads a byte before execve(2); -1: closed */
	int failure; /* pipe with the errno of execve(2), else end of file; -1: closed */
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
 * Makes a terminal, which becomes the caller's controlling terminal (the caller is a
 * session leader without one), and a process on it that waits for the gate. Returns
 * 0 or an errno.
 */
int job_child_start(struct job_child *job_child, const struct job_child_options *options);
/* Opens the gate: the child calls execve(2). */
void job_child_go(struct job_child *job_child);
/* Closes the gate: a child that still waits there exits. */
void job_child_forbid(struct job_child *job_child);
/*
 * Call it when `failure` is readable. 0: the program runs; an errno: execve(2) failed;
 * -1: not known yet.
 */
int job_child_outcome(struct job_child *job_child);
/* Sets the size of the terminal; ignored if rows or columns are 0. */
void job_child_resize(const struct job_child *job_child, unsigned short rows,
		      unsigned short columns);

#endif
