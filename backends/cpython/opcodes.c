#include "backends/cpython/opcodes.h"

#include <assert.h>
#include <stddef.h>

#include "banned.h"

#include "backends/cpython/bytecode.h"
#include "backends/cpython/offsets.h"
#include "base/array.h"

#define OP(number, base, caches, jumps, kind, form)                                                \
	[number] = { base, caches, OPCODE_JUMPS_##jumps, UNIT_##kind, OPCODE_##form },

/* One table for each version, OFFSETS_MINOR_FIRST to OFFSETS_MINOR_LAST. */
static const struct opcode tables[][OPCODES_COUNT] = {
#include "opcodes.inc"
};

static_assert(ARRAY_LENGTH(tables) == OFFSETS_MINOR_LAST - OFFSETS_MINOR_FIRST + 1,
	      "a table of opcodes for each table of offsets");

const struct opcode *opcodes_find(int minor)
{
	if (minor < OFFSETS_MINOR_FIRST || minor > OFFSETS_MINOR_LAST)
		return NULL;
	return tables[minor - OFFSETS_MINOR_FIRST];
}
