/*
 * supervisor-messages: the messages between a node and the supervisor of a job, as packets
 * of a socket (AF_UNIX, SOCK_SEQPACKET). A packet is one byte, its kind, and the data
 * of that kind. Both ends are the same program on one machine: numbers are sent in the
 * format of memory.
 */
#ifndef BACKENDS_LAUNCH_SUPERVISOR_MESSAGES_H
#define BACKENDS_LAUNCH_SUPERVISOR_MESSAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes of the longest packet. */
#define SUPERVISOR_MAXIMUM 16384
/* Bytes of output or input in one packet. */
#define SUPERVISOR_DATA_MAXIMUM (SUPERVISOR_MAXIMUM - 1)

struct supervisor_message_end {
	int status;	 /* of waitpid(2) */
	int other_count; /* other processes of the job that still run */
};

struct supervisor_message_lost {
	uint64_t count;
	bool is_kept; /* the lost bytes are in the file */
};

/*
 * Bytes of input that may wait in the supervisor. The node sends no more until
 * SUPERVISOR_TYPED reports some as written, so the supervisor has room for each packet.
 */
#define SUPERVISOR_INPUT_MAXIMUM ((size_t)64 << 10)

enum supervisor_message_kind {
	/* From the supervisor: */
	SUPERVISOR_WAITS = 'w',	  /* pid_t: the process exists and waits for GO */
	SUPERVISOR_RUNS = 'r',	  /* execve(2) has succeeded */
	SUPERVISOR_REFUSED = 'f', /* int errno: the program could not be started */
	SUPERVISOR_OUTPUT = 'o',  /* bytes of the terminal's output */
	SUPERVISOR_LOST = 'l',	  /* struct supervisor_message_lost, in place of OUTPUT */
	SUPERVISOR_TYPED = 'y',	  /* uint32_t: bytes of input written to the terminal */
	SUPERVISOR_ENDED = 'e',	  /* struct supervisor_message_end; the process is not reaped yet */
	SUPERVISOR_EMPTY = 'n',	  /* no process of the job is left */
	/* To the supervisor: */
	SUPERVISOR_GO = 'g',
	SUPERVISOR_INPUT = 'i', /* bytes that the user types */
	SUPERVISOR_SIZE = 'z',	/* two uint16_t: rows and columns of the terminal */
	SUPERVISOR_END = 't',	/* uint8_t: end the job; 1: at once */
	SUPERVISOR_SEEN = 'a',	/* acknowledges ENDED */
	SUPERVISOR_TAKEN = 'k', /* uint64_t: bytes of OUTPUT ever read */
};

#endif
