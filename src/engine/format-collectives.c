#include "engine/format-collectives.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "banned.h"
#include "base/alloc.h"
#include "base/array.h"
#include "base/buffer.h"
#include "base/json.h"
#include "base/text.h"
#include "engine/format.h"
#include "model/group-table.h"
#include "model/place.h"
#include "model/session.h"
#include "model/wait-graph.h"
#include "protocol/collectives.h"
#include "protocol/stack.h"

#define NANOSECONDS 1000000000
#define CLOCK_COLUMNS 9 /* "12:34:56" and the NUL */

/* "scheduled", "started", "completed": the states of torch's Flight Recorder. */
static const char *state_of_call(const struct collective_entry *call)
{
	if (collective_call_has_ended(call))
		return "completed";
	return call->started >= 0 ? "started" : "scheduled";
}

static const struct frame *place_of_call(const struct rank *rank,
					 const struct collective_entry *call)
{
	return call->stack ? place_find(&rank->process, call->stack) : NULL;
}

/* Appends "all_reduce [128, 3] Float  train (train.py:17)  scheduled". */
static void format_collectives_append_call(struct buffer *out, const struct rank *rank,
					   const struct collective_entry *call)
{
	const struct frame *frame = place_of_call(rank, call);

	collective_call_append(out, call);
	buffer_append_string(out, "  ");
	if (frame) {
		format_text_frame(out, frame);
		buffer_append_string(out, "  ");
	}
	buffer_append_string(out, state_of_call(call));
}

/* Members that have called the same collective last, with the same call and in the same state. */
struct last_call {
	int64_t newest;
	const struct rank *first;
	const struct collective_entry *call; /* NULL: unknown */
	const struct process_group *group;   /* the first member's part */
	struct rankset ranks;
};

struct last_calls {
	struct last_call *items;
	size_t count, capacity;
};

static bool is_equal_last(const struct last_call *last, const struct group_member *member,
			  const struct collective_entry *call)
{
	if (last->newest != member->newest || !last->call != !call)
		return false;
	if (!call)
		return last->group->seq == member->group->seq;
	return collective_calls_match(last->call, call) &&
	       strcmp(state_of_call(last->call), state_of_call(call)) == 0;
}

static void add_last_call(struct last_calls *calls, const struct group_member *member)
{
	const struct collective_entry *call = group_member_entry(member, member->newest);
	struct last_call *last;

	for (size_t i = 0; i < calls->count; i++) {
		if (is_equal_last(&calls->items[i], member, call)) {
			rankset_add(&calls->items[i].ranks, member->rank->process.rank);
			return;
		}
	}
	ARRAY_GROW(calls->items, calls->count, calls->capacity);
	last = &calls->items[calls->count++];
	*last = (struct last_call){ member->newest, member->rank, call, member->group,
				    RANKSET_INIT };
	rankset_add(&last->ranks, member->rank->process.rank);
}

static int compare_last_calls(const void *left, const void *right)
{
	const struct last_call *a = left;
	const struct last_call *b = right;

	if (a->newest != b->newest)
		return a->newest > b->newest ? -1 : 1;
	return rankset_first(&a->ranks) - rankset_first(&b->ranks);
}

static void find_last_calls(struct last_calls *calls, const struct group_row *row)
{
	*calls = (struct last_calls){ .items = NULL };
	for (size_t i = 0; i < row->count; i++)
		add_last_call(calls, &row->members[i]);
	if (calls->count > 1)
		qsort(calls->items, calls->count, sizeof(*calls->items), compare_last_calls);
}

static void clear_last_calls(struct last_calls *calls)
{
	for (size_t i = 0; i < calls->count; i++)
		rankset_clear(&calls->items[i].ranks);
	free(calls->items);
}

void call_lines_clear(struct call_lines *lines)
{
	for (size_t i = 0; i < lines->count; i++)
		free(lines->items[i].text);
	free(lines->items);
	*lines = (struct call_lines)CALL_LINES_INIT;
}

static void add_line(struct call_lines *lines, struct buffer *text, const struct call_line *line)
{
	ARRAY_GROW(lines->items, lines->count, lines->capacity);
	lines->items[lines->count] = *line;
	lines->items[lines->count++].text = buffer_take(text);
}

