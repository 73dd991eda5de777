#include "protocol/collectives.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "base/alloc.h"
#include "base/array.h"
#include "base/buffer.h"
#include "base/error.h"
#include "base/json.h"
#include "protocol/field.h"
#include "protocol/rankset.h"
#include "protocol/stack.h"

#define TEXT_MAXIMUM 4096
#define TENSORS_MAXIMUM 65536
#define DIMENSIONS_MAXIMUM 64

/* clang-format off */
#define AT(member) offsetof(struct process_group, member)

static const struct field group_fields[] = {
	{ "name", FIELD_TEXT, AT(name), 0, 0, TEXT_MAXIMUM, NULL },
	{ "description", FIELD_TEXT, AT(description), 0, 0, TEXT_MAXIMUM, NULL },
	{ "backend", FIELD_TEXT, AT(backend), 0, 0, TEXT_MAXIMUM, NULL },
	{ "rank", FIELD_INT, AT(rank), -1, 0, INT_MAX, NULL },
	{ "size", FIELD_INT, AT(size), 0, 0, INT_MAX, NULL },
	{ "is_default", FIELD_BOOL, AT(is_default), 0, 0, 1, NULL },
	{ "seq", FIELD_INT64, AT(seq), -1, 0, INT64_MAX, NULL },
	{ "enqueued", FIELD_INT64, AT(enqueued), -1, 0, INT64_MAX, NULL },
	{ "started", FIELD_INT64, AT(started), -1, 0, INT64_MAX, NULL },
	{ "completed", FIELD_INT64, AT(completed), -1, 0, INT64_MAX, NULL },
	{ "unfinished", FIELD_INT64, AT(unfinished), -1, 0, INT64_MAX, NULL },
	{ "operation", FIELD_TEXT, AT(operation), 0, 0, TEXT_MAXIMUM, NULL },
};
#undef AT
#define AT(member) offsetof(struct collective_entry, member)

static const struct field entry_fields[] = {
	{ "id", FIELD_UINT64, AT(id), -1, 0, INT64_MAX, NULL },
	{ "group", FIELD_INT, AT(group), -1, 0, INT_MAX, NULL },
	{ "seq", FIELD_INT64, AT(seq), -1, 0, INT64_MAX, NULL },
	{ "p2p_seq", FIELD_INT64, AT(p2p_seq), -1, 0, INT64_MAX, NULL },
	{ "op_id", FIELD_INT64, AT(op_id), -1, 0, INT64_MAX, NULL },
	{ "operation", FIELD_TEXT, AT(operation), 0, 0, TEXT_MAXIMUM, NULL },
	{ "is_p2p", FIELD_BOOL, AT(is_p2p), 0, 0, 1, NULL },
	{ "is_retired", FIELD_BOOL, AT(is_retired), 0, 0, 1, NULL },
	{ "created", FIELD_INT64, AT(created), -1, 0, INT64_MAX, NULL },
	{ "started", FIELD_INT64, AT(started), -1, 0, INT64_MAX, NULL },
	{ "completed", FIELD_INT64, AT(completed), -1, 0, INT64_MAX, NULL },
	{ "timeout", FIELD_INT64, AT(timeout), -1, 0, INT64_MAX, NULL },
	{ "thread", FIELD_HEX, AT(thread), 0, 0, 0, NULL },
	{ "thread_name", FIELD_TEXT, AT(thread_name), 0, 0, TEXT_MAXIMUM, NULL },
};
#undef AT
#define AT(member) offsetof(struct collectives, member)

static const struct field collectives_fields[] = {
	{ "version", FIELD_TEXT, AT(version), 0, 0, TEXT_MAXIMUM, NULL },
	{ "recorded", FIELD_UINT64, AT(recorded), 0, 0, INT64_MAX, NULL },
	{ "missing", FIELD_TEXT, AT(missing), 0, 0, TEXT_MAXIMUM, NULL },
};
#undef AT
/* clang-format on */

