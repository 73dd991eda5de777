#include "backends/c10d/c10d.h"

#include <stdlib.h>

#include "backends/c10d/c10d-layout.h"
#include "backends/c10d/c10d-private.h"
#include "backends/cpython/cpython.h"
#include "backends/cpython/pycode.h"
#include "backends/linux/memory.h"
#include "banned.h"
#include "base/alloc.h"
#include "base/buffer.h"
#include "base/error.h"
#include "protocol/collectives.h"
#include "protocol/stack.h"

#define VERSION_MAXIMUM 64
#define MISSING_MAXIMUM 4096
#define OLDER_ENTRIES 1024   /* searched for open calls where the newest do not have them all */
#define STACKS_MAXIMUM 10000 /* of one process, before its table is made anew */

struct c10d {
	struct memory *memory;
	const struct cpython *python;
	struct loaded_elf_cache *cache;
	char *version;			  /* of torch; NULL: not imported yet */
	const struct c10d_layout *layout; /* NULL: of no known version */
	struct c10d_libraries libraries;
	bool has_libraries; /* torch was imported as a whole: they are not read again */
	struct stack_table *stacks;
	struct pycode_cache *codes;
};

static void make_caches(struct c10d *c10d)
{
	c10d->stacks = stack_table_new();
	c10d->codes = pycode_cache_new(c10d->memory, c10d->python, c10d->stacks);
}

static void free_caches(struct c10d *c10d)
{
	pycode_cache_free(c10d->codes);
	stack_table_free(c10d->stacks);
}

struct c10d *c10d_new(pid_t pid, const struct cpython *python, struct loaded_elf_cache *cache)
{
	struct c10d *c10d = xcalloc(1, sizeof(*c10d));

	c10d->memory = memory_new(pid);
	c10d->python = python;
	c10d->cache = cache;
	make_caches(c10d);
	return c10d;
}

void c10d_free(struct c10d *c10d)
{
	if (!c10d)
		return;
	free_caches(c10d);
	memory_free(c10d->memory);
	free(c10d->version);
	free(c10d);
}

uint64_t c10d_calls(const struct c10d *c10d)
{
	return memory_calls(c10d->memory);
}

/* Empties the table of stacks before it grows without end. */
static void limit_stacks(struct c10d *c10d)
{
	if (!stack_table_is_full(c10d->stacks, STACKS_MAXIMUM))
		return;
	free_caches(c10d);
	make_caches(c10d);
}

/*
 * Finds torch's version, layout and libraries. Returns -1 if the process has not begun to import
 * torch; the libraries are loaded later than the version is there, and before torch.distributed.
 */
static int find_torch(struct c10d *c10d, struct c10d_reading *reading)
{
	struct buffer text = BUFFER_INIT;
	uint64_t value;

	memory_begin(c10d->memory, false);
	free(c10d->version);
	c10d->version = NULL;
	if (pymodule_find(&reading->reader, reading->interpreter, "torch.version", "__version__",
			  &value) == 0 &&
	    pyobject_string(&reading->reader, value, VERSION_MAXIMUM, &text) == 0)
		c10d->version = xstrdup(text.data);
	buffer_clear(&text);
	if (!c10d->version)
		return -1;
	c10d->has_libraries = process_groups_are_imported(reading);
	c10d_libraries_find(&c10d->libraries, c10d->memory, c10d->cache);
	c10d->layout = c10d_layout_find(torch_version_parse(c10d->version),
					c10d->libraries.has_old_strings);
	return 0;
}

static void say_unknown(struct c10d_reading *reading)
{
	struct buffer known = BUFFER_INIT;

	c10d_layout_append_versions(&known);
	c10d_miss(reading, "the layout of torch %s is unknown (known: %s)", reading->out->version,
		  known.data);
	buffer_clear(&known);
}

/* Says why there are no entries, and what helps. */
static void say_off(struct c10d_reading *reading)
{
	const struct c10d_libraries *libraries = reading->libraries;

	if (libraries->gloo.recorder == 0 && libraries->nccl.recorder == 0)
		c10d_miss(reading, "torch %s records no calls on gloo", reading->out->version);
	else
		c10d_miss(reading,
			  "the Flight Recorder is off, or torch %s records no calls on gloo: start "
			  "the job with TORCH_FR_BUFFER_SIZE=2000 and "
			  "TORCH_NCCL_TRACE_BUFFER_SIZE=2000",
			  reading->out->version);
}

