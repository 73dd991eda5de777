/*
 * The causes that are read off graphs of who waits for whom, against a search of all ways, on
 * random graphs.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "banned.h"
#include "base/array.h"
#include "model/wait-graph.h"

#define GRAPHS 20000
#define RANKS_MAXIMUM 7
#define COLLECTIVES_MAXIMUM 4
#define NODES_MAXIMUM (RANKS_MAXIMUM + COLLECTIVES_MAXIMUM)

/* Where one can get from where by one edge or more. */
struct ways {
	bool is_there[NODES_MAXIMUM][NODES_MAXIMUM];
	size_t count;
};

/* xorshift64: the same graphs in each run. */
static size_t random_below(uint64_t *state, size_t count)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return (size_t)(*state % count);
}

/* A rank waits in one collective at most, and is missing in some. */
static void make_random(struct wait_graph *graph, uint64_t *state)
{
	size_t ranks = 1 + random_below(state, RANKS_MAXIMUM);
	size_t collectives = 1 + random_below(state, COLLECTIVES_MAXIMUM);
	size_t waiting = random_below(state, 4);
	size_t missing = 2 + random_below(state, 6);

	wait_graph_start(graph, ranks);
	for (size_t i = 0; i < collectives; i++)
		wait_graph_add_collective(graph, NULL, (int64_t)i, NULL);
	for (size_t rank = 0; rank < ranks; rank++) {
		size_t own = random_below(state, collectives + (waiting == 0));

		if (own < collectives)
			wait_graph_add_edge(graph, &(struct wait_edge){ rank, ranks + own,
									WAIT_REASON_IN, NULL });
		for (size_t i = 0; i < collectives; i++) {
			if (i != own && random_below(state, missing) == 0)
				wait_graph_add_edge(graph, &(struct wait_edge){ ranks + i, rank,
										WAIT_REASON_ABSENT,
										NULL });
		}
	}
}

static void find_ways(struct ways *ways, const struct wait_graph *graph)
{
	*ways = (struct ways){ .count = graph->node_count };
	for (size_t i = 0; i < graph->edge_count; i++)
		ways->is_there[graph->edges[i].from][graph->edges[i].to] = true;
	for (size_t over = 0; over < ways->count; over++) {
		for (size_t from = 0; from < ways->count; from++) {
			for (size_t to = 0; to < ways->count; to++)
				ways->is_there[from][to] =
					ways->is_there[from][to] ||
					(ways->is_there[from][over] && ways->is_there[over][to]);
		}
	}
}

/* The ranks that are waited for and wait for nobody. */
static struct rankset sinks_of(const struct wait_graph *graph)
{
	struct rankset sinks = RANKSET_INIT;

	for (size_t rank = 0; rank < graph->rank_count; rank++) {
		bool is_waited_for = false;
		bool waits = false;

		for (size_t i = 0; i < graph->edge_count; i++) {
			is_waited_for = is_waited_for || graph->edges[i].to == rank;
			waits = waits || graph->edges[i].from == rank;
		}
		if (is_waited_for && !waits)
			rankset_add(&sinks, (int)rank);
	}
	return sinks;
}

/* True if the collective is in a cycle, and all that can be got to from it leads back to it. */
static bool is_in_last_cycle(const struct ways *ways, size_t node)
{
	if (!ways->is_there[node][node])
		return false;
	for (size_t to = 0; to < ways->count; to++) {
		if (ways->is_there[node][to] && !ways->is_there[to][node])
			return false;
	}
	return true;
}

static bool has_last_cycle(const struct ways *ways, size_t rank_count)
{
	for (size_t node = rank_count; node < ways->count; node++) {
		if (is_in_last_cycle(ways, node))
			return true;
	}
	return false;
}

static bool has_edge(const struct wait_graph *graph, size_t from, size_t to)
{
	for (size_t i = 0; i < graph->edge_count; i++) {
		if (graph->edges[i].from == from && graph->edges[i].to == to)
			return true;
	}
	return false;
}

