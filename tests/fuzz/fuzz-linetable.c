/* A table of lines, of the version that the first byte names. */
#include <stdlib.h>
#include <string.h>

#include "banned.h"

#include "backends/cpython/line-table.h"
#include "backends/cpython/offsets.h"
#include "base/alloc.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint64_t offsets[] = { 0, 2, 100, 5000, UINT64_MAX };
	struct line_table table = { .first_lineno = 1 };
	uint8_t *copy;

	if (size == 0)
		return 0;
	/* A block of its own, so that reading behind its end is seen. */
	copy = xmalloc(size);
	memcpy(copy, data, size);
	table.bytes = copy + 1;
	table.length = size - 1;
	for (size_t i = 0; i < sizeof(offsets) / sizeof(offsets[0]); i++)
		line_table_find(&table, OFFSETS_MINOR_FIRST + copy[0] % 7, offsets[i]);
	free(copy);
	return 0;
}
