#include "model/wait-graph.h"

#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "base/alloc.h"
#include "base/array.h"
#include "base/map.h"
#include "model/helper.h"
#include "model/place.h"
#include "model/session.h"
#include "model/wait-group.h"
#include "protocol/collectives.h"
#include "protocol/stack.h"

#define NONE SIZE_MAX
/* Number of different calls, made as one collective, of which each names all the others' ranks. */
#define RIVALS_MAXIMUM 8

static size_t add_node(struct wait_graph *graph, const struct wait_node *node)
{
	ARRAY_GROW(graph->nodes, graph->node_count, graph->node_capacity);
	graph->nodes[graph->node_count] = *node;
	return graph->node_count++;
}

void wait_graph_start(struct wait_graph *graph, size_t rank_count)
{
	*graph = (struct wait_graph){ .rank_count = rank_count };
	for (size_t i = 0; i < rank_count; i++)
		add_node(graph, &(struct wait_node){ .kind = WAIT_NODE_RANK, .number = (int)i });
}

size_t wait_graph_add_collective(struct wait_graph *graph, const struct group_row *row, int64_t seq,
				 const struct collective_entry *call)
{
	return add_node(graph, &(struct wait_node){ .kind = WAIT_NODE_COLLECTIVE,
						    .number = -1,
						    .row = row,
						    .seq = seq,
						    .call = call });
}

void wait_graph_add_edge(struct wait_graph *graph, const struct wait_edge *edge)
{
	ARRAY_GROW(graph->edges, graph->edge_count, graph->edge_capacity);
	graph->edges[graph->edge_count++] = *edge;
}

void wait_graph_clear(struct wait_graph *graph)
{
	group_table_clear(&graph->table);
	free(graph->nodes);
	free(graph->edges);
	free(graph->path);
	rankset_clear(&graph->ranks);
	*graph = (struct wait_graph){ .nodes = NULL };
}

const struct wait_node *wait_graph_meeting(const struct wait_graph *graph)
{
	const struct wait_node *node = &graph->nodes[graph->rank_count];

	if (graph->node_count != graph->rank_count + 1 || node->kind != WAIT_NODE_COLLECTIVE ||
	    !node->row || node->in_count < graph->rank_count || node->out_count > 0 ||
	    rankset_count(&node->row->ranks) != graph->rank_count)
		return NULL;
	return node;
}

/* The ranks that wait in a collective or for a message; clear the result. */
static struct rankset find_waiters(const struct wait_graph *graph, size_t node)
{
	struct rankset waiters = RANKSET_INIT;

	for (size_t i = 0; i < graph->edge_count; i++) {
		if (graph->edges[i].to == node)
			rankset_add(&waiters, graph->nodes[graph->edges[i].from].number);
	}
	return waiters;
}

struct rankset wait_graph_outliers(const struct wait_graph *graph)
{
	struct rankset outliers = RANKSET_INIT;

	rankset_copy(&outliers, &graph->ranks);
	for (size_t i = 0; graph->cause == WAIT_CAUSE_CYCLE && i < graph->path_count; i++) {
		struct rankset waiters = find_waiters(graph, graph->path[i]);

		if (rankset_count(&waiters) * 2 > graph->rank_count)
			rankset_subtract(&outliers, &waiters);
		rankset_clear(&waiters);
	}
	if (rankset_count(&outliers) == graph->rank_count)
		rankset_clear(&outliers);
	return outliers;
}

/* From here on: facts. */

/* True if the rank's calls were read since it has moved last. */
static bool is_known(const struct rank *rank)
{
	if (rank->is_of_dump)
		return true;
	return rank->collectives && rank->collectives_at > rank->last_changed_at &&
	       !rank_is_gone(rank);
}

/* True if the rank may wait in a call that it has made before, at another line or in a thread. */
static bool may_wait_elsewhere(const struct rank *rank)
{
	return rank->is_of_dump || activity_is_collective(rank_main_thread(rank)) ||
	       helper_waits_for_peers(rank);
}

/*
 * The collective in which the rank's main thread waits: the open call that it is still in, else the
 * oldest open one, if no call between two ranks and none on another group is open, or if only a
 * dump is known. NULL: not known. *is_undecided: set if several open calls may be waited in.
 */
