/*
 * job-child: the job's process as the keeper starts it on a terminal, and
 * what became of that.
 */
#ifndef BACKENDS_LAUNCH_JOB_CHILD_H
#define BACKENDS_LAUNCH_JOB_CHILD_H

#include <stdbool.h>
#include <sys/resource.h>
#include <sys/types.h>

struct offspring {
	pid_t pid;   /* 0: it was not started */
	int master;  /* the terminal's other end; it does not block */
	int slave;   /* kept open: the terminal outlives who uses it */
	int gate;    /* it waits for a byte there; -1: no more */
	int failure; /* says the errno of exec, or ends; -1: it has */
};

struct offspring_wishes {
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
int offspring_start(struct offspring *offspring, const struct offspring_wishes *wishes);
/* Lets it run the program. */
void offspring_go(struct offspring *offspring);
/* It never will. */
void offspring_forbid(struct offspring *offspring);
/*
 * When failure is readable: 0: it runs the program; an errno: it could not;
 * -1: not known yet.
 */
int offspring_outcome(struct offspring *offspring);
void offspring_resize(const struct offspring *offspring, unsigned short rows,
		      unsigned short columns);

#endif