/* Fetches the ring of one library's Flight Recorder. Returns false if there is nothing to read. */
static bool fetch_ring(struct ring_copy *ring, struct c10d_reading *reading, uint64_t pointer,
		       size_t count)
{
	int result;

	*ring = (struct ring_copy){ .pointer = 0 };
	if (!reading->layout || pointer == 0)
		return false;
	result = ring_fetch(ring, reading, pointer, count);
	if (result < 0)
		c10d_miss(reading, "the Flight Recorder is not as torch %s has it",
			  reading->out->version);
	return result == 0;
}

static int compare_created(const void *left, const void *right)
{
	const struct collective_entry *a = left;
	const struct collective_entry *b = right;

	if (a->created != b->created)
		return a->created < b->created ? -1 : 1;
	return a->id < b->id ? -1 : a->id > b->id;
}

/* Entries of two rings, oldest first. */
static void sort_by_time(struct collectives *out)
{
	if (out->entry_count > 1)
		qsort(out->entries, out->entry_count, sizeof(*out->entries), compare_created);
}

static void read_rings(struct c10d_reading *reading, struct memory *memory, size_t count)
{
	struct ring_copy gloo, nccl;
	bool has_gloo, has_nccl;

	if (!reading->layout)
		say_unknown(reading);
	has_gloo = fetch_ring(&gloo, reading, reading->libraries->gloo.recorder, count);
	has_nccl = fetch_ring(&nccl, reading, reading->libraries->nccl.recorder, count);

	memory_begin(memory, true);
	process_groups_read(reading);
	reading->backend = "gloo";
	if (has_gloo)
		ring_read(&gloo, reading);
	reading->backend = "nccl";
	if (has_nccl)
		ring_read(&nccl, reading);
	if (has_gloo && has_nccl)
		sort_by_time(reading->out);
	ring_clear(&gloo);
	ring_clear(&nccl);
	if (!has_gloo && !has_nccl && reading->missing.length == 0 && reading->out->group_count > 0)
		say_off(reading);
}

/* Reads the last `count` entries, of those before the `newest` only open calls. */
static void read_collectives(struct c10d *c10d, uint64_t interpreter, size_t count, size_t newest,
			     struct collectives *collectives)
{
	struct c10d_reading reading = {
		.interpreter = interpreter,
		.libraries = &c10d->libraries,
		.out = collectives,
		.newest = newest,
	};

	collectives_clear(collectives);
	collectives->stacks = stack_table_new();
	limit_stacks(c10d);
	reading.codes = c10d->codes;
	reading.stacks = c10d->stacks;
	pyreader_init(&reading.reader, c10d->memory, c10d->python);
	if (c10d->has_libraries || find_torch(c10d, &reading) == 0) {
		collectives->version = xstrdup(c10d->version);
		reading.layout = c10d->layout;
		buffer_init(&reading.missing, MISSING_MAXIMUM);
		read_rings(&reading, c10d->memory, count);
	}
	if (reading.missing.length > 0)
		collectives->missing = xstrdup(reading.missing.data);
	buffer_clear(&reading.missing);
	free(reading.group_ids);
}

/* True if more calls are open than the entries show. */
static bool has_older_open(const struct collectives *collectives)
{
	for (size_t i = 0; collectives->entry_count > 0 && i < collectives->group_count; i++) {
		const struct process_group *group = &collectives->groups[i];
		int64_t open = 0;

		for (size_t j = 0; j < collectives->entry_count; j++)
			open += collectives->entries[j].group == (int)i &&
				!collectives->entries[j].is_retired;
		if (group->unfinished > open ||
		    (group->unfinished < 0 && open == 0 && group->completed >= 0 &&
		     group->enqueued > group->completed))
			return true;
	}
	return false;
}

int c10d_read(struct c10d *c10d, uint64_t interpreter, size_t count,
	      struct collectives *collectives, struct error *error)
{
	int number;

	memory_take_failure(c10d->memory);
	read_collectives(c10d, interpreter, count, count, collectives);
	if (count < OLDER_ENTRIES && has_older_open(collectives))
		read_collectives(c10d, interpreter, OLDER_ENTRIES, count, collectives);
	number = memory_take_failure(c10d->memory);
	if (number && !collectives->version)
		return error_set_errno(error, number, "the memory cannot be read");
	return 0;
}