static const struct field_table group_table = {
	.what = "process group",
	.fields = group_fields,
	.count = ARRAY_LENGTH(group_fields),
};

static const struct field_table entry_table = {
	.what = "collective",
	.fields = entry_fields,
	.count = ARRAY_LENGTH(entry_fields),
};

static const struct field_table collectives_table = {
	.what = "collectives",
	.fields = collectives_fields,
	.count = ARRAY_LENGTH(collectives_fields),
};

static void clear_entry(struct collective_entry *entry)
{
	field_clear(&entry_table, entry);
	json_decref(entry->input_sizes);
	json_decref(entry->input_dtypes);
	json_decref(entry->output_sizes);
	json_decref(entry->output_dtypes);
}

void collectives_clear(struct collectives *collectives)
{
	for (size_t i = 0; i < collectives->group_count; i++) {
		field_clear(&group_table, &collectives->groups[i]);
		free(collectives->groups[i].ranks);
	}
	for (size_t i = 0; i < collectives->entry_count; i++)
		clear_entry(&collectives->entries[i]);
	field_clear(&collectives_table, collectives);
	free(collectives->groups);
	free(collectives->entries);
	stack_table_free(collectives->stacks);
	*collectives = (struct collectives)COLLECTIVES_INIT;
}

struct process_group *collectives_add_group(struct collectives *collectives)
{
	struct process_group *group;

	ARRAY_GROW(collectives->groups, collectives->group_count, collectives->group_capacity);
	group = &collectives->groups[collectives->group_count++];
	*group = (struct process_group){ .name = NULL };
	field_init(&group_table, group);
	return group;
}

struct collective_entry *collectives_add_entry(struct collectives *collectives)
{
	struct collective_entry *entry;

	ARRAY_GROW(collectives->entries, collectives->entry_count, collectives->entry_capacity);
	entry = &collectives->entries[collectives->entry_count++];
	*entry = (struct collective_entry){ .operation = NULL };
	field_init(&entry_table, entry);
	return entry;
}

void collectives_drop_entry(struct collectives *collectives)
{
	clear_entry(&collectives->entries[--collectives->entry_count]);
}

const struct process_group *collectives_default_group(const struct collectives *collectives)
{
	for (size_t i = 0; i < collectives->group_count; i++)
		if (collectives->groups[i].is_default)
			return &collectives->groups[i];
	return NULL;
}

/* The ranks as a set, if they rise, as they mostly do: "0-1023" in place of as many numbers. */
static json_t *ranks_to_json(const struct process_group *group)
{
	struct rankset set = RANKSET_INIT;
	struct buffer text = BUFFER_INIT;
	bool is_rising = group->ranks[0] >= 0;
	json_t *json;

	for (size_t i = 0; is_rising && i < group->rank_count; i++) {
		is_rising = group->ranks[i] <= RANKSET_MAXIMUM &&
			    (i == 0 || group->ranks[i] > group->ranks[i - 1]);
		if (is_rising)
			rankset_add(&set, (int)group->ranks[i]);
	}
	rankset_append(&text, &set);
	json = is_rising ? json_string(text.data) : json_integers(group->ranks, group->rank_count);
	buffer_clear(&text);
	rankset_clear(&set);
	return json;
}

static json_t *group_to_json(const struct process_group *group)
{
	json_t *json = json_object();

	field_write(&group_table, group, json);
	if (group->rank_count > 0)
		json_object_set_new(json, "ranks", ranks_to_json(group));
	return json;
}

static json_t *entry_to_json(const struct collective_entry *entry, const struct stack *stack)
{
	json_t *json = json_object();

	field_write(&entry_table, entry, json);
	json_object_set(json, "input_sizes", entry->input_sizes);
	json_object_set(json, "input_dtypes", entry->input_dtypes);
	json_object_set(json, "output_sizes", entry->output_sizes);
	json_object_set(json, "output_dtypes", entry->output_dtypes);
	if (stack)
		json_object_set_new(json, "stack", json_integer((json_int_t)stack->id));
	return json;
}

