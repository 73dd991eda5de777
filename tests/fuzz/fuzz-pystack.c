/* An interpreter with its threads and frames, at the image's start. */
#include <stdio.h>

#include "banned.h"

#include "backends/cpython/cpython.h"
#include "backends/cpython/offsets.h"
#include "backends/cpython/pystack.h"
#include "backends/linux/memory.h"
#include "backends/tracer/freezer.h"
#include "base/error.h"
#include "protocol/sample.h"
#include "protocol/stack.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/image.h"

static void sample(struct memory *memory, const struct cpython *python)
{
	struct stack_table *table = stack_table_new();
	struct freezer *holds = freezer_new(NULL);
	struct pystack *pystack = pystack_new(memory, python, table, holds);
	struct process_sample sample = { .pid = 0 };

	/* The second one makes use of what the first has learned. */
	for (int i = 0; i < 2; i++) {
		struct error error = ERROR_INIT;

		pystack_sample(pystack, false, &sample, &error);
		process_sample_clear(&sample);
	}
	pystack_free(pystack);
	freezer_free(holds);
	stack_table_free(table);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct cpython python = { .runtime = IMAGE_START };
	struct memory *memory = image_open(&python, data, size);

	if (!memory)
		return 0;
	offsets_override(&python.offsets, python.minor, memory, python.runtime);
	sample(memory, &python);
	memory_free(memory);
	return 0;
}
