/*
 * flight-recorder-dump: torch writes its dumps in FlightRecorderDetail.hpp: dump_dict() the pickle,
 * dump_json() the JSON. Both have the same members, but JSON has decimal numbers as strings in
 * pg_status, 0 in place of a time that is unknown, no "frames", and no "entries" if there are none.
 *
 * A group is known by the number pg_id of its entries and of pg_status, and by the name of its
 * entries and of pg_config. gloo enters all its groups into pg_config under the name "", the last
 * group overwriting the others: that entry says nothing.
 */
#include "engine/flight-recorder-dump.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "base/alloc.h"
#include "base/array.h"
#include "base/buffer.h"
#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "base/pickle.h"
#include "model/job.h"
#include "model/session.h"
#include "protocol/field.h"
#include "protocol/stack.h"

#define FILE_MAXIMUM ((size_t)256 << 20)
#define TEXT_MAXIMUM 4096
#define PICKLE_START 0x80 /* the opcode PROTO */

struct dump_reading {
	const json_t *root;
	struct collectives *out;
	int rank;
	int64_t *group_ids; /* pg_id of each group of out; -1: unknown */
	size_t group_id_capacity;
	struct frame *frames; /* of the stack that is being read */
	size_t frame_capacity;
};

#define AT(member) offsetof(struct collective_entry, member)

/* clang-format off */
static const struct field entry_fields[] = {
	{ "record_id", FIELD_UINT64, AT(id), -1, 0, INT64_MAX, NULL },
	{ "collective_seq_id", FIELD_INT64, AT(seq), -1, 0, INT64_MAX, NULL },
	{ "p2p_seq_id", FIELD_INT64, AT(p2p_seq), -1, 0, INT64_MAX, NULL },
	{ "op_id", FIELD_INT64, AT(op_id), -1, 0, INT64_MAX, NULL },
	{ "profiling_name", FIELD_TEXT, AT(operation), 0, 0, TEXT_MAXIMUM, NULL },
	{ "is_p2p", FIELD_BOOL, AT(is_p2p), 0, 0, 1, NULL },
	{ "retired", FIELD_BOOL, AT(is_retired), 0, 0, 1, NULL },
	{ "time_created_ns", FIELD_INT64, AT(created), -1, 0, INT64_MAX, NULL },
	{ "time_discovered_started_ns", FIELD_INT64, AT(started), -1, 0, INT64_MAX, NULL },
	{ "time_discovered_completed_ns", FIELD_INT64, AT(completed), -1, 0, INT64_MAX, NULL },
	{ "timeout_ms", FIELD_INT64, AT(timeout), -1, -1, INT64_MAX, NULL },
	{ "thread_name", FIELD_TEXT, AT(thread_name), 0, 0, TEXT_MAXIMUM, NULL },
};
/* clang-format on */
#undef AT

static const struct field_table entry_table = {
	.what = "entry",
	.fields = entry_fields,
	.count = ARRAY_LENGTH(entry_fields),
};

/* Parses the decimal number that text begins with; sets *end. -1: none, or it is too large. */
static int64_t parse_number(const char *text, const char **end)
{
	long long number;
	char *behind;

	*end = text;
	if (!isdigit((unsigned char)*text))
		return -1;
	errno = 0;
	number = strtoll(text, &behind, 10);
	*end = behind;
	return errno ? -1 : number;
}

/* Returns the number, also as a string, at key; -1: none. */
static int64_t read_number(const json_t *object, const char *key)
{
	const char *text = json_get_string(object, key, NULL);
	const char *end;
	int64_t number = text ? parse_number(text, &end) : json_get_integer(object, key, -1);

	return number >= 0 ? number : -1;
}

/*
 * Groups
 */

/* Returns the index of the group with the number id or, if id is unknown, the name; -1: none. */
static int find_dump_group(const struct dump_reading *reading, int64_t id, const char *name)
{
	for (size_t i = 0; i < reading->out->group_count; i++) {
		const char *known = reading->out->groups[i].name;

		if (id >= 0 && reading->group_ids[i] >= 0 ? reading->group_ids[i] == id
							  : name && strcmp(known, name) == 0)
			return (int)i;
	}
	return -1;
}

/* Adds a group; returns its index. -1 and *error: there are too many, or the name is too long. */
static int add_dump_group(struct dump_reading *reading, int64_t id, const char *name,
			  struct error *error)
{
	size_t count = reading->out->group_count;
	struct process_group *group;