static void append_last_call(struct buffer *out, const struct last_call *last)
{
	if (last->newest >= 0)
		buffer_printf(out, "  %4" PRIi64 "  ", last->newest);
	else
		buffer_append_string(out, "     ?  ");
	rankset_append_named(out, &last->ranks);
	buffer_append_string(out, "  ");
	if (last->call)
		format_collectives_append_call(out, last->first, last->call);
	else if (last->newest == 0)
		buffer_append_string(out, "nothing called yet");
	else if (last->newest < 0 && last->group->seq >= 0)
		buffer_printf(out, "sequence number %" PRIi64 ", which counts messages, too",
			      last->group->seq);
	else
		buffer_append_string(out, "not among the calls that were read (--last N reads "
					  "more)");
}

/* The members that were not read; clear the result. */
static struct rankset find_unread(const struct group_row *row)
{
	struct rankset unread = RANKSET_INIT;

	rankset_copy(&unread, &row->ranks);
	for (size_t i = 0; i < row->count; i++)
		rankset_remove(&unread, row->members[i].rank->process.rank);
	return unread;
}

static const struct rank *first_of_class(const struct group_row *row,
					 const struct call_class *class)
{
	return group_row_rank(row, rankset_first(&class->ranks));
}

/* Adds the different calls that members have made as one collective. */
static void add_mismatch(struct call_lines *lines, const struct group_row *row)
{
	int64_t seq = group_row_mismatch(row);
	struct buffer text = BUFFER_INIT;
	struct call_classes classes;

	/* Where it is all members' last, the calls stand above. */
	if (seq < 0 || (row->oldest == seq && row->newest == seq))
		return;
	buffer_printf(&text, "  different calls as collective %" PRIi64 ":", seq);
	add_line(lines, &text, &(struct call_line){ .rank = -1, .is_outlier = true });
	call_classes_make(&classes, row, seq);
	for (size_t i = 0; i < classes.count; i++) {
		const struct call_class *class = &classes.items[i];
		const struct rank *first = first_of_class(row, class);

		buffer_append_string(&text, "        ");
		rankset_append_named(&text, &class->ranks);
		buffer_append_string(&text, "  ");
		format_collectives_append_call(&text, first, class->call);
		add_line(lines, &text,
			 &(struct call_line){ .rank = first->process.rank,
					      .is_outlier = i > 0 || !classes.has_majority });
	}
	call_classes_clear(&classes);
}

static void add_heading(struct call_lines *lines, const struct group_row *row)
{
	struct buffer text = BUFFER_INIT;

	group_append_name(&text, row->group);
	buffer_append_string(&text, "  ");
	format_text(&text, row->group->backend);
	buffer_append_string(&text, "  ");
	if (row->ranks.range_count > 0)
		rankset_append_named(&text, &row->ranks);
	else
		buffer_append_string(&text, "members unknown");
	add_line(lines, &text, &(struct call_line){ .rank = -1, .is_heading = true });
}

void call_lines_add_group(struct call_lines *lines, const struct group_row *row)
{
	struct rankset unread = find_unread(row);
	struct buffer text = BUFFER_INIT;
	struct last_calls calls;

	add_heading(lines, row);
	find_last_calls(&calls, row);
	for (size_t i = 0; i < calls.count; i++) {
		append_last_call(&text, &calls.items[i]);
		add_line(lines, &text,
			 &(struct call_line){ .rank = calls.items[i].first->process.rank,
					      .is_outlier = calls.items[i].newest < row->newest });
	}
	clear_last_calls(&calls);
	add_mismatch(lines, row);
	if (unread.range_count > 0) {
		buffer_append_string(&text, "        not read: ");
		rankset_append_named(&text, &unread);
		add_line(lines, &text, &(struct call_line){ .rank = rankset_first(&unread) });
	}
	rankset_clear(&unread);
}

void format_text_group(struct buffer *out, const struct group_row *row)
{
	struct call_lines lines = CALL_LINES_INIT;

	call_lines_add_group(&lines, row);
	for (size_t i = 0; i < lines.count; i++)
		buffer_printf(out, "%s\n", lines.items[i].text);
	call_lines_clear(&lines);
}

