/*
 * recordline: the part of a message that goes into a recording. Stack ids are replaced by those of
 * the recording's own table, so that each segment is complete; values of secrets, and literals of
 * secrets in source, are masked. Text that a person typed into a terminal is never recorded.
 */
#ifndef ENGINE_RECORDLINE_H
#define ENGINE_RECORDLINE_H

#include <jansson.h>

struct buffer;
struct map;
struct message;
struct stack_table;
struct strmap;

enum recordline {
	/* How the line is recorded. */
	RECORDLINE_LEFT_OUT,
	RECORDLINE_AS_IT_IS,
	RECORDLINE_CHANGED, /* the changed line was appended, with its newline */
};

/* Data that is left out unless the user asked for it; a bit mask. */
enum recordline_extra {
	RECORDLINE_VARIABLES = 1,
	RECORDLINE_OUTPUT = 2, /* output of processes */
};

struct recordline_rules {
	int extras; /* set of enum recordline_extra: data to record */
	/* Objects whose value was masked: answers with their members are masked, too. */
	struct strmap *secrets;
	/* Sequence numbers of requests that mention a secret: their answers are masked. */
	struct map *questions;
	/*
	 * Arguments of requests `tensor` and `parameters`, by sequence number: each recorded answer
	 * repeats the arguments, so that a replay can find the answer.
	 */
	struct map *asked;
};

void recordline_rules_init(struct recordline_rules *rules);
void recordline_rules_clear(struct recordline_rules *rules);
/*
 * Makes the line to record from a message that the session has applied. from: stack table of the
 * node that sent the message; to: the recording's stack table.
 */
enum recordline recordline_make(struct buffer *out, const struct message *message,
				struct recordline_rules *rules, const struct stack_table *from,
				struct stack_table *to);
/* Masks the debuggers' data in the body of a `snapshot`. */
void recordline_mask_snapshot(json_t *snapshot, const struct recordline_rules *rules);

#endif
