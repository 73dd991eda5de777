/*
 * process-groups: the process groups that torch.distributed has registered in its module
 * torch.distributed.distributed_c10d, and what their C++ objects say.
 *
 * The module has dicts whose keys are the groups: _pg_names (name), _pg_group_ranks ({global rank:
 * rank in the group}), _pg_backend_config ("cpu:gloo,cuda:nccl"). A key is an instance of pybind11,
 * whose first word behind the head points to the c10d::ProcessGroup. That has its backends in a
 * hash map: with TORCH_DISTRIBUTED_DEBUG=DETAIL the backend is a ProcessGroupWrapper around one.
 */
#include <stdlib.h>
#include <string.h>

#include "backends/c10d/c10d-layout.h"
#include "backends/c10d/c10d-private.h"
#include "backends/cpython/pyreader.h"
#include "banned.h"
#include "base/alloc.h"
#include "base/array.h"
#include "protocol/collectives.h"

#define MODULE "torch.distributed.distributed_c10d"
#define NAME_MAXIMUM 256
#define BACKENDS_MAXIMUM 8
#define WORKS_MAXIMUM 4096

/* Names of c10d::OpType by number (c10d/Work.hpp). */
static const char *const operation_names[] = {
	"BROADCAST",
	"ALLREDUCE",
	"ALLREDUCE_COALESCED",
	"REDUCE",
	"ALLGATHER",
	"_ALLGATHER_BASE",
	"ALLGATHER_COALESCED",
	"GATHER",
	"SCATTER",
	"REDUCE_SCATTER",
	"ALLTOALL_BASE",
	"ALLTOALL",
	"SEND",
	"RECV",
	"RECVANYSOURCE",
	"BARRIER",
	"_REDUCE_SCATTER_BASE",
	"COALESCED",
	"_ALLREDUCE_SPARSE",
};

/* One group that is being read. */
struct group_reading {
	struct c10d_reading *reading;
	struct process_group *out;
	uint64_t key;	 /* the Python object */
	uint64_t object; /* the c10d::ProcessGroup; 0: unknown */
	int64_t id;	 /* Entry::pg_id_; -1: unknown */
};

void c10d_miss(struct c10d_reading *reading, const char *format, ...)
{
	va_list arguments;

	if (reading->missing.length > 0)
		buffer_append_string(&reading->missing, "; ");
	va_start(arguments, format);
	buffer_vprintf(&reading->missing, format, arguments);
	va_end(arguments);
}

int process_groups_find(const struct c10d_reading *reading, int64_t id, const char *name)
{
	for (size_t i = 0; i < reading->out->group_count; i++) {
		const struct process_group *group = &reading->out->groups[i];
		bool has_id = reading->group_ids[i] >= 0 && group->backend && reading->backend &&
			      strcmp(group->backend, reading->backend) == 0;

		if (has_id ? reading->group_ids[i] == id
			   : name && group->name && strcmp(group->name, name) == 0)
			return (int)i;
	}
	return -1;
}

/*
 * What Python says
 */

static char *read_text(struct pyreader *reader, uint64_t object)
{
	struct buffer text = BUFFER_INIT;
	char *copy = NULL;

	if (pyobject_string(reader, object, NAME_MAXIMUM, &text) == 0)
		copy = xstrdup(text.data);
	buffer_clear(&text);
	return copy;
}

struct dict_search {
	uint64_t key;
	uint64_t value; /* 0: not found */
};

static bool is_other_key(uint64_t key, uint64_t value, void *data)
{
	struct dict_search *search = data;

	if (key != search->key)
		return true;
	search->value = value;
	return false;
}

/* Finds the value of the group `key` in one of the module's dicts; 0: none. */
static uint64_t look_up(struct pyreader *reader, uint64_t interpreter, const char *name,
			uint64_t key)
{
	struct dict_search search = { .key = key };
	uint64_t dict;

	if (pymodule_find(reader, interpreter, MODULE, name, &dict) == 0)
		pydict_each(reader, dict, 0, COLLECTIVE_GROUPS_MAXIMUM, is_other_key, &search);
	return search.value;
}