static const struct collective_entry *find_waited(const struct rank *rank, bool *is_undecided)
{
	const struct collectives *collectives = rank->collectives;
	const struct collective_entry *oldest = NULL;
	bool has_rival = false;

	for (size_t i = 0; i < collectives->entry_count; i++) {
		const struct collective_entry *entry = &collectives->entries[i];

		if (collective_call_has_ended(entry))
			continue;
		if (!collective_is_counted(collectives, entry)) {
			has_rival = has_rival || entry->is_p2p;
			continue;
		}
		if (rank_is_in_call(rank, entry))
			return entry;
		if (!oldest)
			oldest = entry;
		has_rival = has_rival || entry->group != oldest->group;
	}
	if (!may_wait_elsewhere(rank))
		return NULL;
	*is_undecided = has_rival && !rank->is_of_dump;
	return *is_undecided ? NULL : oldest;
}

/* True if the rank waits for its peers, not in send() or recv(). */
static bool is_in_collective(const struct rank *rank)
{
	if (!is_known(rank))
		return false;
	return rank->is_of_dump || (wait_group_role_of(rank) == WAIT_GROUP_WAITS &&
				    !activity_is_point_to_point(&rank_main_thread(rank)->activity));
}

double wait_graph_called_at(const struct rank *rank)
{
	bool is_undecided = false;
	const struct collective_entry *call =
		is_in_collective(rank) ? find_waited(rank, &is_undecided) : NULL;

	return call && rank_is_in_call(rank, call) && call->created > 0
		       ? (double)call->created / 1e9
		       : -1;
}

/* The node for the call of a collective; a new one if no equal call is there yet. */
static size_t find_collective(struct wait_graph *graph, const struct group_row *row,
			      const struct rank *rank, const struct collective_entry *call)
{
	size_t first = NONE;
	size_t found;

	for (size_t i = graph->rank_count; i < graph->node_count; i++) {
		const struct wait_node *node = &graph->nodes[i];

		if (node->row != row || node->seq != call->seq)
			continue;
		if (collective_calls_match(node->call, call))
			return i;
		if (first == NONE)
			first = i;
	}
	found = wait_graph_add_collective(graph, row, call->seq, call);
	graph->nodes[found].rank = rank;
	graph->nodes[found].rival = first == NONE ? found : first;
	return found;
}

/* Adds a node that the rank at index `at` waits in, and the edge to it; returns its index. */
static size_t add_own(struct wait_graph *graph, size_t at, enum wait_node_kind kind)
{
	size_t own = add_node(
		graph,
		&(struct wait_node){ .kind = kind, .number = -1, .rank = graph->nodes[at].rank });

	wait_graph_add_edge(graph, &(struct wait_edge){ at, own, WAIT_REASON_IN, NULL });
	return own;
}

/* A rank that waits in send() or recv() of a peer that was read since the rank has moved last. */
static void add_message(struct wait_graph *graph, size_t at, struct map *by_rank)
{
	const struct rank *rank = graph->nodes[at].rank;
	void *peer;

	if (rank->peer < 0 || rank->peer_at <= rank->last_changed_at || rank_is_gone(rank) ||
	    wait_group_role_of(rank) != WAIT_GROUP_WAITS)
		return;
	peer = map_find(by_rank, (uint64_t)rank->peer);
	if (!peer || rank->peer == rank->process.rank)
		return;
	wait_graph_add_edge(graph, &(struct wait_edge){ add_own(graph, at, WAIT_NODE_MESSAGE),
							(size_t)(uintptr_t)peer - 1,
							WAIT_REASON_PEER, NULL });
}

/*
 * The node of a lock that the rank of this number holds, for which another rank waits at the same
 * place; NONE: there is none yet.
 */
static size_t find_lock(const struct wait_graph *graph, int holder, const struct stack *place)
{
	for (size_t i = graph->rank_count; i < graph->node_count; i++) {
		const struct wait_node *node = &graph->nodes[i];

		if (node->kind == WAIT_NODE_LOCK && node->number == holder &&
		    rank_main_thread(node->rank)->sample.stack == place)
			return i;
	}
	return NONE;
}

