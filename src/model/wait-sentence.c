/* wait-sentence: the sentences and rows that wait-graph.h declares. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "base/alloc.h"
#include "base/array.h"
#include "base/buffer.h"
#include "base/text.h"
#include "model/phrase.h"
#include "model/phase.h"
#include "model/place.h"
#include "model/rank.h"
#include "model/session.h"
#include "model/wait-graph.h"
#include "protocol/collectives.h"
#include "protocol/stack.h"

/* Number of collectives, or of different calls, that a sentence names. */
#define LISTED 4
/* Number of ranks of a ring that a sentence names. */
#define RING_LISTED 16
#define NAME_COLUMNS 60

static void append_group(struct buffer *out, const struct group_row *row)
{
	struct buffer name = BUFFER_INIT;

	group_append_name(&name, row->group);
	text_cut(out, name.data, NAME_COLUMNS);
	buffer_clear(&name);
}

void wait_sentence_append_collective(struct buffer *out, const struct wait_node *node)
{
	buffer_printf(out, "collective %" PRIi64 " of ", node->seq);
	append_group(out, node->row);
}

/* Appends the phase of a trainer from which the stack comes; nothing if none is known. */
static void append_phase(struct buffer *out, const struct rank *rank, const struct stack *stack)
{
	const struct frame *frame = place_find(&rank->process, stack);

	if (frame)
		phase_append(out, stack, frame);
}

/*
 * Appends " (train.py:17)", or " (train.py:30, evaluation)" if has_phase; nothing if there is no
 * frame to name.
 */
static void append_line(struct buffer *out, const struct rank *rank, const struct stack *stack,
			bool has_phase)
{
	const struct frame *frame = place_find(&rank->process, stack);
	struct buffer line = BUFFER_INIT;

	if (!frame)
		return;
	place_append(&line, frame);
	buffer_append_string(out, " (");
	text_cut_path(out, line.data, NAME_COLUMNS);
	if (has_phase)
		phase_append(out, stack, frame);
	buffer_append_char(out, ')');
	buffer_clear(&line);
}

/* Appends "all_reduce (train.py:17)"; with the sizes if has_sizes. */
static void append_call(struct buffer *out, const struct rank *rank,
			const struct collective_entry *call, bool has_sizes, bool has_phase)
{
	const char *operation = collective_call_name(call);
	struct buffer name = BUFFER_INIT;

	if (has_sizes)
		collective_call_append(&name, call);
	else
		text_escape(&name, operation, strlen(operation));
	text_cut(out, name.data, NAME_COLUMNS);
	append_line(out, rank, call->stack, has_phase);
	buffer_clear(&name);
}

static void wait_sentence_append_set(struct buffer *out, const struct rankset *ranks, bool is_first)
{
	size_t count = rankset_count(ranks);

	buffer_append_string(out, is_first ? "Rank" : "rank");
	buffer_append_string(out, count == 1 ? " " : "s ");
	if (count == 2)
		buffer_printf(out, "%d and %d", rankset_first(ranks),
			      rankset_next(ranks, rankset_first(ranks)));
	else
		rankset_append(out, ranks);
}

/* The ranks that wait in the collective, or those missing there; the call of the first of them. */
struct side {
	struct rankset ranks;
	const struct rank *first;
	const struct collective_entry *call;
	bool is_mixed; /* the ranks have called it in different phases of a trainer */
};

/* True if the calls come from one phase of a trainer; most come from none. */
static bool is_same_phase(const struct rank *rank, const struct collective_entry *call,
			  const struct rank *other, const struct collective_entry *other_call)
{
	struct buffer phase = BUFFER_INIT;
	struct buffer other_phase = BUFFER_INIT;
	bool is_same;

	if (!call || !other_call || !call->stack || !other_call->stack)
		return true;
	append_phase(&phase, rank, call->stack);
	if (phase.length > 0)
		append_phase(&other_phase, other, other_call->stack);
	is_same = phase.length == 0 ||
		  (other_phase.length > 0 && strcmp(phase.data, other_phase.data) == 0);
	buffer_clear(&phase);
	buffer_clear(&other_phase);
	return is_same;
}

