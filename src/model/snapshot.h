/*
 * snapshot: all data of a session about one node at one time, as the body of the event `snapshot`,
 * which only recordings have.
 *
 * In a session without data of the node, applying the snapshot restores the recorded session: ranks
 * with their newest samples, since when each thread has been at its place, and the main threads'
 * histories. In a session that has already applied earlier lines of the recording, applying the
 * snapshot only resets the stack ids, as `stacksDropped` does.
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
/*
 * Handles the event `snapshot` for session_apply(); adds shift to all times in body. Returns 0; -1
 * and *error.
 */
int snapshot_apply(struct session *session, size_t node, const json_t *body, double shift,
		   struct error *error);

#endif