/* A rank that waits for the lock of a file that another rank holds. */
static void add_lock(struct wait_graph *graph, size_t at, struct map *by_rank)
{
	const struct rank *rank = graph->nodes[at].rank;
	const struct thread *thread = rank_main_thread(rank);
	void *holder;
	size_t lock;

	if (!thread || thread->holder_rank < 0 || rank_is_gone(rank))
		return;
	holder = map_find(by_rank, (uint64_t)thread->holder_rank);
	if (!holder)
		return;
	lock = find_lock(graph, thread->holder_rank, thread->sample.stack);
	if (lock != NONE) {
		wait_graph_add_edge(graph, &(struct wait_edge){ at, lock, WAIT_REASON_IN, NULL });
		return;
	}
	lock = add_own(graph, at, WAIT_NODE_LOCK);
	graph->nodes[lock].number = thread->holder_rank;
	wait_graph_add_edge(graph, &(struct wait_edge){ lock, (size_t)(uintptr_t)holder - 1,
							WAIT_REASON_HOLDER, NULL });
}

/* A rank that waits for a thread or child of its own. */
static void add_helper(struct wait_graph *graph, size_t at)
{
	const struct rank *rank = graph->nodes[at].rank;
	struct helper helper;

	if (rank_is_gone(rank) || !helper_find(rank, &helper) || helper_waits_for_peers(rank))
		return;
	add_own(graph, at, WAIT_NODE_HELPER);
	graph->nodes[at].helper_count++;
}

static void add_waiting(struct wait_graph *graph, size_t at)
{
	const struct rank *rank = graph->nodes[at].rank;
	const struct collective_entry *call;
	const struct group_row *row;

	if (!is_in_collective(rank))
		return;
	call = find_waited(rank, &graph->nodes[at].is_undecided);
	row = call ? group_table_row(&graph->table, &rank->collectives->groups[call->group]) : NULL;
	if (!row)
		return;
	wait_graph_add_edge(graph, &(struct wait_edge){ at, find_collective(graph, row, rank, call),
							WAIT_REASON_IN, call });
}

/* Number of different calls, made as the same collective as the node's, that ranks wait in. */
static size_t count_rivals(const struct wait_graph *graph, size_t at)
{
	size_t count = 0;

	for (size_t i = graph->rank_count; i < graph->node_count; i++)
		count += graph->nodes[i].kind == WAIT_NODE_COLLECTIVE &&
			 graph->nodes[i].rival == graph->nodes[at].rival;
	return count;
}

/* The edge from a collective to a member; false if the member is not missing, or not known. */
static bool find_missing(const struct wait_node *node, const struct group_member *member,
			 struct wait_edge *edge)
{
	const struct collective_entry *call;

	if (!is_known(member->rank) || member->newest < 0)
		return false;
	if (member->newest < node->seq) {
		edge->reason = WAIT_REASON_ABSENT;
		edge->call = group_member_entry(member, member->newest);
		return true;
	}
	call = group_member_entry(member, node->seq);
	edge->reason = WAIT_REASON_OTHER;
	edge->call = call;
	return call && !collective_calls_match(call, node->call);
}

/*
 * Adds the ranks that are missing in a collective. Where ranks have made many different calls as
 * one collective, each names one rank of the first call, and the first call names them all: as many
 * edges as ranks, not their square.
 */
static void add_missing(struct wait_graph *graph, size_t at, struct map *by_rank)
{
	const struct wait_node *node = &graph->nodes[at];
	const struct group_row *row = node->row;

	if (count_rivals(graph, at) > RIVALS_MAXIMUM && node->rival != at) {
		const struct wait_node *first = &graph->nodes[node->rival];
		void *index = map_find(by_rank, (uint64_t)first->rank->process.rank);

		wait_graph_add_edge(graph, &(struct wait_edge){ at, (size_t)(uintptr_t)index - 1,
								WAIT_REASON_OTHER, first->call });
		return;
	}
	for (size_t i = 0; i < row->count; i++) {
		struct wait_edge edge = { .from = at };
		void *index = map_find(by_rank, (uint64_t)row->members[i].rank->process.rank);

		if (!index || !find_missing(&graph->nodes[at], &row->members[i], &edge))
			continue;
		edge.to = (size_t)(uintptr_t)index - 1;
		wait_graph_add_edge(graph, &edge);
	}
}

