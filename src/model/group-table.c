#include "model/group-table.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "base/alloc.h"
#include "base/array.h"
#include "base/buffer.h"
#include "base/map.h"
#include "base/text.h"
#include "model/rank.h"
#include "model/session.h"
#include "protocol/collectives.h"

/* Number of tensors of a call that are shown; further ones are counted. */
#define TENSORS_SHOWN 2

/*
 * Equal for the parts of one group in several processes. One multiplication for each rank: each
 * of a thousand ranks has a thousand members.
 */
static uint64_t group_key(const struct process_group *group)
{
	uint64_t hash = hash_text(HASH_START, group->name);

	for (size_t i = 0; i < group->rank_count; i++) {
		hash = (hash ^ (uint64_t)group->ranks[i]) * UINT64_C(0x2545f4914f6cdd1d);
		hash ^= hash >> 32;
	}
	return hash;
}

static void start_row(struct group_row *row, const struct process_group *group)
{
	*row = (struct group_row){ .group = group, .newest = -1, .oldest = -1 };
	for (size_t i = 0; i < group->rank_count; i++) {
		if (group->ranks[i] >= 0 && group->ranks[i] <= RANKSET_MAXIMUM)
			rankset_add(&row->ranks, (int)group->ranks[i]);
	}
}

/* True unless the call ("gloo:barrier") is of another backend than the group names. */
static bool is_of_backend(const struct process_group *group, const struct collective_entry *entry)
{
	size_t length = group->backend ? strlen(group->backend) : 0;

	if (!group->backend || !entry->operation || !strchr(entry->operation, ':'))
		return true;
	return strncmp(entry->operation, group->backend, length) == 0 &&
	       entry->operation[length] == ':';
}

/*
 * The number of the newest collective by the entries: that of a call between two ranks is the
 * number of the collective before it. -1: the group has no entries.
 */
static int64_t newest_entry(const struct collectives *collectives,
			    const struct process_group *group)
{
	int64_t newest = -1;

	for (size_t i = 0; i < collectives->entry_count; i++) {
		const struct collective_entry *entry = &collectives->entries[i];

		if (entry->group >= 0 && &collectives->groups[entry->group] == group &&
		    is_of_backend(group, entry) && entry->seq > newest)
			newest = entry->seq;
	}
	return newest;
}

static void add_member(struct group_row *row, const struct rank *rank,
		       const struct process_group *group)
{
	const char *backend = group->backend ? group->backend : "";
	int64_t newest = newest_entry(rank->collectives, group);

	/*
	 * Only for a group without entries: the sequence number of gloo also counts calls between
	 * two ranks, and so does the status of NCCL.
	 */
	if (newest < 0 && strcmp(backend, "nccl") != 0)
		newest = group->enqueued;
	if (newest < 0 && (group->seq == 0 || strcmp(backend, "gloo") != 0))
		newest = group->seq;
	ARRAY_GROW(row->members, row->count, row->capacity);
	row->members[row->count++] = (struct group_member){ rank, group, newest };
	if (newest > row->newest)
		row->newest = newest;
	if (newest >= 0 && (row->oldest < 0 || newest < row->oldest))
		row->oldest = newest;
}

static void group_table_add(struct group_table *table, struct map *by_key, const struct rank *rank)
{
	const struct collectives *collectives = rank->collectives;

	for (size_t i = 0; i < collectives->group_count; i++) {
		const struct process_group *group = &collectives->groups[i];
		uint64_t key = group_key(group);
		size_t index = (size_t)(uintptr_t)map_find(by_key, key);

		if (index == 0) {
			ARRAY_GROW(table->rows, table->count, table->capacity);
			start_row(&table->rows[table->count], group);
			index = ++table->count;
			map_put(by_key, key, (void *)(uintptr_t)index);
		}
		add_member(&table->rows[index - 1], rank, group);
	}
}

