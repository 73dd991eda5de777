/*
 * recordline: what of a message goes into a recording. Stacks are named as the
 * recording's own table does, so that a segment is complete in itself; values
 * of secrets and literals of secrets in source are masked. What a person typed
 * into a terminal is never in a recording.
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
	RECORDLINE_LEFT_OUT,
	RECORDLINE_AS_IT_IS,
	RECORDLINE_CHANGED, /* the line was appended, with its newline */
};

/* What is left out unless somebody asked for it; may be combined. */
enum recordline_extra {
	RECORDLINE_VARIABLES = 1,
	RECORDLINE_OUTPUT = 2, /* what processes print */
};

struct recordline_rules {
	int extras; /* what was asked for */
	/* Objects whose values were masked: what is in them is masked, too,
	 * when somebody opens them. */
	struct strmap *secrets;
	/* What was asked for, by number, that tells of a secret. */
	struct map *questions;
	/* Arguments of `tensor` and `parameters` by number: their answers
	 * repeat them, so that a replay finds them. */
	struct map *asked;
};

void recordline_rules_init(struct recordline_rules *rules);
void recordline_rules_clear(struct recordline_rules *rules);
/*
 * from is the table of the node that sent the message, which was applied; to
 * is the recording's.
 */
enum recordline recordline_make(struct buffer *out, const struct message *message,
				struct recordline_rules *rules, const struct stack_table *from,
				struct stack_table *to);
/* The same of what is known of debuggers in the body of a `snapshot`. */
void recordline_mask_snapshot(json_t *snapshot, const struct recordline_rules *rules);

#endif
