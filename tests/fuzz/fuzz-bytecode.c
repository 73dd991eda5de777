/* A code object at the image's start: whatever its bytes and tables hold. */
#include <stdio.h>

#include "banned.h"

#include "backends/cpython/bytecode.h"
#include "backends/cpython/cpython.h"
#include "backends/linux/memory.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/image.h"

#define UNITS_MAXIMUM 8
#define LOOKED_AT 50 /* units: each is asked for several walks */

static void ask(struct bytecode_cache *cache, const struct cpython *python,
		const struct bytecode *code)
{
	int units[UNITS_MAXIMUM];
	size_t count;

	bytecode_first_line(python, code);
	for (int i = -1; i <= code->count && i < LOOKED_AT; i++) {
		int to = bytecode_instruction(code, i);
		int line = to < 0 ? 0 : code->units[to].line;
		bytecode_hides_next(cache, code, i);
		bytecode_line_units(python, code, line, units, UNITS_MAXIMUM);
		bytecode_frontier(python, code, i, line, NULL, units, UNITS_MAXIMUM, &count);
		for (int from = -1; from < 4; from++) {
			bytecode_is_line(python, code, from, i, true);
			bytecode_follows(python, code, from, i);
			bytecode_reaches(python, code, i, from);
		}
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct cpython python = { .runtime = IMAGE_START };
	struct memory *memory = image_open(&python, data, size);

	if (!memory)
		return 0;
	struct bytecode_cache *cache = bytecode_cache_new(memory, &python);
	/* The second look compares with the first. */
	for (int i = 0; i < 2; i++) {
		const struct bytecode *code = bytecode_find(cache, IMAGE_START);

		if (code)
			ask(cache, &python, code);
		bytecode_cache_age(cache);
	}
	bytecode_cache_free(cache);
	memory_free(memory);
	return 0;
}