/* Orders names like "2" and "10" by their numbers. */
static int compare_rows(const void *left, const void *right)
{
	const struct group_row *a = left;
	const struct group_row *b = right;
	size_t a_length = strlen(a->group->name);
	size_t b_length = strlen(b->group->name);
	int order;

	if (a->group->is_default != b->group->is_default)
		return a->group->is_default ? -1 : 1;
	if (a_length != b_length)
		return a_length < b_length ? -1 : 1;
	order = strcmp(a->group->name, b->group->name);
	return order != 0 ? order : rankset_first(&a->ranks) - rankset_first(&b->ranks);
}

static uint64_t key_of_part(const struct process_group *group)
{
	return (uint64_t)(uintptr_t)group;
}

static void index_parts(struct group_table *table)
{
	table->by_part = map_new(NULL);
	for (size_t i = 0; i < table->count; i++) {
		for (size_t j = 0; j < table->rows[i].count; j++)
			map_put(table->by_part, key_of_part(table->rows[i].members[j].group),
				&table->rows[i]);
	}
}

void group_table_make(struct group_table *table, const struct session *session)
{
	struct map *by_key = map_new(NULL);

	*table = (struct group_table){ .rows = NULL };
	for (size_t i = 0; i < session->rank_count; i++) {
		if (session->ranks[i]->collectives)
			group_table_add(table, by_key, session->ranks[i]);
	}
	if (table->count > 1)
		qsort(table->rows, table->count, sizeof(*table->rows), compare_rows);
	map_free(by_key);
	index_parts(table);
}

void group_table_clear(struct group_table *table)
{
	for (size_t i = 0; i < table->count; i++) {
		free(table->rows[i].members);
		rankset_clear(&table->rows[i].ranks);
	}
	free(table->rows);
	map_free(table->by_part);
	*table = (struct group_table){ .rows = NULL };
}

const struct group_row *group_table_find(const struct group_table *table, const char *name,
					 const struct rank *rank)
{
	for (size_t i = 0; i < table->count; i++) {
		const struct group_row *row = &table->rows[i];

		if (group_has_name(row->group, name) &&
		    (!rank || group_row_rank(row, rank->process.rank) == rank))
			return row;
	}
	return NULL;
}

const struct group_row *group_table_row(const struct group_table *table,
					const struct process_group *group)
{
	return table->by_part ? map_find(table->by_part, key_of_part(group)) : NULL;
}

bool collective_is_counted(const struct collectives *collectives,
			   const struct collective_entry *entry)
{
	return entry->group >= 0 && !entry->is_p2p &&
	       is_of_backend(&collectives->groups[entry->group], entry);
}

/* True if the entry is a collective on the member's group. */
static bool is_of_member(const struct group_member *member, const struct collective_entry *entry)
{
	const struct collectives *collectives = member->rank->collectives;

	return entry->group >= 0 && &collectives->groups[entry->group] == member->group &&
	       collective_is_counted(collectives, entry);
}

const struct collective_entry *group_member_entry(const struct group_member *member, int64_t seq)
{
	const struct collectives *collectives = member->rank->collectives;

	for (size_t i = 0; i < collectives->entry_count; i++) {
		const struct collective_entry *entry = &collectives->entries[i];

		if (entry->seq == seq && is_of_member(member, entry))
			return entry;
	}
	return NULL;
}

const struct collective_entry *group_member_open(const struct group_member *member)
{
	const struct collectives *collectives = member->rank->collectives;

	for (size_t i = 0; i < collectives->entry_count; i++) {
		const struct collective_entry *entry = &collectives->entries[i];

		if (is_of_member(member, entry) && !collective_call_has_ended(entry))
			return entry;
	}
	return NULL;
}

const struct rank *group_row_rank(const struct group_row *row, int number)
{
	for (size_t i = 0; i < row->count; i++) {
		if (row->members[i].rank->process.rank == number)
			return row->members[i].rank;
	}
	return NULL;
}

bool group_row_is_uneven(const struct group_row *row)
{
	return row->oldest < row->newest || group_row_mismatch(row) >= 0;
}