static void add_to_side(struct side *side, const struct wait_node *node,
			const struct collective_entry *call)
{
	if (!side->first) {
		side->first = node->rank;
		side->call = call;
	} else if (!side->is_mixed) {
		side->is_mixed = !is_same_phase(side->first, side->call, node->rank, call);
	}
	rankset_add(&side->ranks, node->number);
}

static struct side find_waiting(const struct wait_graph *graph, size_t collective)
{
	struct side side = { .ranks = RANKSET_INIT };

	for (size_t i = 0; i < graph->edge_count; i++) {
		const struct wait_edge *edge = &graph->edges[i];

		if (edge->to == collective)
			add_to_side(&side, &graph->nodes[edge->from], edge->call);
	}
	return side;
}

/* The missing ranks that belong to the cause: of a cycle those that wait in it, too. */
static struct side find_missing(const struct wait_graph *graph, size_t collective)
{
	const struct wait_node *node = &graph->nodes[collective];
	struct side side = { .ranks = RANKSET_INIT };

	for (size_t i = 0; i < node->out_count; i++) {
		const struct wait_edge *edge = &graph->edges[node->first_edge + i];

		if (rankset_contains(&graph->ranks, graph->nodes[edge->to].number))
			add_to_side(&side, &graph->nodes[edge->to], edge->call);
	}
	return side;
}

static bool waits_for_data(const struct wait_node *node)
{
	return node->kind == WAIT_NODE_HELPER &&
	       rank_main_thread(node->rank)->activity.kind == ACTIVITY_DATA;
}

/* Appends "recv (train.py:9)", the place where ranks wait for a message, lock or helper. */
static void append_place(struct buffer *out, const struct wait_node *node)
{
	const struct thread *thread = rank_main_thread(node->rank);
	bool is_data = waits_for_data(node);

	text_cut(out, is_data ? "its DataLoader" : thread->activity.name, NAME_COLUMNS);
	append_line(out, node->rank, thread->sample.stack, true);
}

/* Appends what is waited in: "all_reduce (train.py:17) of tp" or "recv (train.py:9)". */
static void append_waited(struct buffer *out, const struct wait_node *node,
			  const struct side *waiting)
{
	if (node->kind != WAIT_NODE_COLLECTIVE) {
		append_place(out, node);
		return;
	}
	append_call(out, waiting->first, waiting->call, false, !waiting->is_mixed);
	buffer_append_string(out, " of ");
	append_group(out, node->row);
}

/* Appends "; its last is broadcast (train.py:12), number 4" if one rank is absent. */
static void append_last(struct buffer *out, const struct side *absent)
{
	if (rankset_count(&absent->ranks) != 1 || !absent->call)
		return;
	buffer_append_string(out, "; its last is ");
	append_call(out, absent->first, absent->call, false, !absent->is_mixed);
	buffer_printf(out, ", collective %" PRIi64, absent->call->seq);
}

/* Appends "Rank 0 waits in recv (train.py:9) for rank 2." */
static void append_awaited(struct buffer *out, const struct wait_graph *graph, size_t message)
{
	struct side waiting = find_waiting(graph, message);
	struct side awaited = find_missing(graph, message);

	wait_sentence_append_set(out, &waiting.ranks, true);
	buffer_append_string(out, rankset_count(&waiting.ranks) == 1 ? " waits in " : " wait in ");
	append_waited(out, &graph->nodes[message], &waiting);
	buffer_append_string(out, " for ");
	wait_sentence_append_set(out, &awaited.ranks, false);
	buffer_append_char(out, '.');
	rankset_clear(&waiting.ranks);
	rankset_clear(&awaited.ranks);
}

static void append_absent(struct buffer *out, const struct wait_graph *graph, size_t collective)
{
	const struct wait_node *node = &graph->nodes[collective];
	struct side waiting = find_waiting(graph, collective);
	struct side absent = find_missing(graph, collective);

	wait_sentence_append_set(out, &absent.ranks, true);
	buffer_append_string(out, rankset_count(&absent.ranks) == 1 ? " has" : " have");
	buffer_append_string(out, " not called ");
	append_call(out, waiting.first, waiting.call, false, !waiting.is_mixed);
	buffer_append_string(out, ", ");
	wait_sentence_append_collective(out, node);
	buffer_append_string(out, ", in which ");
	wait_sentence_append_set(out, &waiting.ranks, false);
	buffer_append_string(out, rankset_count(&waiting.ranks) == 1 ? " waits" : " wait");
	append_last(out, &absent);
	buffer_append_char(out, '.');
	rankset_clear(&waiting.ranks);
	rankset_clear(&absent.ranks);
}

