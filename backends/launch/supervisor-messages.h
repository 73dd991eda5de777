/*
 * supervisor-messages: what a node and the supervisor of a job say to each other, over a socket
 * of packets (AF_UNIX, SOCK_SEQPACKET). A packet is one byte that says what it
 * is, and what belongs to that. Both are the same program, on one machine:
 * numbers travel as they lie in memory.
 */
#ifndef BACKENDS_LAUNCH_SUPERVISOR_MESSAGES_H
#define BACKENDS_LAUNCH_SUPERVISOR_MESSAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes of the longest packet. */
#define SUPERVISOR_MAXIMUM 16384
/* Bytes of output or input in one. */
#define SUPERVISOR_DATA_MAXIMUM (SUPERVISOR_MAXIMUM - 1)

struct supervisor_message_end {
	int status;	 /* of waitpid(2) */
	int other_count; /* processes that it left behind */
};

struct supervisor_message_lost {
	uint64_t count;
	bool is_kept; /* it is in the file */
};

/*
 * Bytes of input that wait in the supervisor: the node sends no more before some
 * were told SUPERVISOR_TYPED, so the supervisor takes all that comes.
 */
#define SUPERVISOR_INPUT_MAXIMUM ((size_t)64 << 10)

enum supervisor_message_kind {
	/* From the supervisor: */
	SUPERVISOR_WAITS = 'w',	  /* pid_t: the process is there, and waits for GO */
	SUPERVISOR_RUNS = 'r',	  /* it runs the program now */
	SUPERVISOR_REFUSED = 'f', /* int errno: it could not be started */
	SUPERVISOR_OUTPUT = 'o',  /* bytes that its terminal got */
	SUPERVISOR_LOST = 'l',	  /* struct supervisor_message_lost, in place of bytes of it */
	SUPERVISOR_TYPED = 'y',	  /* uint32_t: so many bytes of input went there */
	SUPERVISOR_ENDED = 'e',	  /* struct supervisor_message_end; it is not waited for yet */
	SUPERVISOR_EMPTY = 'n',	  /* no process of the job is left */
	/* To the supervisor: */
	SUPERVISOR_GO = 'g',
	SUPERVISOR_INPUT = 'i', /* bytes that a person types */
	SUPERVISOR_SIZE = 'z',	/* two uint16_t: rows and columns of the terminal */
	SUPERVISOR_END = 't',	/* uint8_t: end the job; 1: at once */
	SUPERVISOR_SEEN = 'a',	/* ENDED was taken note of */
	SUPERVISOR_TAKEN = 'k', /* uint64_t: so much of OUTPUT, ever, was read */
};

#endif
