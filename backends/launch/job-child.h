/*
 * job-child: the job's process as the supervisor starts it on a terminal, and
 * what became of that.
 */
#ifndef BACKENDS_LAUNCH_JOB_CHILD_H
#define BACKENDS_LAUNCH_JOB_CHILD_H

#include <stdbool.h>
#include <sys/resource.h>
#include <sys/types.h>

struct job_child {
	pid_t pid;   /* 0: it was not started */
	int master;  /* the terminal's other end; it does not block */
	int slave;   /* kept open: the terminal outlives who uses it */
	int gate;    /* it waits for a byte there; -1: no more */
	int failure; /* says the errno of exec, or ends; -1: it has */
};

struct job_child_options {
	unsigned short rows;
	unsigned short columns;
	rlim_t files;
	const char *directory; /* "": ours */
	int input;	       /* its standard input; -1: the terminal, as the others */
	char **argv;
};

/*
 * Makes a terminal, which becomes ours (the caller leads a session without
 * one), and a process on it that waits at the gate. 0, or an errno.
 */
int job_child_start(struct job_child *job_child, const struct job_child_options *options);
/* Lets it run the program. */
void job_child_go(struct job_child *job_child);
/* It never will. */
void job_child_forbid(struct job_child *job_child);
/*
 * When failure is readable: 0: it runs the program; an errno: it could not;
 * -1: not known yet.
 */
int job_child_outcome(struct job_child *job_child);
void job_child_resize(const struct job_child *job_child, unsigned short rows,
		      unsigned short columns);

#endif
