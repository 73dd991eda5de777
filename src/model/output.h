/*
 * output: what one process printed lately, in lines as a terminal would show
 * them, and where it goes. Bounded: the newest lines of the last processes
 * that were looked at.
 */
#ifndef MODEL_OUTPUT_H
#define MODEL_OUTPUT_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct error;
struct session;

enum output_kind {
	OUTPUT_STDOUT,
	OUTPUT_STDERR,
	OUTPUT_NOTE, /* of the node, about what is missing here */
	OUTPUT_KIND_COUNT,
};

#define OUTPUT_STREAMS 2
#define OUTPUT_LINES 400
#define OUTPUT_LINE_BYTES 2000

struct output_line {
	enum output_kind kind;
	char *text; /* safe to show */
};

/* The line that a stream has not ended yet. */
struct output_rest {
	char *bytes; /* as they came; NULL: none */
	size_t length;
	bool is_shown; /* it is the stream's newest line already */
};

struct output_stream {
	char *path;   /* of the file; NULL: there is none */
	char *why;    /* a sentence about what cannot be followed; NULL */
	char *shared; /* ranks that print to the same file; NULL: none */
	struct output_rest rest;
};

struct output {
	size_t node;
	pid_t pid;
	bool is_known; /* where its streams go was told */
	struct output_stream streams[OUTPUT_STREAMS];
	struct output_line lines[OUTPUT_LINES]; /* a ring */
	size_t line_count;			/* ever written */
};

void output_free(struct output *output);
/* How many lines are kept, and number i of them, the oldest first. */
size_t output_count(const struct output *output);
const struct output_line *output_line(const struct output *output, size_t i);

/* Lends; NULL: nothing of it was asked for. */
const struct output *session_find_output(const struct session *session, size_t node, pid_t pid);
/* For session_apply: an event `output`, and the answer to the request. */
int session_apply_output(struct session *session, size_t node, const json_t *body,
			 struct error *error);
int session_apply_streams(struct session *session, size_t node, const json_t *body,
			  struct error *error);
void session_clear_outputs(struct session *session);

#endif
