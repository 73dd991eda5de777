#include "backends/ptrace/offsets.h"

#include "banned.h"

#include "backends/ptrace/cpython.h"
#include "backends/ptrace/memory.h"
#include "base/array.h"

#define FIELDS (sizeof(struct offsets) / sizeof(long))
#define STRUCT_MAXIMUM 1024	   /* bytes of _Py_DebugOffsets we look at */
#define OFFSET_MAXIMUM (16u << 20) /* none of its offsets is larger */

static const struct offsets tables[] = {
#include "offsets.inc"
};

/* Where in _Py_DebugOffsets each one stands; 0, the cookie's: nowhere. */
static const struct offsets positions[] = {
#include "positions.inc"
};

static const struct offsets *find(const struct offsets *rows, size_t count,
				  int minor)
{
	for (size_t i = 0; i < count; i++)
		if ((rows[i].version >> 16 & 0xff) == minor)
			return &rows[i];
	return NULL;
}

const struct offsets *offsets_find(int minor)
{
	return find(tables, ARRAY_LENGTH(tables), minor);
}

int offsets_override(struct offsets *offsets, int minor, struct memory *memory,
		     uint64_t runtime)
{
	static const char cookie[] = "xdebugpy";
	uint8_t bytes[STRUCT_MAXIMUM];
	struct offsets merged = *offsets;
	const struct offsets *row =
		find(positions, ARRAY_LENGTH(positions), minor);

	if (!row || memory_read(memory, runtime, bytes, sizeof(bytes)) < 0 ||
	    memcmp(bytes, cookie, sizeof(cookie) - 1) != 0)
		return -1;
	/* All members are long; the first, the version, stays. */
	const long *places = (const long *)row;
	long *values = (long *)&merged;
	for (size_t i = 1; i < FIELDS; i++) {
		uint64_t value;
		if (!places[i])
			continue;
		memcpy(&value, bytes + places[i], sizeof(value));
		if (value > OFFSET_MAXIMUM)
			return -1;
		values[i] = (long)value;
	}
	*offsets = merged;
	return 0;
}
