/*
 * transcript: the terminal output of debuggers' sessions, as bytes for a terminal
 * emulator. Limited to the newest bytes of the last processes that were selected.
 * Positions count from a session's first received byte.
 */
#ifndef MODEL_TRANSCRIPT_H
#define MODEL_TRANSCRIPT_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buffer.h"

struct error;
struct session;

#define TRANSCRIPT_BYTES ((size_t)256 << 10)

struct transcript {
	size_t node;
	pid_t pid;
	uint64_t times; /* raised when the session begins anew */
	uint64_t start; /* position of the first byte that is kept */
	uint64_t told;	/* bytes before this position are old output, received again: terminal
			 * queries in them need no reply */
	struct buffer bytes;
};

void transcript_free(struct transcript *transcript);
/* Position behind the last byte. */
uint64_t transcript_end(const struct transcript *transcript);
/* Appends output; is_first: the session begins anew, and text is its older output. */
void transcript_add(struct transcript *transcript, const char *text, bool is_first);
/* Returns a borrowed transcript; NULL: no output received. */
const struct transcript *session_find_transcript(const struct session *session, size_t node,
						 pid_t pid);
/* Handles an event `output` of category `terminal` for session_apply. */
int session_apply_transcript(struct session *session, size_t node, const json_t *body,
			     struct error *error);
void session_clear_transcripts(struct session *session);

#endif