static bool add_member(uint64_t key, uint64_t value, void *data)
{
	struct group_reading *group = data;
	struct process_group *out = group->out;
	int64_t global, local;

	if (pyobject_integer(&group->reading->reader, key, &global) < 0 ||
	    pyobject_integer(&group->reading->reader, value, &local) < 0 || local < 0 ||
	    local >= (int64_t)out->rank_count)
		return false;
	out->ranks[local] = global;
	return true;
}

static void read_members(struct group_reading *group)
{
	struct pyreader *reader = &group->reading->reader;
	struct process_group *out = group->out;
	uint64_t dict = look_up(reader, group->reading->interpreter, "_pg_group_ranks", group->key);
	int64_t count = dict ? pydict_each(reader, dict, 0, 0, add_member, group) : -1;

	if (count <= 0 || count > COLLECTIVE_GROUP_RANKS_MAXIMUM)
		return;
	out->rank_count = (size_t)count;
	out->ranks = xcalloc(out->rank_count, sizeof(*out->ranks));
	for (size_t i = 0; i < out->rank_count; i++)
		out->ranks[i] = -1;
	pydict_each(reader, dict, 0, out->rank_count, add_member, group);
	for (size_t i = 0; i < out->rank_count; i++)
		if (out->ranks[i] < 0)
			out->rank_count = 0;
}

/*
 * What C++ says
 */

static bool is_class(struct c10d_reading *reading, uint64_t object, const char *part)
{
	const char *name = pycxx_class(&reading->reader, object);

	return name && strstr(name, part);
}

static int read_cxx(struct c10d_reading *reading, uint64_t object, int offset, void *out,
		    size_t length)
{
	return pyreader_read(&reading->reader, object + (uint64_t)offset, out, length);
}

static void read_description(struct group_reading *group)
{
	const struct c10d_layout *layout = group->reading->layout;
	uint64_t address = group->object + (uint64_t)layout->group_description;
	struct buffer text = BUFFER_INIT;
	uint8_t bytes[32];

	if (pyreader_read(&group->reading->reader, address, bytes, (size_t)layout->string_size))
		return;
	if (c10d_string(&group->reading->reader, layout, bytes, address, &text) == 0)
		group->out->description = xstrdup(text.data);
	buffer_clear(&text);
}

static const char *operation_name(uint8_t number)
{
	return number < ARRAY_LENGTH(operation_names) ? operation_names[number] : "UNKNOWN";
}

/* Sets the operation to that of an AsyncWork, if its number is the lowest so far. */
static void take_work(struct group_reading *group, uint64_t work, uint64_t *lowest)
{
	const struct c10d_layout *layout = group->reading->layout;
	uint8_t operation;
	uint64_t seq;

	if (!is_class(group->reading, work, "Work") ||
	    read_cxx(group->reading, work, layout->work_seq, &seq, sizeof(seq)) ||
	    read_cxx(group->reading, work, layout->work_operation, &operation, 1) || seq >= *lowest)
		return;
	*lowest = seq;
	free(group->out->operation);
	group->out->operation = xstrdup(operation_name(operation));
}

/*
 * Reads the calls that have not ended: those that run, workInProgress_ (a std::vector with an empty
 * item for each idle thread), and the length of workQueue_, a std::deque of pointers in chunks of
 * 512 bytes: {map, map size, first {current, start, end, chunk}, last {…}}.
 */
