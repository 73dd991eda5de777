/* wait-sentence: the graph of who waits for whom, in words. */
#include <inttypes.h>
#include <string.h>

#include "banned.h"
#include "base/buffer.h"
#include "base/text.h"
#include "model/place.h"
#include "model/rank.h"
#include "model/wait-graph.h"
#include "protocol/collectives.h"
#include "protocol/stack.h"

/* Number of collectives, or of different calls, that a sentence names. */
#define LISTED 4
#define NAME_COLUMNS 60

static void append_group(struct buffer *out, const struct group_row *row)
{
	struct buffer name = BUFFER_INIT;

	group_append_name(&name, row->group);
	text_cut(out, name.data, NAME_COLUMNS);
	buffer_clear(&name);
}

/* Appends " (train.py:17)", the user's line of the call; nothing if it is not known. */
static void append_call_place(struct buffer *out, const struct rank *rank,
			      const struct collective_entry *call)
{
	const struct frame *frame =
		call && call->stack ? place_find(&rank->process, call->stack) : NULL;
	struct buffer line = BUFFER_INIT;

	if (!frame)
		return;
	place_append(&line, frame);
	buffer_append_string(out, " (");
	text_cut_path(out, line.data, NAME_COLUMNS);
	buffer_append_char(out, ')');
	buffer_clear(&line);
}

/* Appends "all_reduce (train.py:17)"; with the sizes if has_sizes. */
static void append_call(struct buffer *out, const struct rank *rank,
			const struct collective_entry *call, bool has_sizes)
{
	const char *operation = collective_call_name(call);
	struct buffer name = BUFFER_INIT;

	if (has_sizes)
		collective_call_append(&name, call);
	else
		text_escape(&name, operation, strlen(operation));
	text_cut(out, name.data, NAME_COLUMNS);
	append_call_place(out, rank, call);
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
};

