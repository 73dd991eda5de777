/*
 * job-supervisor: the process between a node and the job that it started, so that the
 * job needs neither the node nor the screen.
 *
 * It is the job's parent, and of whatever in the job lost its own; it holds
 * the terminal that the job has, and hands over what comes from there and what
 * is typed. When the node is gone, however that ended, it goes on alone: what
 * the job prints goes to a file, whose name was told before. What cannot be
 * handed over is kept up to a bound. Then, without JOB_SUPERVISOR_WAITS, the oldest is
 * left out, and the job never waits. With it the terminal is not read until
 * the node says that some was taken, so the job waits as for any reader; after
 * that many seconds of which none was, all goes to the file until the node has
 * caught up. It ends when no process of the job is left.
 *
 * Its standard input is the socket to the node (supervisor-messages.h).
 */
#ifndef BACKENDS_LAUNCH_JOB_SUPERVISOR_H
#define BACKENDS_LAUNCH_JOB_SUPERVISOR_H

/* How the node calls itself to be one. */
#define JOB_SUPERVISOR_OPTION "--keep"

/* The words behind that option, in order; a program and its own follow. */
enum job_supervisor_word {
	JOB_SUPERVISOR_ROWS,
	JOB_SUPERVISOR_COLUMNS,
	JOB_SUPERVISOR_FILES,	  /* soft limit of open files the job is to have */
	JOB_SUPERVISOR_LOG,	  /* the file; "": nothing is kept */
	JOB_SUPERVISOR_DIRECTORY, /* the job's; "": ours */
	JOB_SUPERVISOR_WAITS,	  /* seconds; 0: never */
	JOB_SUPERVISOR_INPUT,	  /* descriptor that is the job's input; -1: none */
	JOB_SUPERVISOR_PROGRAM,
};

/* Returns the exit status. */
int job_supervisor_run(int count, char **words);

#endif