static void read_works(struct group_reading *group, uint64_t backend)
{
	const struct c10d_layout *layout = group->reading->layout;
	uint64_t works[64], deque[10], address, lowest = UINT64_MAX;
	int64_t unfinished = 0;
	uint8_t vector[16];
	size_t count;

	if (read_cxx(group->reading, backend, layout->gloo_running, vector, sizeof(vector)) ||
	    read_cxx(group->reading, backend, layout->gloo_queue, deque, sizeof(deque)) ||
	    c10d_vector(vector, 8, ARRAY_LENGTH(works), &address, &count) < 0 ||
	    (count > 0 && pyreader_read(&group->reading->reader, address, works, count * 8)))
		return;
	for (size_t i = 0; i < count; i++)
		if (works[i]) {
			unfinished++;
			take_work(group, works[i], &lowest);
		}
	/* Pointers in the whole chunks between the first and the last, and in these two. */
	unfinished += ((int64_t)(deque[9] - deque[5]) / 8 - 1) * 64 +
		      (int64_t)(deque[6] - deque[7]) / 8 + (int64_t)(deque[4] - deque[2]) / 8;
	if (unfinished >= 0 && unfinished <= WORKS_MAXIMUM)
		group->out->unfinished = unfinished;
}

static void read_gloo(struct group_reading *group, uint64_t backend)
{
	const struct c10d_layout *layout = group->reading->layout;
	uint64_t number;

	group->out->backend = xstrdup("gloo");
	if (read_cxx(group->reading, backend, layout->gloo_seq, &number, sizeof(number)) == 0 &&
	    group->reading->libraries->gloo.sequence == layout->gloo_seq)
		group->out->seq = (int64_t)number;
	if (layout->gloo_id >= 0 &&
	    read_cxx(group->reading, backend, layout->gloo_id, &number, sizeof(number)) == 0)
		group->id = (int64_t)number;
	read_works(group, backend);
}

static void read_nccl(struct group_reading *group, uint64_t backend)
{
	int sequence = group->reading->libraries->nccl.sequence;
	uint64_t number;

	group->out->backend = xstrdup("nccl");
	if (sequence >= 0 &&
	    read_cxx(group->reading, backend, sequence, &number, sizeof(number)) == 0)
		group->out->seq = (int64_t)number;
}

/* Reads a backend by its class. Returns false if the class is not known. */
static bool read_backend(struct group_reading *group, uint64_t backend)
{
	uint64_t inner;

	if (is_class(group->reading, backend, "19ProcessGroupWrapper")) {
		if (read_cxx(group->reading, backend, group->reading->layout->wrapper_backend,
			     &inner, sizeof(inner)))
			return false;
		backend = inner;
	}
	if (is_class(group->reading, backend, "16ProcessGroupGlooE"))
		read_gloo(group, backend);
	else if (is_class(group->reading, backend, "16ProcessGroupNCCLE"))
		read_nccl(group, backend);
	else
		return false;
	return true;
}

/*
 * Reads the backends of the group: std::unordered_map<BackendType, c10::intrusive_ptr<Backend>>,
 * whose nodes are {next, key, pointer}. A group with several backends, one for each kind of device,
 * counts the collectives of the first that is known, NCCL before gloo.
 */
static void read_backends(struct group_reading *group)
{
	uint64_t map = group->object + (uint64_t)group->reading->layout->group_backends;
	uint64_t node, words[3], gloo = 0;

	/* The map begins with {buckets, bucket count, first node}. */
	if (pyreader_pointer(&group->reading->reader, map + 16, &node))
		return;
	for (int i = 0; node && i < BACKENDS_MAXIMUM; i++) {
		if (pyreader_read(&group->reading->reader, node, words, sizeof(words)))
			return;
		if (is_class(group->reading, words[2], "16ProcessGroupGlooE"))
			gloo = words[2];
		else if (read_backend(group, words[2]))
			return;
		node = words[0];
	}
	if (gloo)
		read_backend(group, gloo);
}

static void read_object(struct group_reading *group)
{
	const struct c10d_layout *layout = group->reading->layout;
	int numbers[2];

	if (!layout ||
	    pyreader_pointer(&group->reading->reader, group->key + PYREADER_HEAD, &group->object) ||
	    !is_class(group->reading, group->object, "12ProcessGroupE"))
		return;
	if (layout->group_size == layout->group_rank + 4 &&
	    read_cxx(group->reading, group->object, layout->group_rank, numbers, sizeof(numbers)) ==
		    0 &&
	    numbers[0] >= 0 && numbers[0] < numbers[1]) {
		group->out->rank = numbers[0];
		group->out->size = numbers[1];
	}
	read_description(group);
	read_backends(group);
}

