/*
 * job-supervisor: the process between a node and the job that the node has launched, so
 * that the job needs neither the node nor the screen.
 *
 * The supervisor is the parent of the job and of its orphans (subreaper). It has the
 * master end of the job's terminal, sends the job's output to the node, and writes the
 * user's input to the terminal. When the node exits or dies, the supervisor continues
 * alone and writes the output to a file. Output that the node does not take is kept in
 * the scrollback. When that is full: without JOB_SUPERVISOR_WAITS the oldest output is
 * dropped, and the job never waits. With it, the terminal is not read until the node
 * reports that output was taken, so the job waits as for any reader; after that many
 * seconds without such a report, all output goes to the file until the node has caught
 * up. The supervisor exits when no process of the job is left.
 *
 * Its standard input is the socket to the node (supervisor-messages.h).
 */
#ifndef BACKENDS_LAUNCH_JOB_SUPERVISOR_H
#define BACKENDS_LAUNCH_JOB_SUPERVISOR_H

/* The option of probetui-node that runs a supervisor. */
#define JOB_SUPERVISOR_OPTION "--keep"

/* The words after that option, in order; the program and its arguments follow. */
enum job_supervisor_word {
	JOB_SUPERVISOR_ROWS,
	JOB_SUPERVISOR_COLUMNS,
	JOB_SUPERVISOR_FILES,	  /* soft RLIMIT_NOFILE of the job; 0: unchanged */
	JOB_SUPERVISOR_LOG,	  /* file for the output; "": none */
	JOB_SUPERVISOR_DIRECTORY, /* working directory of the job; "": the node's */
	JOB_SUPERVISOR_WAITS,	  /* seconds that the job waits for its reader; 0: never */
	JOB_SUPERVISOR_INPUT,	  /* descriptor for the job's standard input; -1: terminal */
	JOB_SUPERVISOR_PROGRAM,
};

/* Returns the exit status. */
int job_supervisor_run(int count, char **words);

#endif