/* True if some rank is missing in the one collective and waits in the other. */
static bool leads(const struct wait_graph *graph, size_t collective, size_t next)
{
	for (size_t rank = 0; rank < graph->rank_count; rank++) {
		if (has_edge(graph, collective, rank) && has_edge(graph, rank, next))
			return true;
	}
	return false;
}

/* The path is a cycle, and the cause those who wait in it and can be got to from it. */
static void check_cycle(const struct wait_graph *graph, const struct ways *ways)
{
	struct rankset waiting = RANKSET_INIT;

	assert_true(graph->path_count >= 2);
	for (size_t i = 0; i < graph->path_count; i++) {
		size_t at = graph->path[i];

		assert_true(is_in_last_cycle(ways, at));
		assert_true(leads(graph, at, graph->path[(i + 1) % graph->path_count]));
		for (size_t rank = 0; rank < graph->rank_count; rank++) {
			if (has_edge(graph, rank, at) && ways->is_there[at][rank])
				rankset_add(&waiting, (int)rank);
		}
	}
	assert_true(rankset_is_equal(&waiting, &graph->ranks));
	rankset_clear(&waiting);
}

static void check(const struct wait_graph *graph)
{
	struct rankset sinks = sinks_of(graph);
	struct ways ways;

	find_ways(&ways, graph);
	if (rankset_count(&sinks) > 0) {
		assert_int_equal(graph->cause, WAIT_CAUSE_ABSENT);
		assert_true(rankset_is_equal(&sinks, &graph->ranks));
	} else if (has_last_cycle(&ways, graph->rank_count)) {
		assert_int_equal(graph->cause, WAIT_CAUSE_CYCLE);
		check_cycle(graph, &ways);
	} else {
		assert_int_equal(graph->cause, WAIT_CAUSE_NONE);
		assert_int_equal(rankset_count(&graph->ranks), 0);
	}
	rankset_clear(&sinks);
}

static void the_cause_is_all_sinks_or_a_cycle(void **state)
{
	size_t causes[WAIT_CAUSE_CYCLE + 1] = { 0 };
	uint64_t seed = 0x9e3779b97f4a7c15;

	(void)state;
	for (size_t i = 0; i < GRAPHS; i++) {
		struct wait_graph graph;

		make_random(&graph, &seed);
		wait_graph_judge(&graph);
		check(&graph);
		causes[graph.cause]++;
		wait_graph_clear(&graph);
	}
	/* None of them is rare. */
	assert_true(causes[WAIT_CAUSE_NONE] > GRAPHS / 50);
	assert_true(causes[WAIT_CAUSE_ABSENT] > GRAPHS / 50);
	assert_true(causes[WAIT_CAUSE_CYCLE] > GRAPHS / 50);
}

static void a_long_chain_is_judged(void **state)
{
	enum { LENGTH = 20000 };
	struct wait_graph graph;

	(void)state;
	wait_graph_start(&graph, LENGTH);
	for (size_t i = 0; i + 1 < LENGTH; i++) {
		size_t collective = wait_graph_add_collective(&graph, NULL, (int64_t)i, NULL);

		wait_graph_add_edge(&graph,
				    &(struct wait_edge){ i, collective, WAIT_REASON_IN, NULL });
		wait_graph_add_edge(
			&graph, &(struct wait_edge){ collective, i + 1, WAIT_REASON_ABSENT, NULL });
	}
	wait_graph_judge(&graph);
	assert_int_equal(graph.cause, WAIT_CAUSE_ABSENT);
	assert_int_equal(rankset_first(&graph.ranks), LENGTH - 1);
	assert_int_equal(rankset_count(&graph.ranks), 1);
	wait_graph_clear(&graph);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_cause_is_all_sinks_or_a_cycle),
		cmocka_unit_test(a_long_chain_is_judged),
	};

	return cmocka_run_group_tests_name("wait-graph", tests, NULL, NULL);
}
