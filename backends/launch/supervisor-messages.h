/*
 * supervisor-messages: what a node and the keeper of a job say to each other, over a socket
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
#define WIRE_MAXIMUM 16384
/* Bytes of output or input in one. */
#define WIRE_DATA_MAXIMUM (WIRE_MAXIMUM - 1)

struct wire_end {
	int status;	 /* of waitpid(2) */
	int other_count; /* processes that it left behind */
};

struct wire_lost {
	uint64_t count;
	bool is_kept; /* it is in the file */
};

/*
 * Bytes of input that wait in the keeper: the node sends no more before some
 * were told WIRE_TYPED, so the keeper takes all that comes.
 */
#define WIRE_INPUT_MAXIMUM ((size_t)64 << 10)

enum wire_kind {
	/* From the keeper: */
	WIRE_WAITS = 'w',   /* pid_t: the process is there, and waits for GO */
	WIRE_RUNS = 'r',    /* it runs the program now */
	WIRE_REFUSED = 'f', /* int errno: it could not be started */
	WIRE_OUTPUT = 'o',  /* bytes that its terminal got */
	WIRE_LOST = 'l',    /* struct wire_lost, in place of bytes of it */
	WIRE_TYPED = 'y',   /* uint32_t: so many bytes of input went there */
	WIRE_ENDED = 'e',   /* struct wire_end; it is not waited for yet */
	WIRE_EMPTY = 'n',   /* no process of the job is left */
	/* To the keeper: */
	WIRE_GO = 'g',
	WIRE_INPUT = 'i', /* bytes that a person types */
	WIRE_SIZE = 'z',  /* two uint16_t: rows and columns of the terminal */
	WIRE_END = 't',	  /* uint8_t: end the job; 1: at once */
	WIRE_SEEN = 'a',  /* ENDED was taken note of */
	WIRE_TAKEN = 'k', /* uint64_t: so much of OUTPUT, ever, was read */
};

#endif
