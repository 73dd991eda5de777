/*
 * snapshot: all that a session knows of one node at one time, as the body of
 * the event `snapshot`, which only recordings have.
 *
 * A session that knows nothing of the node yet is afterwards as the one that
 * the snapshot was made of: ranks with their newest sample, since when each
 * thread stands where it stands, and where its main thread was before. To a
 * session that has followed from before it tells only that ids of stacks are
 * given anew, as `stacksDropped` does.
 */
#ifndef MODEL_SNAPSHOT_H
#define MODEL_SNAPSHOT_H

#include <jansson.h>
#include <stddef.h>

struct error;
struct session;
struct stack_table;

/*
 * The session's node as JSON; its stacks become table's, and are sent along
 * where they were not before.
 */
json_t *snapshot_to_json(const struct session *session, size_t node, struct stack_table *table);
/*
 * For session_apply. Times in the body are that much less than the session's.
 */
int snapshot_apply(struct session *session, size_t node, const json_t *body, double shift,
		   struct error *error);

#endif