	if (count == COLLECTIVE_GROUPS_MAXIMUM)
		return error_set(error, "more than %d process groups", COLLECTIVE_GROUPS_MAXIMUM);
	ARRAY_GROW(reading->group_ids, count, reading->group_id_capacity);
	reading->group_ids[count] = id;
	group = collectives_add_group(reading->out);
	group->name = xstrndup(name, TEXT_MAXIMUM);
	return (int)count;
}

static void describe_group(struct process_group *group, const char *description)
{
	if (!description || group->description)
		return;
	group->description = xstrndup(description, TEXT_MAXIMUM);
	group->is_default = strcmp(description, "default_pg") == 0;
}

/* Reads "[0, 1, 2]"; the ranks stay unknown if the text is anything else, or empty. */
static void read_group_ranks(struct process_group *group, const char *text)
{
	size_t capacity = 0;

	for (const char *at = text; *at == (at == text ? '[' : ',');) {
		int64_t rank = parse_number(at + 1 + (at[1] == ' '), &at);

		if (rank < 0 || group->rank_count == COLLECTIVE_GROUP_RANKS_MAXIMUM)
			break;
		ARRAY_GROW(group->ranks, group->rank_count, capacity);
		group->ranks[group->rank_count++] = rank;
		if (strcmp(at, "]") == 0)
			return;
	}
	group->rank_count = 0;
}

/* Sets *groups to the object at key, which has a member for each group; NULL: none. */
static int read_group_table(const struct dump_reading *reading, const char *key, json_t **groups,
			    struct error *error)
{
	*groups = json_object_get(reading->root, key);
	if (json_object_size(*groups) <= COLLECTIVE_GROUPS_MAXIMUM)
		return 0;
	return error_set(error, "more than %d process groups", COLLECTIVE_GROUPS_MAXIMUM);
}

static int read_config(struct dump_reading *reading, struct error *error)
{
	const char *name;
	json_t *groups, *config;

	if (read_group_table(reading, "pg_config", &groups, error) < 0)
		return -1;
	json_object_foreach(groups, name, config)
	{
		struct process_group *group;
		int i = find_dump_group(reading, -1, name);

		if (name[0] == '\0')
			continue;
		if (i < 0)
			i = add_dump_group(reading, -1, name, error);
		if (i < 0)
			return -1;
		group = &reading->out->groups[i];
		describe_group(group, json_get_string(config, "desc", NULL));
		if (!group->ranks)
			read_group_ranks(group, json_get_string(config, "ranks", ""));
	}
	return 0;
}

/* A status of a group without entries is dropped: its name is unknown. */
static int read_dump_statuses(struct dump_reading *reading, struct error *error)
{
	const char *key, *end;
	json_t *groups, *status;

	if (read_group_table(reading, "pg_status", &groups, error) < 0)
		return -1;
	json_object_foreach(groups, key, status)
	{
		int64_t id = parse_number(key, &end);
		int i = id >= 0 ? find_dump_group(reading, id, NULL) : -1;
		struct process_group *group = i >= 0 ? &reading->out->groups[i] : NULL;

		if (!group)
			continue;
		group->enqueued = read_number(status, "last_enqueued_collective");
		group->started = read_number(status, "last_started_collective");
		group->completed = read_number(status, "last_completed_collective");
	}
	return 0;
}

/* Sets the members that follow from others. */
static void complete_group(const struct dump_reading *reading, int index)
{
	struct process_group *group = &reading->out->groups[index];
	bool has_p2p = false;

	for (size_t i = 0; i < reading->out->entry_count; i++) {
		const struct collective_entry *entry = &reading->out->entries[i];

		if (entry->group != index)
			continue;
		has_p2p = has_p2p || entry->p2p_seq > 0;
		if (entry->seq > group->seq)
			group->seq = entry->seq;
	}
	/* NCCL sets last_enqueued_collective to the number of a point-to-point call, too. */
	if (!has_p2p && group->enqueued > group->seq)
		group->seq = group->enqueued;
	group->size = (int)group->rank_count;
	for (size_t i = 0; i < group->rank_count; i++)
		if (group->ranks[i] == reading->rank)
			group->rank = (int)i;
	if (group->is_default && group->rank_count == 0)
		group->rank = reading->rank;
}

/*
 * Stacks
 */

/* With TORCH_FR_CPP_STACK frames of C++ come first; the file of most is "??" or "". */
static bool is_native_file(const char *file)
{
	static const char *const suffixes[] = { "??",	".c",  ".cc",  ".cpp", ".h",
						".hpp", ".cu", ".cuh", ".so" };
	size_t length = strlen(file);

	if (length == 0)
		return true;
	for (size_t i = 0; i < ARRAY_LENGTH(suffixes); i++) {
		size_t suffix = strlen(suffixes[i]);

		if (length >= suffix && strcmp(file + length - suffix, suffixes[i]) == 0)
			return true;
	}
	return false;
}