json_t *collectives_to_json(const struct collectives *collectives, size_t newest)
{
	json_t *json = json_object();
	json_t *groups = json_array();
	json_t *stacks = json_array();
	json_t *entries = json_array();
	/* A table remembers what was sent: with a new one each answer has all of its stacks. */
	struct stack_table *table = stack_table_new();
	size_t count = collectives->entry_count;

	field_write(&collectives_table, collectives, json);
	for (size_t i = 0; i < collectives->group_count; i++)
		json_array_append_new(groups, group_to_json(&collectives->groups[i]));
	for (size_t i = count > newest ? count - newest : 0; i < count; i++) {
		const struct collective_entry *entry = &collectives->entries[i];
		const struct stack *copy =
			entry->stack ? stack_table_copy(table, entry->stack) : NULL;
		json_t *stack = copy ? stack_table_send(table, copy) : NULL;

		if (stack)
			json_array_append_new(stacks, stack);
		json_array_append_new(entries, entry_to_json(entry, copy));
	}
	stack_table_free(table);
	json_object_set_new(json, "groups", groups);
	json_object_set_new(json, "stacks", stacks);
	json_object_set_new(json, "entries", entries);
	return json;
}

/* Sets *array to the array at key; NULL: missing. Returns -1 and *error if it is no such array. */
static int collectives_get_array(const json_t *json, const char *key, size_t maximum,
				 json_t **array, struct error *error)
{
	json_t *value = json_object_get(json, key);

	*array = NULL;
	if (!value || json_is_null(value))
		return 0;
	if (!json_is_array(value) || json_array_size(value) > maximum)
		return error_set(error,
				 "collectives: \"%s\" is not an array of at most %zu elements", key,
				 maximum);
	*array = value;
	return 0;
}

/* Takes "4" or "0-7", above `before`; returns its last rank; -1: it is something else. */
static long take_ranks(struct process_group *group, const char **at, long before)
{
	char *end;
	long first = strtol(*at, &end, 10);
	long last = first;

	if (end != *at && *end == '-')
		last = strtol(end + 1, &end, 10);
	if (end == *at || first <= before || last < first || last > RANKSET_MAXIMUM ||
	    (size_t)(last - first) >= COLLECTIVE_GROUP_RANKS_MAXIMUM - group->rank_count)
		return -1;
	group->ranks = xrealloc(group->ranks, (group->rank_count + (size_t)(last - first) + 1) *
						      sizeof(*group->ranks));
	for (long rank = first; rank <= last; rank++)
		group->ranks[group->rank_count++] = rank;
	*at = end;
	return last;
}

/* Reads "0-7,16". The ranks have to rise, so the time is that of the text's length. */
static int read_rank_set(struct process_group *group, const char *text, struct error *error)
{
	const char *at = text;
	long last = take_ranks(group, &at, -1);

	while (last >= 0 && *at == ',') {
		at++;
		last = take_ranks(group, &at, last);
	}
	if (last >= 0 && *at == '\0')
		return 0;
	return error_set(error,
			 "process group: \"ranks\" is no set of at most %d rising rank numbers",
			 COLLECTIVE_GROUP_RANKS_MAXIMUM);
}

static int read_ranks(struct process_group *group, const json_t *json, struct error *error)
{
	const char *text = json_string_value(json_object_get(json, "ranks"));
	json_t *ranks;

	if (text)
		return read_rank_set(group, text, error);
	if (collectives_get_array(json, "ranks", COLLECTIVE_GROUP_RANKS_MAXIMUM, &ranks, error) < 0)
		return -1;
	if (!ranks)
		return 0;
	group->rank_count = json_array_size(ranks);
	group->ranks = xcalloc(group->rank_count + 1, sizeof(*group->ranks));
	if (json_read_integers(group->ranks, group->rank_count, ranks) >= 0)
		return 0;
	return error_set(error, "process group: \"ranks\" has an element that is no integer");
}