static void add_to_side(struct side *side, const struct wait_node *node,
			const struct collective_entry *call)
{
	if (!side->first) {
		side->first = node->rank;
		side->call = call;
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

/* The missing ranks that belong to the cause: of a circle those that wait in it, too. */
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

/* Appends "; its last is broadcast (train.py:12), number 4" if one rank is absent. */
static void append_last(struct buffer *out, const struct side *absent)
{
	if (rankset_count(&absent->ranks) != 1 || !absent->call)
		return;
	buffer_append_string(out, "; its last is ");
	append_call(out, absent->first, absent->call, false);
	buffer_printf(out, ", collective %" PRIi64, absent->call->seq);
}

static void append_absent(struct buffer *out, const struct wait_graph *graph, size_t collective)
{
	const struct wait_node *node = &graph->nodes[collective];
	struct side waiting = find_waiting(graph, collective);
	struct side absent = find_missing(graph, collective);

	wait_sentence_append_set(out, &absent.ranks, true);
	buffer_append_string(out, rankset_count(&absent.ranks) == 1 ? " has" : " have");
	buffer_append_string(out, " not called ");
	append_call(out, waiting.first, waiting.call, false);
	buffer_printf(out, ", collective %" PRIi64 " of ", node->seq);
	append_group(out, node->row);
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
		append_absent(out, graph, graph->path[i]);
	}
	if (graph->path_count > LISTED)
		buffer_printf(out, " %zu more collectives have ranks missing.",
			      graph->path_count - LISTED);
}

static const struct rank *find_member(const struct group_row *row, int number)
{
	for (size_t i = 0; i < row->count; i++) {
		if (row->members[i].rank->process.rank == number)
			return row->members[i].rank;
	}
	return NULL;
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

static void say_other(struct buffer *out, const struct wait_graph *graph)
{
	const struct wait_node *node = &graph->nodes[graph->path[0]];
	struct call_classes classes;
	size_t told = 0;

	call_classes_make(&classes, node->row, node->seq);
	/* The smallest class first: it is the outlier. */
	for (size_t i = classes.count; i-- > 0 && told < LISTED; told++) {
		const struct call_class *class = &classes.items[i];

		if (told > 0)
			buffer_append_string(out, ", ");
		wait_sentence_append_set(out, &class->ranks, told == 0);
		if (told == 0)
			buffer_append_string(out, rankset_count(&class->ranks) == 1
							  ? " has called"
							  : " have called");
		buffer_append_char(out, ' ');
		append_call(out, find_member(node->row, rankset_first(&class->ranks)), class->call,
			    has_equal_names(&classes));
		if (told > 0)
			continue;
		buffer_printf(out, " as collective %" PRIi64 " of ", node->seq);
		append_group(out, node->row);
	}
	if (classes.count > LISTED)
		buffer_printf(out, ", and %zu more different calls", classes.count - LISTED);
	buffer_append_char(out, '.');
	call_classes_clear(&classes);
}

static void say_circle(struct buffer *out, const struct wait_graph *graph)
{
	buffer_append_string(out, "Deadlock: ");
	for (size_t i = 0; i < graph->path_count && i < LISTED; i++) {
		const struct wait_node *node = &graph->nodes[graph->path[i]];
		struct side waiting = find_waiting(graph, graph->path[i]);
		struct side missing = find_missing(graph, graph->path[i]);

		buffer_append_string(out, i > 0 ? ", " : "");
		wait_sentence_append_set(out, &waiting.ranks, false);
		if (i == 0)
			buffer_append_string(out, rankset_count(&waiting.ranks) == 1 ? " waits"
										      : " wait");
		buffer_append_string(out, " in ");
		append_call(out, waiting.first, waiting.call, false);
		buffer_append_string(out, " of ");
		append_group(out, node->row);
		buffer_append_string(out, " for ");
		wait_sentence_append_set(out, &missing.ranks, false);
		rankset_clear(&waiting.ranks);
		rankset_clear(&missing.ranks);
	}
	if (graph->path_count > LISTED)
		buffer_printf(out, ", and so on through %zu more collectives",
			      graph->path_count - LISTED);
	buffer_append_char(out, '.');
}

void wait_sentence_append(struct buffer *out, const struct wait_graph *graph)
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
	case WAIT_CAUSE_CIRCLE:
		say_circle(out, graph);
		break;
	}
}

static void append_edge(struct buffer *out, const struct wait_graph *graph,
			const struct wait_edge *edge)
{
	const struct wait_node *from = &graph->nodes[edge->from];
	const struct wait_node *to = &graph->nodes[edge->to];
	const struct wait_node *collective = edge->reason == WAIT_REASON_IN ? to : from;
	const struct wait_node *rank = edge->reason == WAIT_REASON_IN ? from : to;

	buffer_printf(out, "rank %d ", rank->number);
	if (edge->reason == WAIT_REASON_IN) {
		buffer_append_string(out, "waits in ");
		append_call(out, rank->rank, edge->call, true);
		buffer_printf(out, ", collective %" PRIi64 " of ", collective->seq);
		append_group(out, collective->row);
		return;
	}
	if (edge->reason == WAIT_REASON_OTHER) {
		buffer_append_string(out, "has called ");
		append_call(out, rank->rank, edge->call, true);
		buffer_printf(out, " as collective %" PRIi64 " of ", collective->seq);
		append_group(out, collective->row);
		return;
	}
	buffer_printf(out, "has not called collective %" PRIi64 " of ", collective->seq);
	append_group(out, collective->row);
	if (!edge->call)
		return;
	buffer_append_string(out, "; its last is ");
	append_call(out, rank->rank, edge->call, true);
	buffer_printf(out, ", collective %" PRIi64, edge->call->seq);
}

void wait_sentence_append_edges(struct buffer *out, const struct wait_graph *graph)
{
	for (size_t i = 0; i < graph->edge_count; i++) {
		append_edge(out, graph, &graph->edges[i]);
		buffer_append_char(out, '\n');
	}
}
