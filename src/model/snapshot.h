/*
 * snapshot: all of a session's data about one node at one time, as the body of the event
 * `snapshot`, which only recordings have.
 *
 * Applied to a session without data of the node, the snapshot restores the session that
 * it was made of: ranks with their newest sample, the time since each thread is at its
 * place, and the main thread's history. In a session that has followed the recording from
 * earlier on, it only resets the stack ids, as `stacksDropped` does.
 */
#ifndef MODEL_SNAPSHOT_H
#define MODEL_SNAPSHOT_H

#include <jansson.h>
#include <stddef.h>

struct error;
struct session;
struct stack_table;

/*
 * Converts the session's data of a node to JSON; the stacks are copied into table, and
 * included in the JSON if they were not sent before.
 */
json_t *snapshot_to_json(const struct session *session, size_t node, struct stack_table *table);
/* Handles the event for session_apply. shift is added to all times in the body. -1 and *error. */
int snapshot_apply(struct session *session, size_t node, const json_t *body, double shift,
		   struct error *error);

#endif
