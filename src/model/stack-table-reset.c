/*
 * stack-table-reset: a node begins a new stack table with new ids.
 *
 * Stacks that the session points to are copied into the new table, so ranks keep their
 * history, and an unchanged stack keeps one pointer: a rank that has not moved still
 * compares equal. All other stacks are freed with the old table, so the session does not
 * grow.
 */
#include "banned.h"
#include "base/map.h"
#include "model/session.h"
#include "protocol/stack.h"

static void carry(struct stack_table *table, const struct stack **stack)
{
	if (*stack)
		*stack = stack_table_carry(table, *stack);
}

/* Newest first: if the table is full, only the oldest history is lost. */
static void carry_history(struct rank *rank, struct stack_table *table)
{
	size_t oldest = 0;

	if (rank->history_count > RANK_HISTORY)
		oldest = rank->history_count - RANK_HISTORY;
	for (size_t i = rank->history_count; i > oldest; i--)
		carry(table, &rank->history[(i - 1) % RANK_HISTORY].stack);
}

static void carry_threads(struct rank *rank, size_t node, struct stack_table *table)
{
	for (size_t i = 0; i < rank->thread_count && rank->node == node; i++) {
		carry(table, &rank->threads[i].sample.stack);
		carry(table, &rank->threads[i].sample.native);
	}
	for (size_t i = 0; i < rank->seen_count && rank->node == node; i++) {
		carry(table, &rank->seen[i].sample.stack);
		carry(table, &rank->seen[i].sample.native);
	}
	for (size_t i = 0; i < rank->child_count; i++)
		carry_threads(rank->children[i], node, table);
}

static void carry_past(struct rank *rank, size_t node, struct stack_table *table)
{
	if (rank->node == node)
		carry_history(rank, table);
	for (size_t i = 0; i < rank->child_count; i++)
		carry_past(rank->children[i], node, table);
}

static void carry_ranks(struct session *session, size_t node, struct stack_table *table,
			void (*carry_one)(struct rank *rank, size_t node,
					  struct stack_table *table))
{
	for (size_t i = 0; i < session->rank_count; i++)
		carry_one(session->ranks[i], node, table);
	for (size_t i = 0; i < session->other_count; i++)
		carry_one(session->others[i], node, table);
}

/* Variables point to their frame's code; the code of a process that has gone becomes NULL. */
static void carry_variables(struct session *session, size_t node, struct stack_table *table)
{
	for (size_t i = 0; i < session->variables_count; i++) {
		struct variables *variables = session->variables[i];
		const struct rank *rank = session_find_any_pid(session, node, variables->pid);

		if (variables->node != node)
			continue;
		if (variables->code && rank)
			variables->code = stack_table_carry_code(table, variables->code);
		else
			variables->code = NULL;
	}
}

void session_drop_stacks(struct session *session, size_t node)
{
	struct stack_table *table = stack_table_new();

	carry_ranks(session, node, table, carry_threads);
	carry_ranks(session, node, table, carry_past);
	carry_variables(session, node, table);
	verdict_clear(&session->verdict);
	stack_table_free(session->nodes[node].stacks);
	session->nodes[node].stacks = table;
	session_judge(session);
}
