#include "backends/cpython/opcodes.h"

#include <assert.h>
#include <stddef.h>

#include "banned.h"

#include "backends/cpython/bytecode.h"
#include "backends/cpython/offsets.h"
#include "base/array.h"

#define OPCODE_ARGUMENT_MAXIMUM (1 << 24)
#define OP(number, base, caches, jumps, kind, form, effect, added, jumping, use, place)            \
	[number] = { base,                                                                         \
		     caches,                                                                       \
		     OPCODE_JUMPS_##jumps,                                                         \
		     UNIT_##kind,                                                                  \
		     OPCODE_##form,                                                                \
		     effect,                                                                       \
		     OPCODE_ADDS_##added,                                                          \
		     jumping,                                                                      \
		     OPCODE_USE_##use,                                                             \
		     place },

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

static int added_by(enum opcode_added added, int argument)
{
	switch (added) {
	case OPCODE_ADDS_NONE:
		break;
	case OPCODE_ADDS_PLUS:
		return argument;
	case OPCODE_ADDS_MINUS:
		return -argument;
	case OPCODE_ADDS_MINUS_TWICE:
		return -2 * argument;
	case OPCODE_ADDS_PLUS_BIT_0:
		return argument & 1;
	case OPCODE_ADDS_MINUS_BIT_0:
		return -(argument & 1);
	case OPCODE_ADDS_MINUS_BIT_2:
		return -(argument >> 2 & 1);
	case OPCODE_ADDS_MINUS_BITS:
		return -((argument & 1) + (argument >> 1 & 1) + (argument >> 2 & 1) +
			 (argument >> 3 & 1));
	case OPCODE_ADDS_PLUS_PARTS:
		return (argument & UINT8_MAX) + (argument >> 8);
	}
	return 0;
}

int opcode_effect(const struct opcode *opcode, uint32_t argument)
{
	/* Arguments of real code are far below the limit, which keeps the sum in an int. */
	int bounded = argument > OPCODE_ARGUMENT_MAXIMUM ? OPCODE_ARGUMENT_MAXIMUM : (int)argument;

	return opcode->effect + added_by((enum opcode_added)opcode->added, bounded);
}