/* True if the call is of the group; row NULL: of any group. */
static bool is_of_group(const struct rank *rank, const struct group_row *row,
			const struct collective_entry *call)
{
	for (size_t i = 0; row && i < row->count; i++) {
		if (row->members[i].rank == rank)
			return call->group >= 0 &&
			       &rank->collectives->groups[call->group] == row->members[i].group;
	}
	return !row;
}

/* Index of the first of the newest `last` calls on the group. */
static size_t find_first(const struct rank *rank, const struct group_row *row, size_t last)
{
	size_t at = rank->collectives->entry_count;

	for (size_t i = at; i-- > 0 && last > 0;) {
		if (is_of_group(rank, row, &rank->collectives->entries[i])) {
			at = i;
			last--;
		}
	}
	return at;
}

/* Appends the local time of day: "12:34:56". */
static void append_clock(struct buffer *out, int64_t nanoseconds)
{
	time_t seconds = (time_t)(nanoseconds / NANOSECONDS);
	char text[CLOCK_COLUMNS];
	struct tm local;

	if (localtime_r(&seconds, &local) && strftime(text, sizeof(text), "%T", &local) > 0)
		buffer_append_string(out, text);
}

void format_text_calls(struct buffer *out, const struct rank *rank, const struct group_row *row,
		       size_t last)
{
	const struct collectives *collectives = rank->collectives;

	for (size_t i = find_first(rank, row, last); i < collectives->entry_count; i++) {
		const struct collective_entry *call = &collectives->entries[i];

		if (!is_of_group(rank, row, call))
			continue;
		buffer_printf(out, "  %4" PRIi64 "  ", call->is_p2p ? call->p2p_seq : call->seq);
		append_clock(out, call->created);
		buffer_append_string(out, "  ");
		if (call->group >= 0)
			group_append_name(out, &collectives->groups[call->group]);
		else
			buffer_append_string(out, "a group that is gone");
		buffer_append_string(out, "  ");
		format_collectives_append_call(out, rank, call);
		buffer_append_char(out, '\n');
	}
}

/* Appends "; ranks 0-4,6-7: broadcast [1] Float …" if the majority's call is another one. */
static bool append_majority(struct buffer *out, const struct group_row *row,
			    const struct collective_entry *call)
{
	struct call_classes classes;
	bool is_other;

	call_classes_make(&classes, row, call->seq);
	is_other = classes.has_majority && !collective_calls_match(classes.items[0].call, call);
	if (is_other) {
		buffer_append_string(out, "; ");
		rankset_append_named(out, &classes.items[0].ranks);
		buffer_append_string(out, ": ");
		format_collectives_append_call(out, first_of_class(row, &classes.items[0]),
					       classes.items[0].call);
	}
	call_classes_clear(&classes);
	return is_other;
}

/* Adds what others have called as this collective, which the rank has not called. */
static void add_not_called(struct call_lines *lines, const struct rank *rank,
			   const struct group_row *row, int64_t seq)
{
	struct buffer text = BUFFER_INIT;
	struct call_classes classes;

	call_classes_make(&classes, row, seq);
	if (classes.count > 0) {
		buffer_printf(&text, "  %4" PRIi64 "  not called; ", seq);
		rankset_append_named(&text, &classes.items[0].ranks);
		buffer_append_string(&text, ": ");
		format_collectives_append_call(&text, first_of_class(row, &classes.items[0]),
					       classes.items[0].call);
		add_line(lines, &text,
			 &(struct call_line){ .rank = rank->process.rank, .is_outlier = true });
	}
	call_classes_clear(&classes);
}

/* The number of the rank's newest collective on the group; -1: unknown. */
static int64_t newest_of(const struct group_row *row, const struct rank *rank)
{
	for (size_t i = 0; i < row->count; i++) {
		if (row->members[i].rank == rank)
			return row->members[i].newest;
	}
	return -1;
}

