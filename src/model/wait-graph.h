/*
 * wait-graph: who waits for whom. Nodes are ranks, and what they wait in: collectives, messages of
 * send() and recv(), locks of files, and threads and children of their own. An edge from a rank
 * leads to what it waits in. An edge from a collective leads to a rank that is missing there: it
 * has not called the collective, or has called another operation in its place. An edge from a
 * message leads to the rank that it is to come from or go to, an edge from a lock to the rank that
 * holds it.
 *
 * The causes of a hang are read off the graph. What is waited for and waits for nobody is a cause;
 * ranks that wait for each other in a cycle are one cause together.
 *
 * Edges are made of facts that were read while the rank did not move. A rank whose calls were not
 * read, or that has moved since, has no edges. All pointers are borrowed from the session until it
 * changes.
 */
#ifndef MODEL_WAIT_GRAPH_H
#define MODEL_WAIT_GRAPH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/group-table.h"
#include "protocol/rankset.h"

struct buffer;
struct collective_entry;
struct rank;
struct session;

enum wait_node_kind {
	WAIT_NODE_RANK,
	WAIT_NODE_COLLECTIVE,
	WAIT_NODE_MESSAGE,
	WAIT_NODE_LOCK,	  /* the lock of a file */
	WAIT_NODE_HELPER, /* a thread or child of the rank's own (helper.h); waits for nobody */
};

struct wait_node {
	enum wait_node_kind kind;
	int number; /* of a rank: its number; of a lock: that of the rank that holds it */
	/* Of a rank; else the first that waits in it. NULL in tests. */
	const struct rank *rank;
	/* Of a collective; calls that do not match each other have a node each. */
	const struct group_row *row;
	int64_t seq;
	const struct collective_entry *call; /* of the first rank that waits in it */
	size_t in_count;		     /* number of edges that lead here */
	size_t out_count;
	size_t rival;	 /* of a collective: the first node of equal row and seq, often itself */
	bool is_waiting; /* of a rank: it waits for its peers, known or not */
	size_t helper_count; /* of a rank: number of its edges that lead to a WAIT_NODE_HELPER */
	bool is_undecided;   /* of a rank: it waits in one of several calls, not known in which */
	size_t component;    /* equal for nodes that wait for each other */
	size_t first_edge;   /* index of the first of its edges, which follow each other */
};

enum wait_reason {
	WAIT_REASON_IN,	    /* the rank waits in the collective, or for what the node is */
	WAIT_REASON_ABSENT, /* the rank has called fewer collectives of the group */
	WAIT_REASON_PEER,   /* the rank is the message's other end */
	WAIT_REASON_HOLDER, /* the rank, or a child of it, holds the lock */
	WAIT_REASON_OTHER,  /* the rank has called another operation, or with other sizes */
};

struct wait_edge {
	size_t from; /* index into nodes */
	size_t to;
	enum wait_reason reason;
	/*
	 * The call that shows it (only of a collective, else NULL): the one waited in; what the
	 * absent rank has called last (NULL: not known); what was called in place of the
	 * collective.
	 */
	const struct collective_entry *call;
};

enum wait_cause {
	WAIT_CAUSE_NONE,   /* no cause can be read off the graph */
	WAIT_CAUSE_ABSENT, /* ranks that others wait for wait for nobody */
	WAIT_CAUSE_OTHER,  /* ranks have called different operations as one collective */
	WAIT_CAUSE_CYCLE,  /* ranks wait for each other */
	WAIT_CAUSE_MET,	   /* ranks wait in a collective that all members have called alike */
};

struct wait_graph {
	struct group_table table;
	struct wait_node *nodes; /* the session's ranks first, in their order */
	size_t node_count, node_capacity;
	size_t rank_count;
	struct wait_edge *edges; /* sorted by `from` once judged */
	size_t edge_count, edge_capacity;
	enum wait_cause cause;
	/*
	 * A rank that waits for unknown peers is no cause if some other rank is waited for and does
	 * not wait, or if the calls of some rank are not known.
	 */
	bool has_idle_sink;
	bool has_unknown;
	/*
	 * The ranks that are the cause. Empty for WAIT_CAUSE_MET, and for WAIT_CAUSE_OTHER if no
	 * call is that of more than half of the ranks.
	 */
	struct rankset ranks;
	size_t *path; /* collectives, messages and locks that name the cause; of a cycle, each waits
		       * for the next, the last for the first */
	size_t path_count, path_capacity;
};

/* Fills *graph (uninitialised); clear it afterwards. */
void wait_graph_make(struct wait_graph *graph, const struct session *session);
void wait_graph_clear(struct wait_graph *graph);
/*
 * Returns the collective, borrowed, that all ranks of the session have called alike and wait in, so
 * that the cause is not among them; NULL: there is none.
 */
const struct wait_node *wait_graph_meeting(const struct wait_graph *graph);
/*
 * The ranks to name as outliers: the cause; of a cycle in which more than half of the job's ranks
 * wait at one place, those that wait elsewhere in it; none if the cause is all ranks. Clear the
 * result.
 */
struct rankset wait_graph_outliers(const struct wait_graph *graph);
/*
 * Seconds since 1970, by the clock of the rank's machine, at which the rank has called the
 * collective that its main thread is in; -1: unknown, or made before, at another line.
 */
double wait_graph_called_at(const struct rank *rank);
/*
 * The parts of wait_graph_make(), for tests of the judgement alone. wait_graph_start() fills *graph
 * (uninitialised) with the nodes of rank_count ranks that have no process.
 */
void wait_graph_start(struct wait_graph *graph, size_t rank_count);
/* Returns the new node's index. */
size_t wait_graph_add_collective(struct wait_graph *graph, const struct group_row *row, int64_t seq,
				 const struct collective_entry *call);
void wait_graph_add_edge(struct wait_graph *graph, const struct wait_edge *edge);
/* Finds components and the cause. */
void wait_graph_judge(struct wait_graph *graph);

/* wait_sentence: the graph in words. Names of the target are escaped and cut. */

/*
 * Appends the graph's cause, for example "Rank 2 has not called all_reduce (train.py:17),
 * collective 5 of default_pg, in which ranks 0-1 wait; its last is barrier (train.py:9),
 * collective 4."; nothing for WAIT_CAUSE_NONE. is_hung: a cycle is a deadlock; it may else be one
 * for a moment, while messages are under way.
 */
void wait_sentence_append(struct buffer *out, const struct wait_graph *graph, bool is_hung);

/* Appends why the graph has no edges, in one sentence. */
void wait_sentence_append_nothing(struct buffer *out, const struct session *session);
/* Appends "collective 5 of default_pg". */
void wait_sentence_append_collective(struct buffer *out, const struct wait_node *node);

/* Edges from or to one collective or message that state the same fact. */
struct wait_row {
	char *text;	 /* "rank 2 has not called it: its last is …" */
	int rank;	 /* the first of the ranks in text */
	bool is_missing; /* the ranks are missing in the collective of the row before */
};

struct wait_rows {
	struct wait_row *items; /* each collective, then the ranks missing in it */
	size_t count, capacity;
};

/* Fills *rows (uninitialised); clear it afterwards. */
void wait_rows_make(struct wait_rows *rows, const struct wait_graph *graph);
void wait_rows_clear(struct wait_rows *rows);

#endif
