/*
 * job-supervisor: the process between a node and the job that the node has launched. Thanks to it,
 * the job survives the exit of the node and of the screen.
 *
 * The supervisor is the parent of the job's first process and of the job's orphans (subreaper,
 * prctl(2)). It has the master end of the job's terminal, sends the job's output to the node, and
 * writes the user's input to the terminal. When the node exits or dies, the supervisor continues
 * alone and writes the output to a file. Output that the node does not take is kept in the
 * scrollback. When the scrollback is full and JOB_SUPERVISOR_WAITS is 0, the oldest output is
 * dropped, and the job never waits. With another JOB_SUPERVISOR_WAITS, the terminal is not read
 * until the node reports that output was taken, so the job waits as for any slow reader; after that
 * many seconds without such a report, all output goes to the file until the node has caught up. The
 * supervisor exits when no process of the job is left.
 *
 * The supervisor's standard input is the socket to the node (enum supervisor_message_kind).
 */
#ifndef BACKENDS_LAUNCH_JOB_SUPERVISOR_H
#define BACKENDS_LAUNCH_JOB_SUPERVISOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The option of probetui-node that runs a supervisor. */
#define JOB_SUPERVISOR_OPTION "--keep"

/* The arguments after JOB_SUPERVISOR_OPTION, in order; last come the job's program and its
 * arguments. */
enum job_supervisor_word {
	JOB_SUPERVISOR_ROWS,
	JOB_SUPERVISOR_COLUMNS,
	JOB_SUPERVISOR_FILES,	  /* soft RLIMIT_NOFILE of the job; 0: unchanged */
	JOB_SUPERVISOR_LOG,	  /* file for the output; "": none */
	JOB_SUPERVISOR_DIRECTORY, /* working directory of the job; "": the node's */
	JOB_SUPERVISOR_WAITS,	  /* seconds that the job may wait for the node to take output;
				   * 0: the job never waits */
	JOB_SUPERVISOR_INPUT,	  /* descriptor for the job's standard input; -1: terminal */
	JOB_SUPERVISOR_PROGRAM,
};

/* Runs a supervisor with the arguments after JOB_SUPERVISOR_OPTION. Returns the exit status. */
int job_supervisor_run(int count, char **words);

/*
 * The messages between a node and the supervisor of a job, as packets of a socket (AF_UNIX,
 * SOCK_SEQPACKET). A packet is one byte, its kind, and the data of that kind. Both ends are the
 * same program on one machine: numbers are sent as they are in memory.
 */

/* Size of the longest packet, in bytes. */
#define SUPERVISOR_MAXIMUM 16384
/* Output or input in one packet, in bytes, at most. */
#define SUPERVISOR_DATA_MAXIMUM (SUPERVISOR_MAXIMUM - 1)

struct supervisor_message_end {
	int status;	 /* status of waitpid(2) */
	int other_count; /* number of other processes of the job that still run */
};

struct supervisor_message_lost {
	uint64_t count;
	bool is_kept; /* the lost bytes are in the file */
};

/*
 * Bytes of input that may wait in the supervisor. The node sends no more input until
 * SUPERVISOR_TYPED reports that bytes were written to the terminal, so the supervisor has room for
 * each packet.
 */
#define SUPERVISOR_INPUT_MAXIMUM ((size_t)64 << 10)

enum supervisor_message_kind {
	/* From the supervisor: */
	SUPERVISOR_WAITS = 'w',	  /* pid_t: the job's process exists and waits for SUPERVISOR_GO */
	SUPERVISOR_RUNS = 'r',	  /* execve(2) has succeeded */
	SUPERVISOR_REFUSED = 'f', /* int errno: the program could not be started */
	SUPERVISOR_OUTPUT = 'o',  /* bytes of the terminal's output */
	SUPERVISOR_LOST = 'l',	  /* struct supervisor_message_lost: output that
				   * SUPERVISOR_OUTPUT does not carry */
	SUPERVISOR_TYPED = 'y',	  /* uint32_t: bytes of input written to the terminal */
	SUPERVISOR_ENDED = 'e',	  /* struct supervisor_message_end; the process is not reaped yet */
	SUPERVISOR_EMPTY = 'n',	  /* no process of the job is left */
	/* To the supervisor: */
	SUPERVISOR_GO = 'g',
	SUPERVISOR_INPUT = 'i', /* bytes that the user has typed */
	SUPERVISOR_SIZE = 'z',	/* two uint16_t: rows and columns of the terminal */
	SUPERVISOR_END = 't',	/* uint8_t: end the job; 1: with SIGKILL */
	SUPERVISOR_SEEN = 'a',	/* acknowledges SUPERVISOR_ENDED */
	SUPERVISOR_TAKEN = 'k', /* uint64_t: total bytes of SUPERVISOR_OUTPUT that the node has
				 * taken */
};

#endif