void call_lines_add_beside(struct call_lines *lines, const struct rank *rank,
			   const struct group_row *row, size_t last)
{
	const struct collectives *collectives = rank->collectives;
	int64_t newest = newest_of(row, rank);
	struct buffer text = BUFFER_INIT;

	buffer_printf(&text, "rank %d on ", rank->process.rank);
	group_append_name(&text, row->group);
	buffer_append_string(&text, ", beside the majority");
	add_line(lines, &text, &(struct call_line){ .rank = -1, .is_heading = true });
	for (size_t i = find_first(rank, row, last); i < collectives->entry_count; i++) {
		const struct collective_entry *call = &collectives->entries[i];
		struct call_line line = { .rank = rank->process.rank };

		if (call->is_p2p || !is_of_group(rank, row, call))
			continue;
		buffer_printf(&text, "  %4" PRIi64 "  ", call->seq);
		format_collectives_append_call(&text, rank, call);
		line.is_outlier = append_majority(&text, row, call);
		add_line(lines, &text, &line);
	}
	for (size_t i = 1; newest >= 0 && i <= last && newest + (int64_t)i <= row->newest; i++)
		add_not_called(lines, rank, row, newest + (int64_t)i);
}

void format_text_waits(struct buffer *out, const struct wait_graph *graph)
{
	struct wait_rows rows;

	wait_rows_make(&rows, graph);
	for (size_t i = 0; i < rows.count; i++)
		buffer_printf(out, "%s%s\n", rows.items[i].is_missing ? "    " : "  ",
			      rows.items[i].text);
	wait_rows_clear(&rows);
}

/* From here on: JSON. */

static json_t *number_or_null(int64_t number)
{
	return number >= 0 ? json_integer(number) : json_null();
}

/* {"operation", "sizes", "dtypes", "frame", "state"} */
static json_t *call_to_json(const struct rank *rank, const struct collective_entry *call)
{
	const struct frame *frame = place_of_call(rank, call);
	json_t *json = json_object();

	json_set_text(json, "operation", collective_call_name(call));
	json_object_set_new(json, "sizes",
			    call->input_sizes ? json_incref(call->input_sizes) : json_null());
	json_object_set_new(json, "dtypes",
			    call->input_dtypes ? json_incref(call->input_dtypes) : json_null());
	json_object_set_new(json, "frame",
			    frame ? format_json_frame(&rank->process, frame,
						      (size_t)(frame - call->stack->frames))
				  : json_null());
	json_set_text(json, "state", state_of_call(call));
	return json;
}

static json_t *mismatch_to_json(const struct group_row *row)
{
	int64_t seq = group_row_mismatch(row);
	struct call_classes classes;
	json_t *calls;

	if (seq < 0)
		return json_null();
	calls = json_array();
	call_classes_make(&classes, row, seq);
	for (size_t i = 0; i < classes.count; i++) {
		const struct call_class *class = &classes.items[i];
		json_t *json = call_to_json(first_of_class(row, class), class->call);

		json_object_set_new(json, "ranks", format_json_set(&class->ranks));
		json_array_append_new(calls, json);
	}
	call_classes_clear(&classes);
	return json_pack("{s:I, s:o}", "seq", (json_int_t)seq, "calls", calls);
}

static json_t *last_calls_to_json(const struct group_row *row)
{
	struct last_calls calls;
	json_t *all = json_array();

	find_last_calls(&calls, row);
	for (size_t i = 0; i < calls.count; i++) {
		const struct last_call *last = &calls.items[i];

		json_array_append_new(all,
				      json_pack("{s:o, s:o, s:o, s:o}", "ranks",
						format_json_set(&last->ranks), "called",
						number_or_null(last->newest), "sequence_number",
						number_or_null(last->group->seq), "call",
						last->call ? call_to_json(last->first, last->call)
							   : json_null()));
	}
	clear_last_calls(&calls);
	return all;
}

json_t *format_json_group(const struct group_row *row)
{
	struct rankset behind = group_row_behind(row);
	struct rankset unread = find_unread(row);
	json_t *json = json_object();

	json_set_text(json, "name", row->group->name);
	json_set_text(json, "description",
		      row->group->description && strcmp(row->group->description, "undefined") != 0
			      ? row->group->description
			      : NULL);
	json_set_text(json, "backend", row->group->backend);
	json_object_set_new(json, "is_default", json_boolean(row->group->is_default));
	json_object_set_new(json, "ranks", format_json_set(&row->ranks));
	json_object_set_new(json, "unread", format_json_set(&unread));
	json_object_set_new(json, "called", number_or_null(row->newest));
	json_object_set_new(json, "behind", format_json_set(&behind));
	json_object_set_new(json, "members", last_calls_to_json(row));
	json_object_set_new(json, "mismatch", mismatch_to_json(row));
	rankset_clear(&behind);
	rankset_clear(&unread);
	return json;
}