static void say_absent(struct buffer *out, const struct wait_graph *graph)
{
	for (size_t i = 0; i < graph->path_count && i < LISTED; i++) {
		if (i > 0)
			buffer_append_char(out, ' ');
		if (graph->nodes[graph->path[i]].kind == WAIT_NODE_COLLECTIVE)
			append_absent(out, graph, graph->path[i]);
		else
			append_awaited(out, graph, graph->path[i]);
	}
	if (graph->path_count > LISTED)
		buffer_printf(out, " Ranks are missing in %zu further calls.",
			      graph->path_count - LISTED);
}

/* True if two of the classes are calls of one operation, so that the sizes tell them apart. */
static bool has_equal_names(const struct call_classes *classes)
{
	for (size_t i = 1; i < classes->count; i++) {
		for (size_t j = 0; j < i; j++) {
			if (strcmp(collective_call_name(classes->items[i].call),
				   collective_call_name(classes->items[j].call)) == 0)
				return true;
		}
	}
	return false;
}

/* True if all ranks of the class have called it in one phase of a trainer. */
static bool is_one_phase(const struct wait_node *node, const struct call_class *class)
{
	const struct rank *first = group_row_rank(node->row, rankset_first(&class->ranks));

	for (size_t i = 0; i < node->row->count; i++) {
		const struct group_member *member = &node->row->members[i];

		if (rankset_contains(&class->ranks, member->rank->process.rank) &&
		    !is_same_phase(first, class->call, member->rank,
				   group_member_entry(member, node->seq)))
			return false;
	}
	return true;
}

static void say_other(struct buffer *out, const struct wait_graph *graph)
{
	const struct wait_node *node = &graph->nodes[graph->path[0]];
	struct call_classes classes;
	size_t listed = 0;

	call_classes_make(&classes, node->row, node->seq);
	/* The smallest class first: it is the outlier. */
	for (size_t i = classes.count; i-- > 0 && listed < LISTED; listed++) {
		const struct call_class *class = &classes.items[i];

		if (listed > 0)
			buffer_append_string(out, ", ");
		wait_sentence_append_set(out, &class->ranks, listed == 0);
		if (listed == 0)
			buffer_append_string(out, rankset_count(&class->ranks) == 1
							  ? " has called"
							  : " have called");
		buffer_append_char(out, ' ');
		append_call(out, group_row_rank(node->row, rankset_first(&class->ranks)),
			    class->call, has_equal_names(&classes), is_one_phase(node, class));
		if (listed > 0)
			continue;
		buffer_append_string(out, " as ");
		wait_sentence_append_collective(out, node);
	}
	if (classes.count > LISTED)
		buffer_printf(out, ", and %zu more different calls", classes.count - LISTED);
	buffer_append_char(out, '.');
	call_classes_clear(&classes);
}

/* at: index in the path. begins: the link begins the sentence. */
static void append_link(struct buffer *out, const struct wait_graph *graph, size_t index,
			bool begins)
{
	size_t at = graph->path[index];
	struct side waiting = find_waiting(graph, at);
	struct side missing = find_missing(graph, at);

	wait_sentence_append_set(out, &waiting.ranks, begins);
	if (index == 0)
		buffer_append_string(out, rankset_count(&waiting.ranks) == 1 ? " waits" : " wait");
	buffer_append_string(out, " in ");
	append_waited(out, &graph->nodes[at], &waiting);
	buffer_append_string(out, " for ");
	wait_sentence_append_set(out, &missing.ranks, false);
	rankset_clear(&waiting.ranks);
	rankset_clear(&missing.ranks);
}

/* True if all links of the cycle are messages that are waited for at one place. */
static bool is_ring(const struct wait_graph *graph)
{
	struct buffer first = BUFFER_INIT;
	struct buffer other = BUFFER_INIT;
	bool is_equal = true;

	for (size_t i = 0; is_equal && i < graph->path_count; i++) {
		const struct wait_node *node = &graph->nodes[graph->path[i]];

		buffer_reset(&other);
		is_equal = node->kind == WAIT_NODE_MESSAGE;
		if (is_equal)
			append_place(i == 0 ? &first : &other, node);
		is_equal = is_equal && (i == 0 || strcmp(first.data, other.data) == 0);
	}
	buffer_clear(&first);
	buffer_clear(&other);
	return is_equal;
}

