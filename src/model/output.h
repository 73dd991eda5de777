/*
 * output: recent output of one process, in lines as a terminal would show them, and the
 * files of its streams. Limited to the newest lines of the last processes that were
 * selected.
 */
#ifndef MODEL_OUTPUT_H
#define MODEL_OUTPUT_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buffer.h"

struct error;
struct session;

enum output_kind {
	OUTPUT_STDOUT,
	OUTPUT_STDERR,
	OUTPUT_NOTE, /* a note of the node about missing output */
	OUTPUT_KIND_COUNT,
};

#define OUTPUT_STREAMS 2
#define OUTPUT_LINES 400
#define OUTPUT_LINE_BYTES 2000
#define OUTPUT_END_BYTES (OUTPUT_LINE_BYTES / 2)

struct output_line {
	enum output_kind kind;
	char *text; /* escaped, safe to show */
};

/* The unfinished last line of a stream. */
struct output_rest {
	/* Unescaped bytes; NULL: none. Of a longer line the first and last OUTPUT_END_BYTES. */
	char *bytes;
	size_t length;
	bool is_cut;   /* the line is longer: bytes are missing behind the first OUTPUT_END_BYTES */
	bool is_shown; /* the unfinished line is already in lines */
};

struct output_stream {
	char *path;   /* path of the stream's file; NULL: unknown */
	char *why;    /* why the stream cannot be followed, a sentence; NULL: it can be followed */
	char *shared; /* other ranks that print to the same file, as text "0-2"; NULL: none */
	struct output_rest rest;
};

struct output {
	size_t node;
	pid_t pid;
	bool is_known; /* the node has reported the streams */
	struct output_stream streams[OUTPUT_STREAMS];
	struct output_line lines[OUTPUT_LINES]; /* ring */
	size_t line_count;			/* number of lines ever written */
};

void output_free(struct output *output);
/* Appends "shared with rank 2" or "shared with ranks 0-2"; shared: of a stream. */
void output_append_shared(struct buffer *out, const char *shared);
/* Number of stored lines; and line i of them (0: the oldest), respectively. */
size_t output_count(const struct output *output);
const struct output_line *output_line(const struct output *output, size_t i);

/* Returns the output of a process, borrowed; NULL: it was never requested. */
const struct output *session_find_output(const struct session *session, size_t node, pid_t pid);
/*
 * Handle an event `output`, and an answer to the request `output`, respectively, for
 * session_apply(). Return 0; -1 and *error: invalid.
 */
int session_apply_output(struct session *session, size_t node, const json_t *body,
			 struct error *error);
int session_apply_streams(struct session *session, size_t node, const json_t *body,
			  struct error *error);
void session_clear_outputs(struct session *session);

/*
 * transcript: the terminal output of a debugger's session, as bytes for a terminal emulator.
 * Limited to the newest bytes, and to the last processes that were selected. A position is the
 * number of bytes received before, from the beginning of the session.
 */

#define TRANSCRIPT_BYTES ((size_t)256 << 10)

struct transcript {
	size_t node;
	pid_t pid;
	uint64_t times; /* incremented when a new session begins */
	uint64_t start; /* position of the first byte that is kept */
	uint64_t told;	/* bytes before this position are old output of the session: terminal
			 * queries in these bytes need no reply */
	struct buffer bytes;
};

void transcript_free(struct transcript *transcript);
/* Position behind the last byte. */
uint64_t transcript_end(const struct transcript *transcript);
/* Appends output; is_first: a new session begins, and text is the older output of this session. */
void transcript_add(struct transcript *transcript, const char *text, bool is_first);
/* Returns the transcript of a process, borrowed; NULL: no output was received. */
const struct transcript *session_find_transcript(const struct session *session, size_t node,
						 pid_t pid);
/* Handles an event `output` of category `terminal` for session_apply. */
int session_apply_transcript(struct session *session, size_t node, const json_t *body,
			     struct error *error);
void session_clear_transcripts(struct session *session);

#endif