static bool is_shape(const json_t *shape)
{
	const json_t *length;
	size_t i;

	if (!json_is_array(shape) || json_array_size(shape) > DIMENSIONS_MAXIMUM)
		return false;
	json_array_foreach(shape, i, length)
	{
		if (!json_is_integer(length))
			return false;
	}
	return true;
}

static bool is_text(const json_t *text)
{
	return json_is_string(text) && json_string_length(text) <= TEXT_MAXIMUM;
}

static int read_list(json_t **list, const json_t *json, const char *key,
		     bool (*is_element)(const json_t *element), struct error *error)
{
	const json_t *element;
	json_t *array;
	size_t i;

	if (collectives_get_array(json, key, TENSORS_MAXIMUM, &array, error) < 0)
		return -1;
	json_array_foreach(array, i, element)
	{
		if (!is_element(element))
			return error_set(error, "collective: element %zu of \"%s\" is invalid", i,
					 key);
	}
	*list = json_incref(array);
	return 0;
}

int collective_entry_read_tensors(struct collective_entry *entry, const json_t *json,
				  struct error *error)
{
	if (read_list(&entry->input_sizes, json, "input_sizes", is_shape, error) < 0 ||
	    read_list(&entry->input_dtypes, json, "input_dtypes", is_text, error) < 0 ||
	    read_list(&entry->output_sizes, json, "output_sizes", is_shape, error) < 0 ||
	    read_list(&entry->output_dtypes, json, "output_dtypes", is_text, error) < 0)
		return -1;
	return 0;
}

static int read_stack(struct collective_entry *entry, const struct stack_table *stacks,
		      const json_t *json, struct error *error)
{
	int64_t id = json_get_integer(json, "stack", 0);

	if (id == 0)
		return 0;
	entry->stack = stack_table_find(stacks, (uint64_t)id);
	if (entry->stack)
		return 0;
	return error_set(error, "collective: stack %lld was not sent", (long long)id);
}

static int entry_from_json(struct collectives *collectives, const json_t *json, struct error *error)
{
	struct collective_entry *entry = collectives_add_entry(collectives);

	if (field_read(&entry_table, entry, json, error) < 0 ||
	    collective_entry_read_tensors(entry, json, error) < 0 ||
	    read_stack(entry, collectives->stacks, json, error) < 0)
		return -1;
	if (entry->group >= (int)collectives->group_count)
		return error_set(error, "collective: there is no group %d", entry->group);
	return 0;
}

static int group_from_json(struct collectives *collectives, const json_t *json, struct error *error)
{
	struct process_group *group = collectives_add_group(collectives);

	if (field_read(&group_table, group, json, error) < 0 || read_ranks(group, json, error) < 0)
		return -1;
	return group->name ? 0 : error_set(error, "process group: \"name\" is missing");
}

int collectives_from_json(struct collectives *collectives, const json_t *json, struct error *error)
{
	json_t *groups, *stacks, *entries;
	const json_t *one;
	size_t i;

	collectives_clear(collectives);
	if (field_read(&collectives_table, collectives, json, error) < 0 ||
	    collectives_get_array(json, "groups", COLLECTIVE_GROUPS_MAXIMUM, &groups, error) < 0 ||
	    collectives_get_array(json, "stacks", COLLECTIVE_ENTRIES_MAXIMUM, &stacks, error) < 0 ||
	    collectives_get_array(json, "entries", COLLECTIVE_ENTRIES_MAXIMUM, &entries, error) < 0)
		return -1;
	collectives->stacks = stack_table_new();
	json_array_foreach(groups, i, one)
	{
		if (group_from_json(collectives, one, error) < 0)
			return -1;
	}
	json_array_foreach(stacks, i, one)
	{
		if (stack_table_receive(collectives->stacks, one, error) < 0)
			return -1;
	}
	json_array_foreach(entries, i, one)
	{
		if (entry_from_json(collectives, one, error) < 0)
			return -1;
	}
	return 0;
}