/* Appends "ranks 0 → 1 → 2 → 0 each wait in recv (train.py:9) for the next". */
static void append_ring(struct buffer *out, const struct wait_graph *graph, bool is_first)
{
	buffer_append_string(out, is_first ? "Ranks " : "ranks ");
	for (size_t i = 0; i < graph->path_count && i < RING_LISTED; i++)
		buffer_printf(out, "%d \u2192 ", graph->nodes[graph->path[i]].rank->process.rank);
	if (graph->path_count > RING_LISTED)
		buffer_printf(out, "(%zu more) \u2192 ", graph->path_count - RING_LISTED);
	buffer_printf(out, "%d each wait in ", graph->nodes[graph->path[0]].rank->process.rank);
	append_place(out, &graph->nodes[graph->path[0]]);
	buffer_append_string(out, " for the next");
}

static void say_cycle(struct buffer *out, const struct wait_graph *graph, bool is_hung)
{
	if (is_hung)
		buffer_append_string(out, "Deadlock: ");
	if (is_ring(graph)) {
		append_ring(out, graph, !is_hung);
		buffer_append_char(out, '.');
		return;
	}
	for (size_t i = 0; i < graph->path_count && i < LISTED; i++) {
		buffer_append_string(out, i > 0 ? ", " : "");
		append_link(out, graph, i, i == 0 && !is_hung);
	}
	if (graph->path_count > LISTED)
		buffer_printf(out, ", and so on through %zu more calls",
			      graph->path_count - LISTED);
	buffer_append_char(out, '.');
}

/* Ranks that wait, others that have gone on: what they have called looks alike. */
static void say_met(struct buffer *out, const struct wait_graph *graph)
{
	const struct wait_node *node = &graph->nodes[graph->path[0]];
	struct side waiting = find_waiting(graph, graph->path[0]);
	const char *arguments = collective_call_unrecorded(node->call);

	wait_sentence_append_set(out, &waiting.ranks, true);
	buffer_append_string(out, rankset_count(&waiting.ranks) == 1 ? " waits in " : " wait in ");
	append_call(out, waiting.first, waiting.call, false, !waiting.is_mixed);
	buffer_append_string(out, ", ");
	wait_sentence_append_collective(out, node);
	buffer_append_string(out, ", which all members have called as the same operation: look ");
	if (arguments)
		buffer_printf(out, "at what torch does not record (%s), or ", arguments);
	buffer_append_string(out, "below Python.");
	rankset_clear(&waiting.ranks);
}

void wait_sentence_append(struct buffer *out, const struct wait_graph *graph, bool is_hung)
{
	switch (graph->cause) {
	case WAIT_CAUSE_NONE:
		break;
	case WAIT_CAUSE_ABSENT:
		say_absent(out, graph);
		break;
	case WAIT_CAUSE_OTHER:
		say_other(out, graph);
		break;
	case WAIT_CAUSE_CYCLE:
		say_cycle(out, graph, is_hung);
		break;
	case WAIT_CAUSE_MET:
		say_met(out, graph);
		break;
	}
}

/* True if a and b state the same fact about two ranks. */
static bool is_same_fact(const struct wait_edge *a, const struct wait_edge *b)
{
	if (a->reason != b->reason || !a->call != !b->call)
		return false;
	return !a->call ||
	       (a->call->seq == b->call->seq && collective_calls_match(a->call, b->call));
}