struct rankset group_row_behind(const struct group_row *row)
{
	struct rankset behind = RANKSET_INIT;

	for (size_t i = 0; i < row->count; i++) {
		const struct group_member *member = &row->members[i];

		if (member->newest >= 0 && member->newest < row->newest)
			rankset_add(&behind, member->rank->process.rank);
	}
	return behind;
}

static struct call_class *find_call_class(struct call_classes *classes,
					  const struct collective_entry *call)
{
	for (size_t i = 0; i < classes->count; i++) {
		if (collective_calls_match(classes->items[i].call, call))
			return &classes->items[i];
	}
	ARRAY_GROW(classes->items, classes->count, classes->capacity);
	classes->items[classes->count] = (struct call_class){ .call = call };
	return &classes->items[classes->count++];
}

static int compare_call_classes(const void *left, const void *right)
{
	const struct call_class *a = left;
	const struct call_class *b = right;
	size_t a_count = rankset_count(&a->ranks);
	size_t b_count = rankset_count(&b->ranks);

	if (a_count != b_count)
		return a_count > b_count ? -1 : 1;
	return rankset_first(&a->ranks) - rankset_first(&b->ranks);
}

void call_classes_make(struct call_classes *classes, const struct group_row *row, int64_t seq)
{
	size_t members = rankset_count(&row->ranks);

	*classes = (struct call_classes){ .items = NULL };
	for (size_t i = 0; i < row->count; i++) {
		const struct collective_entry *call = group_member_entry(&row->members[i], seq);

		if (!call)
			continue;
		rankset_add(&find_call_class(classes, call)->ranks,
			    row->members[i].rank->process.rank);
	}
	if (classes->count > 1)
		qsort(classes->items, classes->count, sizeof(*classes->items),
		      compare_call_classes);
	classes->has_majority = classes->count > 0 && rankset_count(&classes->items[0].ranks) * 2 >
							      (members > 0 ? members : row->count);
}

void call_classes_clear(struct call_classes *classes)
{
	for (size_t i = 0; i < classes->count; i++)
		rankset_clear(&classes->items[i].ranks);
	free(classes->items);
	*classes = (struct call_classes){ .items = NULL };
}

/* The smallest number of an entry of the member after `seq`; -1: there is none. */
static int64_t next_seq(const struct group_member *member, int64_t seq)
{
	const struct collectives *collectives = member->rank->collectives;
	int64_t next = -1;

	for (size_t i = 0; i < collectives->entry_count; i++) {
		const struct collective_entry *entry = &collectives->entries[i];

		if (entry->seq > seq && is_of_member(member, entry) &&
		    (next < 0 || entry->seq < next))
			next = entry->seq;
	}
	return next;
}

/* The smallest number of an entry of any member after `seq`; -1: there is none. */
static int64_t next_seq_of_row(const struct group_row *row, int64_t seq)
{
	int64_t next = -1;

	for (size_t i = 0; i < row->count; i++) {
		int64_t of_member = next_seq(&row->members[i], seq);

		if (of_member >= 0 && (next < 0 || of_member < next))
			next = of_member;
	}
	return next;
}

int64_t group_row_mismatch(const struct group_row *row)
{
	int64_t seq = -1;

	while ((seq = next_seq_of_row(row, seq)) >= 0) {
		struct call_classes classes;
		bool is_mismatch;

		call_classes_make(&classes, row, seq);
		is_mismatch = classes.count > 1;
		call_classes_clear(&classes);
		if (is_mismatch)
			return seq;
	}
	return -1;
}

bool collective_call_has_ended(const struct collective_entry *entry)
{
	return entry->is_retired || entry->completed >= 0;
}

const char *collective_call_name(const struct collective_entry *entry)
{
	const char *colon;

	if (!entry->operation)
		return "an unknown operation";
	colon = strchr(entry->operation, ':');
	return colon ? colon + 1 : entry->operation;
}

