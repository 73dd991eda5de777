/*
 * A Flight Recorder whose pointer is at the image's start, as each version of torch would have it;
 * the process groups of an interpreter there; and the input itself as machine code.
 */
#include <assert.h>
#include <stdlib.h>

#include "backends/c10d/c10d-layout.h"
#include "backends/c10d/c10d-library.h"
#include "backends/c10d/c10d-private.h"
#include "backends/cpython/cpython.h"
#include "backends/cpython/pycode.h"
#include "backends/linux/memory.h"
#include "banned.h"
#include "base/array.h"
#include "protocol/collectives.h"
#include "protocol/stack.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/image.h"

#define ENTRIES 8

/* What is told can be sent, and is taken. */
static void check(const struct collectives *told)
{
	struct collectives taken = COLLECTIVES_INIT;
	json_t *json = collectives_to_json(told, SIZE_MAX);

	for (size_t i = 0; i < told->entry_count; i++)
		assert(told->entries[i].group < (int)told->group_count);
	assert(collectives_from_json(&taken, json, NULL) == 0);
	collectives_clear(&taken);
	json_decref(json);
}

static void read_ring(struct c10d_reading *reading, struct memory *memory)
{
	struct ring_copy ring;

	if (ring_fetch(&ring, reading, IMAGE_START, ENTRIES) != 0)
		return;
	memory_begin(memory, true);
	ring_read(&ring, reading);
	ring_clear(&ring);
}

static void read_version(const struct c10d_layout *layout, const struct cpython *python,
			 struct memory *memory)
{
	static const struct c10d_libraries libraries = {
		.gloo = { IMAGE_START, 8 },
		.nccl = { IMAGE_START, -1 },
	};
	struct collectives told = COLLECTIVES_INIT;
	struct stack_table *stacks = stack_table_new();
	struct c10d_reading reading = {
		.interpreter = IMAGE_START,
		.layout = layout,
		.libraries = &libraries,
		.codes = pycode_cache_new(memory, python, stacks),
		.stacks = stacks,
		.out = &told,
		.backend = "gloo",
	};

	told.stacks = stack_table_new();
	pyreader_init(&reading.reader, memory, python);
	buffer_init(&reading.missing, 4096);
	memory_begin(memory, false);
	process_groups_read(&reading);
	read_ring(&reading, memory);
	check(&told);
	buffer_clear(&reading.missing);
	free(reading.group_ids);
	pycode_cache_free(reading.codes);
	stack_table_free(stacks);
	collectives_clear(&told);
}

static void read_code(const uint8_t *data, size_t size)
{
	uint64_t pointer;

	c10d_code_find_pointer(data, size, IMAGE_START, &pointer);
	c10d_code_find_offset(data, size);
	for (size_t i = 0; i < 4; i++)
		c10d_code_call(data, size, IMAGE_START, i);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const int versions[] = { 2006, 2008, 2009, 2013, 2014 };
	struct cpython python = { .code_type = 0 };
	struct memory *memory = image_open(&python, data, size);

	if (!memory)
		return 0;
	for (size_t i = 0; i < ARRAY_LENGTH(versions); i++) {
		read_version(c10d_layout_find(versions[i], false), &python, memory);
		read_version(c10d_layout_find(versions[i], true), &python, memory);
	}
	read_code(data, size);
	memory_free(memory);
	return 0;
}