/*
 * All groups
 */

static void note_id(struct c10d_reading *reading, int64_t id)
{
	size_t count = reading->out->group_count - 1;

	ARRAY_GROW(reading->group_ids, count, reading->group_id_capacity);
	reading->group_ids[count] = id;
}

static bool add_group(uint64_t key, uint64_t value, void *data)
{
	struct c10d_reading *reading = data;
	struct group_reading group = {
		.reading = reading,
		.out = collectives_add_group(reading->out),
		.key = key,
		.id = -1,
	};

	group.out->name = read_text(&reading->reader, value);
	if (!group.out->name)
		group.out->name = xstrdup("?");
	read_members(&group);
	read_object(&group);
	if (group.out->size == 0)
		group.out->size = (int)group.out->rank_count;
	note_id(reading, group.id);
	return true;
}

static int find_default(struct pyreader *reader, uint64_t interpreter, uint64_t *key)
{
	uint64_t world;

	if (pymodule_find(reader, interpreter, MODULE, "_world", &world) < 0)
		return -1;
	return pyobject_attribute(reader, world, "_default_pg", key);
}

static void mark_default(struct c10d_reading *reading, const uint64_t *keys)
{
	uint64_t key;

	if (find_default(&reading->reader, reading->interpreter, &key) < 0)
		return;
	for (size_t i = 0; i < reading->out->group_count; i++)
		reading->out->groups[i].is_default = keys[i] == key;
}

struct key_list {
	uint64_t *items;
	size_t count;
	size_t capacity;
	struct c10d_reading *reading;
};

static bool take_group(uint64_t key, uint64_t value, void *data)
{
	struct key_list *keys = data;

	ARRAY_GROW(keys->items, keys->count, keys->capacity);
	keys->items[keys->count++] = key;
	return add_group(key, value, keys->reading);
}

static int find_names(struct c10d_reading *reading, uint64_t *names)
{
	return pymodule_find(&reading->reader, reading->interpreter, MODULE, "_pg_names", names);
}

bool process_groups_are_imported(struct c10d_reading *reading)
{
	uint64_t names;

	return find_names(reading, &names) == 0;
}

void process_groups_read(struct c10d_reading *reading)
{
	struct key_list keys = { .reading = reading };
	uint64_t names;

	if (find_names(reading, &names) == 0)
		pydict_each(&reading->reader, names, 0, COLLECTIVE_GROUPS_MAXIMUM, take_group,
			    &keys);
	mark_default(reading, keys.items);
	free(keys.items);
}

/*
 * The default group alone
 */

/* Offset of rank_ in a c10d::ProcessGroup, followed by size_: in all rows of c10d-layout.inc, and
 * in torch 2.0 to 2.5. */
#define RANK_AT 24

int c10d_default_group(struct pyreader *reader, uint64_t interpreter, int *rank, int *size)
{
	uint64_t key, object, ranks;
	const char *name;
	int numbers[2];

	if (find_default(reader, interpreter, &key) < 0 ||
	    pyreader_pointer(reader, key + PYREADER_HEAD, &object) < 0)
		return -1;
	name = pycxx_class(reader, object);
	if (!name || !strstr(name, "12ProcessGroupE") ||
	    pyreader_read(reader, object + RANK_AT, numbers, sizeof(numbers)) < 0)
		return -1;
	ranks = look_up(reader, interpreter, "_pg_group_ranks", key);
	if (!ranks || numbers[0] < 0 || numbers[0] >= numbers[1] ||
	    pydict_each(reader, ranks, 0, 0, NULL, NULL) != numbers[1])
		return -1;
	*rank = numbers[0];
	*size = numbers[1];
	return 0;
}