json_t *format_json_calls(const struct rank *rank, const struct group_row *row, size_t last)
{
	const struct collectives *collectives = rank->collectives;
	json_t *calls = json_array();

	for (size_t i = find_first(rank, row, last); i < collectives->entry_count; i++) {
		const struct collective_entry *call = &collectives->entries[i];
		json_t *json;

		if (!is_of_group(rank, row, call))
			continue;
		json = call_to_json(rank, call);
		json_set_text(json, "group",
			      call->group >= 0 ? collectives->groups[call->group].name : NULL);
		json_object_set_new(json, "seq",
				    call->is_p2p ? json_null() : number_or_null(call->seq));
		json_object_set_new(json, "p2p_seq",
				    call->is_p2p ? number_or_null(call->p2p_seq) : json_null());
		json_object_set_new(json, "created_ns", number_or_null(call->created));
		json_object_set_new(json, "started_ns", number_or_null(call->started));
		json_object_set_new(json, "completed_ns", number_or_null(call->completed));
		json_set_text(json, "thread", call->thread_name);
		json_array_append_new(calls, json);
	}
	return calls;
}

static json_t *node_to_json(const struct wait_node *node, size_t id)
{
	static const char *const kinds[] = {
		[WAIT_NODE_MESSAGE] = "message",
		[WAIT_NODE_LOCK] = "lock",
		[WAIT_NODE_HELPER] = "helper",
	};
	json_t *json = json_pack("{s:I}", "id", (json_int_t)id);

	if (node->kind == WAIT_NODE_RANK) {
		json_set_text(json, "kind", "rank");
		json_object_set_new(json, "rank", json_integer(node->number));
		return json;
	}
	if (node->kind != WAIT_NODE_COLLECTIVE) {
		json_set_text(json, "kind", kinds[node->kind]);
		json_set_text(json, "operation", rank_main_thread(node->rank)->activity.name);
		return json;
	}
	json_set_text(json, "kind", "collective");
	json_set_text(json, "group", node->row->group->name);
	json_set_text(json, "description", node->row->group->description);
	json_object_set_new(json, "seq", json_integer(node->seq));
	json_set_text(json, "operation", collective_call_name(node->call));
	return json;
}

static json_t *edge_to_json(const struct wait_graph *graph, const struct wait_edge *edge)
{
	static const char *const reasons[] = {
		[WAIT_REASON_IN] = "waits in",	    [WAIT_REASON_ABSENT] = "not called",
		[WAIT_REASON_PEER] = "peer",	    [WAIT_REASON_HOLDER] = "holder",
		[WAIT_REASON_OTHER] = "other call",
	};
	size_t rank = edge->reason == WAIT_REASON_IN ? edge->from : edge->to;

	return json_pack("{s:I, s:I, s:s, s:o}", "from", (json_int_t)edge->from, "to",
			 (json_int_t)edge->to, "reason", reasons[edge->reason], "call",
			 edge->call ? call_to_json(graph->nodes[rank].rank, edge->call)
				    : json_null());
}

json_t *format_json_waits(const struct session *session)
{
	json_t *nodes = json_array();
	json_t *edges = json_array();
	struct wait_graph graph;

	wait_graph_make(&graph, session);
	for (size_t i = 0; i < graph.node_count; i++) {
		if (graph.nodes[i].in_count + graph.nodes[i].out_count > 0)
			json_array_append_new(nodes, node_to_json(&graph.nodes[i], i));
	}
	for (size_t i = 0; i < graph.edge_count; i++)
		json_array_append_new(edges, edge_to_json(&graph, &graph.edges[i]));
	wait_graph_clear(&graph);
	return json_pack("{s:o, s:o}", "nodes", nodes, "edges", edges);
}