static struct frame read_frame(struct stack_table *stacks, const json_t *json)
{
	const char *file = json_get_string(json, "filename", "");
	struct code code = {
		.func = (char *)json_get_string(json, "name", ""),
		.file = (char *)file,
		.type = is_native_file(file) ? FRAME_NATIVE : FRAME_PYTHON,
	};

	return (struct frame){
		.code = stack_table_code(stacks, &code),
		.lineno = json_get_count(json, "line"),
	};
}

/* Both lists, torch's and struct stack's, begin with the innermost frame. */
static const struct stack *read_frames(struct dump_reading *reading, const json_t *frames)
{
	size_t length = json_array_size(frames);
	size_t count = length < STACK_FRAMES_MAXIMUM ? length : STACK_FRAMES_MAXIMUM;

	if (count == 0)
		return NULL;
	reading->frames = array_grow(reading->frames, count, &reading->frame_capacity,
				     sizeof(*reading->frames));
	for (size_t i = 0; i < count; i++)
		reading->frames[i] = read_frame(reading->out->stacks, json_array_get(frames, i));
	return stack_table_stack(reading->out->stacks, reading->frames, count, length - count);
}

/*
 * Entries
 */

/* Sets the entry's group: process_group is [name, description]. */
static int read_entry_group(struct dump_reading *reading, struct collective_entry *entry,
			    const json_t *json, struct error *error)
{
	const json_t *names = json_object_get(json, "process_group");
	const char *name = json_string_value(json_array_get(names, 0));
	int64_t id = json_get_integer(json, "pg_id", -1);
	const char *colon = entry->operation ? strchr(entry->operation, ':') : NULL;
	struct process_group *group;

	if (!name)
		return error_set(error, "entry: \"process_group\" is not a name and a description");
	entry->group = find_dump_group(reading, id, name);
	if (entry->group < 0)
		entry->group = add_dump_group(reading, id, name, error);
	if (entry->group < 0)
		return -1;
	group = &reading->out->groups[entry->group];
	describe_group(group, json_string_value(json_array_get(names, 1)));
	if (!group->backend && colon)
		group->backend = xstrndup(entry->operation, (size_t)(colon - entry->operation));
	return 0;
}

static int read_dump_entry(struct dump_reading *reading, const json_t *json, struct error *error)
{
	struct collective_entry *entry = collectives_add_entry(reading->out);
	const char *thread = json_get_string(json, "thread_id", "");
	int64_t number = parse_number(thread, &thread);

	if (field_read(&entry_table, entry, json, error) < 0 ||
	    collective_entry_read_tensors(entry, json, error) < 0)
		return -1;
	if (entry->id > INT64_MAX)
		return error_set(error, "entry: \"record_id\" is missing");
	if (entry->started == 0)
		entry->started = -1;
	if (entry->completed == 0)
		entry->completed = -1;
	if (number > 0)
		entry->thread = (uint64_t)number;
	entry->stack = read_frames(reading, json_object_get(json, "frames"));
	if (entry->id >= reading->out->recorded)
		reading->out->recorded = entry->id + 1;
	return read_entry_group(reading, entry, json, error);
}

/* Reads the newest entries, as many as struct collectives may have. */
static int read_dump_entries(struct dump_reading *reading, struct error *error)
{
	const json_t *entries = json_object_get(reading->root, "entries");
	size_t count = json_array_size(entries);
	size_t first = count > COLLECTIVE_ENTRIES_MAXIMUM ? count - COLLECTIVE_ENTRIES_MAXIMUM : 0;

	if (entries && !json_is_array(entries))
		return error_set(error, "\"entries\" is not an array");
	for (size_t i = first; i < count; i++)
		if (read_dump_entry(reading, json_array_get(entries, i), error) < 0)
			return -1;
	if (count == 0)
		reading->out->missing =
			xstrdup("the dump has no collectives: none was called, or the Flight "
				"Recorder was off (TORCH_FR_BUFFER_SIZE)");
	return 0;
}

/*
 * The file
 */