void wait_graph_make(struct wait_graph *graph, const struct session *session)
{
	struct map *by_rank = map_new(NULL);

	wait_graph_start(graph, session->rank_count);
	group_table_make(&graph->table, session);
	for (size_t i = 0; i < session->rank_count; i++) {
		graph->nodes[i].rank = session->ranks[i];
		graph->nodes[i].number = session->ranks[i]->process.rank;
		graph->nodes[i].is_waiting =
			wait_group_role_of(session->ranks[i]) == WAIT_GROUP_WAITS;
		graph->has_unknown = graph->has_unknown || !is_known(session->ranks[i]);
		map_put(by_rank, (uint64_t)graph->nodes[i].number, (void *)(uintptr_t)(i + 1));
	}
	for (size_t i = 0; graph->table.count > 0 && i < session->rank_count; i++)
		add_waiting(graph, i);
	for (size_t i = graph->rank_count; i < graph->node_count; i++)
		add_missing(graph, i, by_rank);
	for (size_t i = 0; i < session->rank_count; i++) {
		add_message(graph, i, by_rank);
		add_lock(graph, i, by_rank);
		add_helper(graph, i);
	}
	map_free(by_rank);
	wait_graph_judge(graph);
}

/* From here on: the judgement. */

static int compare_edges(const void *left, const void *right)
{
	const struct wait_edge *a = left;
	const struct wait_edge *b = right;

	if (a->from != b->from)
		return a->from < b->from ? -1 : 1;
	return a->to < b->to ? -1 : a->to > b->to;
}

static void index_edges(struct wait_graph *graph)
{
	if (graph->edge_count > 1)
		qsort(graph->edges, graph->edge_count, sizeof(*graph->edges), compare_edges);
	for (size_t i = graph->edge_count; i-- > 0;) {
		graph->nodes[graph->edges[i].from].first_edge = i;
		graph->nodes[graph->edges[i].from].out_count++;
		graph->nodes[graph->edges[i].to].in_count++;
	}
}

/* State of Tarjan's search for strongly connected components (SIAM J. Comput. 1, 1972). */
struct search {
	struct wait_graph *graph;
	size_t *order;	 /* of each node: when it was reached, from 1; 0: not yet */
	size_t *low;	 /* the smallest order that is reachable */
	size_t *next;	 /* number of edges that were followed */
	size_t *path;	 /* nodes on the way to the current one */
	size_t *pending; /* nodes without a component yet */
	size_t path_count, pending_count, reached, components;
};

static void enter(struct search *search, size_t node)
{
	search->order[node] = search->low[node] = ++search->reached;
	search->path[search->path_count++] = node;
	search->pending[search->pending_count++] = node;
	search->graph->nodes[node].component = NONE;
}

static void leave(struct search *search)
{
	struct wait_node *nodes = search->graph->nodes;
	size_t node = search->path[--search->path_count];
	size_t before = search->path_count > 0 ? search->path[search->path_count - 1] : NONE;
	size_t other;

	if (before != NONE && search->low[node] < search->low[before])
		search->low[before] = search->low[node];
	if (search->low[node] != search->order[node])
		return;
	do {
		other = search->pending[--search->pending_count];
		nodes[other].component = search->components;
	} while (other != node);
	search->components++;
}

static void advance(struct search *search)
{
	const struct wait_graph *graph = search->graph;
	size_t node = search->path[search->path_count - 1];
	const struct wait_node *from = &graph->nodes[node];
	size_t to;

	if (search->next[node] == from->out_count) {
		leave(search);
		return;
	}
	to = graph->edges[from->first_edge + search->next[node]++].to;
	if (search->order[to] == 0)
		enter(search, to);
	else if (graph->nodes[to].component == NONE && search->order[to] < search->low[node])
		search->low[node] = search->order[to];
}

/* Sets node->component; returns the number of components. */
static size_t find_components(struct wait_graph *graph)
{
	size_t *memory = xcalloc(5 * (graph->node_count + 1), sizeof(*memory));
	size_t stride = graph->node_count + 1;
	struct search search = {
		.graph = graph,
		.order = memory,
		.low = memory + stride,
		.next = memory + 2 * stride,
		.path = memory + 3 * stride,
		.pending = memory + 4 * stride,
	};

	for (size_t i = 0; i < graph->node_count; i++) {
		if (search.order[i] == 0)
			enter(&search, i);
		while (search.path_count > 0)
			advance(&search);
	}
	free(memory);
	return search.components;
}

static void add_to_path(struct wait_graph *graph, size_t collective)
{
	ARRAY_GROW(graph->path, graph->path_count, graph->path_capacity);
	graph->path[graph->path_count++] = collective;
}

/* True for a rank that is waited for and waits for nobody, or perhaps only for the waiting ranks.
 */
