#include "backends/cpython/offsets.h"

#include <stdbool.h>
#include <stddef.h>

#include "banned.h"

#include "backends/cpython/cpython.h"
#include "backends/linux/memory.h"
#include "base/array.h"

#define FIELDS (sizeof(struct offsets) / sizeof(long))
#define STRUCT_MAXIMUM 1024	  /* bytes of _Py_DebugOffsets that are read */
#define OFFSET_MAXIMUM (16 << 20) /* a larger offset is implausible */

static const struct offsets tables[] = {
#include "offsets.inc"
};

/*
 * Position of each offset in _Py_DebugOffsets; 0 (the cookie's position): the struct lacks the
 * offset.
 */
static const struct offsets positions[] = {
#include "positions.inc"
};

static const struct offsets *find(const struct offsets *rows, size_t count, int minor)
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

#define AT(member) offsetof(struct offsets, member)
#define NOWHERE SIZE_MAX

/*
 * Bounds of one offset. Readers fetch an object in one call and index its bytes by these offsets,
 * so offset + size must not exceed limit, nor the offset that the member `end` holds.
 */
static const struct bound {
	size_t member;
	long least;
	long size; /* bytes that are read at the offset */
	size_t end;
	long limit;
} bounds[] = {
	{ AT(if_code), 0, 8, AT(if_localsplus), OFFSETS_FRAME_BYTES },
	{ AT(if_previous), 0, 8, AT(if_localsplus), OFFSETS_FRAME_BYTES },
	{ AT(if_instr), 0, 8, AT(if_localsplus), OFFSETS_FRAME_BYTES },
	{ AT(if_owner), 0, 1, AT(if_localsplus), OFFSETS_FRAME_BYTES },
	{ AT(co_size), 24, 0, NOWHERE, OFFSETS_CODE_BYTES },
	{ AT(co_name), 0, 8, AT(co_size), OFFSETS_CODE_BYTES },
	{ AT(co_qualname), 0, 8, AT(co_size), OFFSETS_CODE_BYTES },
	{ AT(co_filename), 0, 8, AT(co_size), OFFSETS_CODE_BYTES },
	{ AT(co_linetable), 0, 8, AT(co_size), OFFSETS_CODE_BYTES },
	{ AT(co_firstlineno), 0, 8, AT(co_size), OFFSETS_CODE_BYTES },
	{ AT(tp_name), 0, 8, AT(tp_dictoffset), OFFSET_MAXIMUM },
	/* Members behind tp_flags are found by their distance from tp_flags. */
	{ AT(tp_flags), 0, 80, AT(tp_dictoffset), OFFSET_MAXIMUM },
	{ AT(uni_state), 0, 4, AT(ascii_size), OFFSETS_STRING_BYTES },
	{ AT(ascii_size), 24, 0, AT(compact_size), OFFSETS_STRING_BYTES },
	{ AT(bytes_sval), 24, 0, NOWHERE, 64 },
};

static long offsets_value_of(const struct offsets *offsets, size_t member)
{
	long value;

	memcpy(&value, (const char *)offsets + member, sizeof(value));
	return value;
}

static bool offsets_is_within(const struct offsets *offsets, const struct bound *bound)
{
	long value = offsets_value_of(offsets, bound->member);
	long end = value + bound->size;

	return value >= bound->least && end <= bound->limit &&
	       (bound->end == NOWHERE || end <= offsets_value_of(offsets, bound->end));
}

static bool offsets_make_sense(const struct offsets *offsets)
{
	for (size_t i = 0; i < ARRAY_LENGTH(bounds); i++)
		if (!offsets_is_within(offsets, &bounds[i]))
			return false;
	return true;
}

int offsets_override(struct offsets *offsets, int minor, struct memory *memory, uint64_t runtime)
{
	static const char cookie[] = "xdebugpy";
	uint8_t bytes[STRUCT_MAXIMUM];
	struct offsets merged = *offsets;
	const struct offsets *row = find(positions, ARRAY_LENGTH(positions), minor);

	if (!row || memory_read(memory, runtime, bytes, sizeof(bytes)) < 0 ||
	    memcmp(bytes, cookie, sizeof(cookie) - 1) != 0)
		return -1;
	/* All members are long; the first, version, is not replaced. */
	const long *places = (const long *)row;
	long *values = (long *)&merged;
	for (size_t i = 1; i < FIELDS; i++) {
		uint64_t value;
		if (!places[i])
			continue;
		memcpy(&value, bytes + places[i], sizeof(value));
		if (value > (uint64_t)OFFSET_MAXIMUM)
			return -1;
		values[i] = (long)value;
	}
	if (!offsets_make_sense(&merged))
		return -1;
	*offsets = merged;
	return 0;
}