/* Fails if jansson would need too much memory for the values of the document. */
static int check_json_size(const char *bytes, size_t length, struct error *error)
{
	uint64_t size = length;

	for (size_t i = 0; i < length; i++)
		if (bytes[i] == '{' || bytes[i] == '[')
			size += 240;
		else if (bytes[i] == ',' || bytes[i] == ':')
			size += 80;
	if (size <= PICKLE_MEMORY_MAXIMUM)
		return 0;
	return error_set(error, "the values need too much memory");
}

static json_t *parse_dump(const char *bytes, size_t length, struct error *error)
{
	unsigned char first = length > 0 ? (unsigned char)bytes[0] : '\0';

	if (first == PICKLE_START)
		return pickle_parse(bytes, length, error);
	if (first == '{')
		return check_json_size(bytes, length, error) < 0 ? NULL
								 : json_parse(bytes, length, error);
	error_set(error, "no Flight Recorder dump: %s",
		  length > 0 ? "neither a pickle of protocol 2 nor JSON" : "the file is empty");
	return NULL;
}

static int read_dump(struct dump_reading *reading, struct error *error)
{
	const char *version = json_get_string(reading->root, "version", NULL);

	if (!version)
		return error_set(error, "no Flight Recorder dump: \"version\" is missing");
	if (strncmp(version, "2.", 2) != 0)
		return error_set(error, "Flight Recorder dumps of version %.20s are not known",
				 version);
	if (read_dump_entries(reading, error) < 0 || read_config(reading, error) < 0 ||
	    read_dump_statuses(reading, error) < 0)
		return -1;
	for (size_t i = 0; i < reading->out->group_count; i++)
		complete_group(reading, (int)i);
	return 0;
}

int flight_recorder_dump_parse(struct flight_recorder_dump *dump, const void *bytes, size_t length,
			       struct error *error)
{
	struct dump_reading reading = { .out = &dump->collectives, .rank = dump->rank };
	json_t *root = parse_dump(bytes, length, error);
	int result = -1;

	collectives_clear(&dump->collectives);
	dump->collectives.stacks = stack_table_new();
	reading.root = root;
	if (root)
		result = read_dump(&reading, error);
	if (result < 0)
		collectives_clear(&dump->collectives);
	json_decref(root);
	free(reading.group_ids);
	free(reading.frames);
	return result;
}

/* Returns the end of a file's name without a suffix of letters, such as ".json". */
static const char *end_of_stem(const char *name)
{
	const char *dot = strrchr(name, '.');
	const char *at = dot ? dot + 1 : name;

	while (isalpha((unsigned char)*at))
		at++;
	return dot && *at == '\0' ? dot : name + strlen(name);
}

/* Returns the number at the end of a file's name, without the suffix; -1: there is none. */
static int rank_of_path(const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;
	const char *end = end_of_stem(name);
	const char *start = end;
	int64_t rank;

	while (start > name && isdigit((unsigned char)start[-1]))
		start--;
	rank = parse_number(start, &end);
	return rank <= INT_MAX ? (int)rank : -1;
}

int flight_recorder_dump_read(struct flight_recorder_dump *dump, const char *path,
			      struct error *error)
{
	struct buffer bytes;
	int result;

	flight_recorder_dump_clear(dump);
	buffer_init(&bytes, FILE_MAXIMUM);
	dump->rank = rank_of_path(path);
	result = file_read(path, "the dump", &bytes, error);
	if (result == 0 && flight_recorder_dump_parse(dump, bytes.data, bytes.length, error) < 0)
		result = error_prefix(error, "%s", path);
	if (result < 0)
		flight_recorder_dump_clear(dump);
	buffer_clear(&bytes);
	return result;
}

void flight_recorder_dump_clear(struct flight_recorder_dump *dump)
{
	collectives_clear(&dump->collectives);
	dump->rank = -1;
}

int flight_recorder_dump_add(struct session *session, const char *path, struct error *error)
{
	struct flight_recorder_dump dump = FLIGHT_RECORDER_DUMP_INIT;
	struct process process = { .pid = 0 };
	struct rank *rank;

	if (flight_recorder_dump_read(&dump, path, error) < 0)
		return -1;
	process.rank = dump.rank;
	if (dump.rank < 0 || session_find_rank(session, dump.rank)) {
		error_set(error,
			  dump.rank < 0 ? "%s: a dump is named by its rank: nccl_trace_rank_3"
					: "%s: another file is of this rank, too",
			  path);
		flight_recorder_dump_clear(&dump);
		return -1;
	}
	rank = rank_new(&process);
	rank->is_of_dump = true;
	rank->collectives = xmalloc(sizeof(*rank->collectives));
	*rank->collectives = dump.collectives;
	job_insert(session, rank);
	return 0;
}