static bool is_sink(const struct wait_graph *graph, const struct wait_node *node)
{
	if (node->kind != WAIT_NODE_RANK || node->in_count == 0 ||
	    node->out_count > node->helper_count)
		return false;
	return !node->is_waiting ||
	       !(graph->has_idle_sink || graph->has_unknown || node->is_undecided);
}

static bool has_idle_sink(const struct wait_graph *graph)
{
	bool is_found = false;

	for (size_t i = 0; i < graph->rank_count; i++)
		is_found = is_found ||
			   (!graph->nodes[i].is_waiting && is_sink(graph, &graph->nodes[i]));
	return is_found;
}

/* The collective that most ranks wait in, of those that a sink outside *told is absent from. */
static size_t find_most_waited(const struct wait_graph *graph, const struct rankset *told)
{
	size_t most = NONE;

	for (size_t i = 0; i < graph->edge_count; i++) {
		const struct wait_node *to = &graph->nodes[graph->edges[i].to];
		size_t from = graph->edges[i].from;

		if (is_sink(graph, to) && !rankset_contains(told, to->number) &&
		    (most == NONE || graph->nodes[from].in_count > graph->nodes[most].in_count))
			most = from;
	}
	return most;
}

/* Ranks that are waited for and wait for nobody, and the collectives they are absent from. */
static void find_sinks(struct wait_graph *graph)
{
	size_t collective;

	while ((collective = find_most_waited(graph, &graph->ranks)) != NONE) {
		const struct wait_node *node = &graph->nodes[collective];

		graph->cause = WAIT_CAUSE_ABSENT;
		add_to_path(graph, collective);
		for (size_t i = 0; i < node->out_count; i++) {
			const struct wait_edge *edge = &graph->edges[node->first_edge + i];

			if (is_sink(graph, &graph->nodes[edge->to]))
				rankset_add(&graph->ranks, graph->nodes[edge->to].number);
		}
	}
}

/* True for each component that an edge leaves to a rank or what it waits in; free() the result. */
static bool *find_left(const struct wait_graph *graph, size_t component_count)
{
	bool *is_left = xcalloc(component_count + 1, sizeof(*is_left));

	for (size_t i = 0; i < graph->edge_count; i++) {
		size_t from = graph->nodes[graph->edges[i].from].component;

		if (graph->nodes[graph->edges[i].to].kind == WAIT_NODE_HELPER)
			continue;
		is_left[from] = is_left[from] || from != graph->nodes[graph->edges[i].to].component;
	}
	return is_left;
}

/* The first collective of a cycle that no edge leaves; NONE: there is no cycle. */
static size_t find_cycle(const struct wait_graph *graph, size_t component_count)
{
	bool *is_left = find_left(graph, component_count);
	size_t found = NONE;

	for (size_t i = graph->rank_count; i < graph->node_count && found == NONE; i++) {
		if (graph->nodes[i].out_count > 0 && !is_left[graph->nodes[i].component])
			found = i;
	}
	free(is_left);
	return found;
}

/* Returns the collective with the smaller number; b may be NONE. */
static size_t earlier(const struct wait_graph *graph, size_t a, size_t b)
{
	return b == NONE || graph->nodes[a].seq < graph->nodes[b].seq ? a : b;
}

/*
 * The collective with the smallest number as which a rank that does not wait has called another
 * operation; NONE: there is none.
 */
static size_t find_other_of_sinks(const struct wait_graph *graph)
{
	size_t found = NONE;

	for (size_t i = 0; i < graph->edge_count; i++) {
		const struct wait_edge *edge = &graph->edges[i];

		if (edge->reason == WAIT_REASON_OTHER && is_sink(graph, &graph->nodes[edge->to]))
			found = earlier(graph, edge->from, found);
	}
	return found;
}

/* Like find_other_of_sinks(), for the collectives and ranks of one component. */
static size_t find_other_in(const struct wait_graph *graph, size_t component)
{
	size_t found = NONE;

	for (size_t i = 0; i < graph->edge_count; i++) {
		const struct wait_edge *edge = &graph->edges[i];

		if (edge->reason == WAIT_REASON_OTHER &&
		    graph->nodes[edge->from].component == component)
			found = earlier(graph, edge->from, found);
	}
	return found;
}