/* Appends a row's text. waited: the call of the ranks that wait; NULL: it is no collective. */
static void append_missing_fact(struct buffer *out, const struct side *side,
				const struct wait_edge *edge, const struct collective_entry *waited)
{
	enum wait_reason reason = edge->reason;
	bool is_one = rankset_count(&side->ranks) == 1;
	bool is_other = !waited || !side->call ||
			strcmp(collective_call_name(waited), collective_call_name(side->call)) != 0;

	if (reason == WAIT_REASON_PEER || reason == WAIT_REASON_HOLDER) {
		buffer_append_string(out, "for ");
		wait_sentence_append_set(out, &side->ranks, false);
		buffer_append_string(out, reason == WAIT_REASON_PEER
						  ? ", which the call's arguments name"
						  : ", the holder of the lock (/proc/locks)");
		return;
	}
	wait_sentence_append_set(out, &side->ranks, false);
	buffer_append_string(out, is_one ? " has" : " have");
	if (reason == WAIT_REASON_OTHER) {
		buffer_append_string(out, " called ");
		append_call(out, side->first, side->call, true, !side->is_mixed);
		buffer_append_string(out, is_other ? " in its place" : ", of another size or type");
		return;
	}
	buffer_append_string(out, " not called it");
	if (!side->call)
		return;
	buffer_printf(out, "; %s last is %" PRIi64 ": ", is_one ? "its" : "their", side->call->seq);
	append_call(out, side->first, side->call, true, !side->is_mixed);
}

static void add_row(struct wait_rows *rows, struct buffer *text, const struct side *side,
		    bool is_missing)
{
	ARRAY_GROW(rows->items, rows->count, rows->capacity);
	rows->items[rows->count++] = (struct wait_row){
		.text = buffer_take(text),
		.rank = rankset_first(&side->ranks),
		.is_missing = is_missing,
	};
}

static void add_waiting_row(struct wait_rows *rows, const struct wait_graph *graph,
			    size_t collective)
{
	const struct wait_node *node = &graph->nodes[collective];
	struct side waiting = find_waiting(graph, collective);
	struct buffer text = BUFFER_INIT;

	wait_sentence_append_set(&text, &waiting.ranks, false);
	buffer_append_string(&text, rankset_count(&waiting.ranks) == 1 ? " waits " : " wait ");
	buffer_append_string(&text, waits_for_data(node) ? "for " : "in ");
	if (node->kind != WAIT_NODE_COLLECTIVE) {
		append_place(&text, node);
		if (node->kind == WAIT_NODE_HELPER)
			phrase_append_helper(&text, node->rank);
	} else {
		wait_sentence_append_collective(&text, node);
		buffer_append_string(&text, ": ");
		append_call(&text, waiting.first, waiting.call, true, !waiting.is_mixed);
	}
	add_row(rows, &text, &waiting, false);
	rankset_clear(&waiting.ranks);
}

/* One row for all ranks that are missing in the way that edge `first` of the collective says. */
static void add_missing_row(struct wait_rows *rows, const struct wait_graph *graph,
			    const struct wait_node *node, size_t first)
{
	const struct wait_edge *edges = &graph->edges[node->first_edge];
	struct side side = { .ranks = RANKSET_INIT };
	struct buffer text = BUFFER_INIT;

	for (size_t i = 0; i < node->out_count; i++) {
		if (is_same_fact(&edges[first], &edges[i])) {
			if (i < first)
				break;
			add_to_side(&side, &graph->nodes[edges[i].to], edges[i].call);
		}
	}
	if (side.first) {
		append_missing_fact(&text, &side, &edges[first], node->call);
		add_row(rows, &text, &side, true);
	}
	rankset_clear(&side.ranks);
}

void wait_rows_make(struct wait_rows *rows, const struct wait_graph *graph)
{
	*rows = (struct wait_rows){ .items = NULL };
	for (size_t i = graph->rank_count; i < graph->node_count; i++) {
		add_waiting_row(rows, graph, i);
		for (size_t j = 0; j < graph->nodes[i].out_count; j++)
			add_missing_row(rows, graph, &graph->nodes[i], j);
	}
}

void wait_rows_clear(struct wait_rows *rows)
{
	for (size_t i = 0; i < rows->count; i++)
		free(rows->items[i].text);
	free(rows->items);
	*rows = (struct wait_rows){ .items = NULL };
}

void wait_sentence_append_nothing(struct buffer *out, const struct session *session)
{
	const char *missing = NULL;

	for (size_t i = 0; i < session->rank_count && !missing; i++) {
		if (session->ranks[i]->collectives)
			missing = session->ranks[i]->collectives->missing;
	}
	buffer_append_string(out, "The verdict was made by the stacks alone: ");
	if (missing)
		text_escape(out, missing, strlen(missing));
	else
		buffer_append_string(out, "no entry of torch's Flight Recorder, and no argument "
					  "of a call, says what a rank waits in");
	buffer_append_char(out, '.');
}
