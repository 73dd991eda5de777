#include "model/stackkey.h"

#include "banned.h"
#include "base/hash.h"
#include "model/session.h"
#include "protocol/stack.h"

uint64_t stackkey_of(const struct session *session, const struct stack *stack)
{
	uint64_t hash = HASH_START;

	/* A node's table has each stack once: compare pointers. Stacks of several nodes are
	 * hashed. */
	if (session->node_count <= 1)
		return (uint64_t)(uintptr_t)stack;
	for (size_t i = 0; i < stack->frame_count; i++) {
		const struct frame *frame = &stack->frames[i];

		hash = hash_text(hash, frame->code->func);
		hash = hash_text(hash, frame->code->file);
		hash = hash_number(hash, (uint64_t)frame->lineno);
	}
	return hash;
}