/* Names the ranks whose call is not that of more than half of the group's members. */
static void name_others(struct wait_graph *graph, size_t collective)
{
	const struct wait_node *node = &graph->nodes[collective];
	struct call_classes classes;

	graph->cause = WAIT_CAUSE_OTHER;
	add_to_path(graph, collective);
	if (!node->row)
		return;
	call_classes_make(&classes, node->row, node->seq);
	for (size_t i = 1; classes.has_majority && i < classes.count; i++)
		rankset_unite(&graph->ranks, &classes.items[i].ranks);
	call_classes_clear(&classes);
}

/* Fills before[] with the node from which each node was reached first, breadth first from start;
 * returns the node from which an edge leads back to start. */
static size_t find_way_back(const struct wait_graph *graph, size_t start, size_t *before)
{
	size_t *queue = xcalloc(graph->node_count + 1, sizeof(*queue));
	size_t head = 0;
	size_t tail = 0;
	size_t last = NONE;

	queue[tail++] = start;
	while (last == NONE && head < tail) {
		size_t from = queue[head++];

		for (size_t i = 0; i < graph->nodes[from].out_count && last == NONE; i++) {
			size_t to = graph->edges[graph->nodes[from].first_edge + i].to;

			if (to == start)
				last = from;
			if (to == start || before[to] != NONE)
				continue;
			before[to] = from;
			queue[tail++] = to;
		}
	}
	free(queue);
	return last;
}

/* Adds the ranks that wait in the collective and are waited for in its cycle. */
static void add_waiters(struct wait_graph *graph, size_t collective)
{
	for (size_t i = 0; i < graph->edge_count; i++) {
		const struct wait_node *from = &graph->nodes[graph->edges[i].from];

		if (graph->edges[i].to == collective &&
		    from->component == graph->nodes[collective].component)
			rankset_add(&graph->ranks, from->number);
	}
}

/* The shortest cycle through start. */
static void name_cycle(struct wait_graph *graph, size_t start)
{
	size_t *before = xcalloc(graph->node_count, sizeof(*before));

	for (size_t i = 0; i < graph->node_count; i++)
		before[i] = NONE;
	graph->cause = WAIT_CAUSE_CYCLE;
	for (size_t at = find_way_back(graph, start, before); at != NONE; at = before[at]) {
		if (graph->nodes[at].kind != WAIT_NODE_RANK)
			add_to_path(graph, at);
	}
	for (size_t i = 0; i < graph->path_count / 2; i++) {
		size_t other = graph->path[graph->path_count - 1 - i];

		graph->path[graph->path_count - 1 - i] = graph->path[i];
		graph->path[i] = other;
	}
	for (size_t i = 0; i < graph->path_count; i++)
		add_waiters(graph, graph->path[i]);
	free(before);
}

/* True if all members of the group were read, and have called the node's collective. */
static bool is_met(const struct wait_node *node)
{
	const struct group_row *row = node->row;

	if (!row || row->ranks.range_count == 0 || row->count < rankset_count(&row->ranks))
		return false;
	for (size_t i = 0; i < row->count; i++) {
		if (!is_known(row->members[i].rank) || row->members[i].newest < node->seq)
			return false;
	}
	return true;
}

/*
 * The first collective that ranks wait in although all members have called it alike, some of which
 * have gone on. NONE: there is none.
 */
static size_t find_met(const struct wait_graph *graph)
{
	if (wait_graph_meeting(graph))
		return NONE;
	for (size_t i = graph->rank_count; i < graph->node_count; i++) {
		const struct wait_node *node = &graph->nodes[i];

		if (node->kind == WAIT_NODE_COLLECTIVE && node->out_count == 0 && is_met(node))
			return i;
	}
	return NONE;
}

void wait_graph_judge(struct wait_graph *graph)
{
	size_t components;
	size_t cycle;
	size_t other;
	size_t met;

	index_edges(graph);
	components = find_components(graph);
	cycle = find_cycle(graph, components);
	graph->has_idle_sink = has_idle_sink(graph);
	other = find_other_of_sinks(graph);
	if (other == NONE)
		find_sinks(graph);
	if (graph->cause != WAIT_CAUSE_NONE)
		return;
	if (other == NONE && cycle != NONE)
		other = find_other_in(graph, graph->nodes[cycle].component);
	if (other != NONE)
		name_others(graph, other);
	else if (cycle != NONE)
		name_cycle(graph, cycle);
	if (graph->cause != WAIT_CAUSE_NONE)
		return;
	met = find_met(graph);
	if (met == NONE)
		return;
	graph->cause = WAIT_CAUSE_MET;
	add_to_path(graph, met);
}