const char *collective_call_unrecorded(const struct collective_entry *call)
{
	/* The first row whose text is in the operation's name counts. */
	static const struct {
		const char *text, *arguments;
	} rows[] = {
		{ "all_reduce", "op" }, { "reduce_scatter", "op" }, { "broadcast", "src" },
		{ "scatter", "src" },	{ "all_gather", NULL },	    { "allgather", NULL },
		{ "gather", "dst" },	{ "reduce", "dst, op" },
	};
	const char *name = collective_call_name(call);

	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		if (strstr(name, rows[i].text))
			return rows[i].arguments;
	}
	return NULL;
}

/* Operations whose members must pass as many elements, of the same type, as all the others. */
static bool is_uniform(const char *name)
{
	static const char *const names[] = {
		"all_reduce",	   "broadcast",	       "reduce",
		"_allgather_base", "_all_gather_base", "_reduce_scatter_base",
	};

	for (size_t i = 0; i < ARRAY_LENGTH(names); i++) {
		if (strcmp(names[i], name) == 0)
			return true;
	}
	return false;
}

/* The number of elements of a tensor with these lengths. */
static uint64_t elements_of(const json_t *shape)
{
	uint64_t count = 1;
	const json_t *length;
	size_t i;

	json_array_foreach(shape, i, length)
	{
		count *= (uint64_t)json_integer_value(length);
	}
	return count;
}

static bool are_as_large(const json_t *a, const json_t *b)
{
	if (!a || !b)
		return true;
	if (json_array_size(a) != json_array_size(b))
		return false;
	for (size_t i = 0; i < json_array_size(a); i++) {
		if (elements_of(json_array_get(a, i)) != elements_of(json_array_get(b, i)))
			return false;
	}
	return true;
}

bool collective_calls_match(const struct collective_entry *a, const struct collective_entry *b)
{
	if (!a->operation || !b->operation)
		return true;
	if (strcmp(collective_call_name(a), collective_call_name(b)) != 0)
		return false;
	if (!is_uniform(collective_call_name(a)))
		return true;
	if (a->input_dtypes && b->input_dtypes && !json_equal(a->input_dtypes, b->input_dtypes))
		return false;
	return are_as_large(a->input_sizes, b->input_sizes);
}

static void append_tensor(struct buffer *out, const json_t *shape, const json_t *dtype)
{
	const json_t *length;
	size_t i;

	buffer_append_string(out, " [");
	json_array_foreach(shape, i, length)
	{
		buffer_printf(out, i == 0 ? "%" JSON_INTEGER_FORMAT : ", %" JSON_INTEGER_FORMAT,
			      json_integer_value(length));
	}
	buffer_append_char(out, ']');
	if (!json_is_string(dtype))
		return;
	buffer_append_char(out, ' ');
	text_escape(out, json_string_value(dtype), json_string_length(dtype));
}

void collective_call_append(struct buffer *out, const struct collective_entry *entry)
{
	const char *name = collective_call_name(entry);
	size_t count = json_array_size(entry->input_sizes);

	text_escape(out, name, strlen(name));
	for (size_t i = 0; i < count && i < TENSORS_SHOWN; i++)
		append_tensor(out, json_array_get(entry->input_sizes, i),
			      json_array_get(entry->input_dtypes, i));
	if (count > TENSORS_SHOWN)
		buffer_printf(out, " and %zu more tensors", count - TENSORS_SHOWN);
}

bool group_has_name(const struct process_group *group, const char *name)
{
	static const char prefix[] = "group ";

	if (strncmp(name, prefix, strlen(prefix)) == 0 &&
	    strcmp(group->name, name + strlen(prefix)) == 0)
		return true;
	return strcmp(group->name, name) == 0 ||
	       (group->description && strcmp(group->description, name) == 0);
}

void group_append_name(struct buffer *out, const struct process_group *group)
{
	const char *name = group->description ? group->description : group->name;

	if (!group->description || strcmp(group->description, "undefined") == 0) {
		buffer_append_string(out, "group ");
		name = group->name;
	}
	text_escape(out, name, strlen(name));
}
