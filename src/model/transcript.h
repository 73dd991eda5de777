/*
 * transcript: the sessions of debuggers as bytes, as their terminals are to
 * get them. Bounded: the newest bytes of the last processes that were looked
 * at. Positions count from a session's first byte that came.
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
	uint64_t times; /* raised when it begins anew */
	uint64_t start; /* position of the first byte that is kept */
	uint64_t told;	/* what is before was not said just now: nobody waits
			 * for an answer to it */
	struct buffer bytes;
};

void transcript_free(struct transcript *transcript);
/* Behind the last byte. */
uint64_t transcript_end(const struct transcript *transcript);
/* Adds what came; is_first: it begins anew, and these were said before. */
void transcript_add(struct transcript *transcript, const char *text, bool is_first);
/* Lends; NULL: nothing of it came. */
const struct transcript *session_find_transcript(const struct session *session, size_t node,
						 pid_t pid);
/* For session_apply: an event `output` of category `terminal`. */
int session_apply_transcript(struct session *session, size_t node, const json_t *body,
			     struct error *error);
void session_clear_transcripts(struct session *session);

#endif
