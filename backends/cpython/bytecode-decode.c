/* Decodes the bytes of a code object to units. See bytecode.h. */
#include "backends/cpython/bytecode.h"

#include <limits.h>

#include "banned.h"

#include "backends/cpython/bytecode-private.h"
#include "backends/cpython/line-table.h"
#include "backends/cpython/opcodes.h"
#include "base/alloc.h"

#define UNKNOWN (-2) /* unit that find_blocks() has not reached */
#define NO_BLOCK (-1)
/* Maximum number of edges from all END_FINALLY of a code object (3.8); real code has far fewer. */
#define RETURNS_MAXIMUM (1 << 22)

/* The state of decoding. */
struct decoding {
	struct bytecode *code;
	struct unit *units;
	int count;
	const struct bytecode_source *source;
	const struct opcode *opcodes;
	int *handlers;	     /* up to 3.10: handler of the SETUP_… at each unit; else -1 */
	uint32_t *arguments; /* of the instruction that begins at each unit */
	int *depths;	     /* from 3.11 on: depth of the value stack at each handler; else -1 */
};

static int opcode_at(const struct decoding *decoding, int unit)
{
	return decoding->source->code[2 * unit];
}

static int kind_at(const struct decoding *decoding, int unit)
{
	return decoding->opcodes[opcode_at(decoding, unit)].kind;
}

static bool bytecode_decode_is_instruction(const struct decoding *decoding, int unit)
{
	return unit >= 0 && unit < decoding->count && decoding->units[unit].kind != UNIT_INSIDE;
}

/*
 * Returns the unit to which the argument jumps; -1: the opcode is no jump; INT32_MAX: a target
 * outside the code.
 */
static int64_t find_target(const struct decoding *decoding, const struct opcode *opcode, int next,
			   uint32_t argument)
{
	int64_t distance = argument;

	/* Before 3.10 the argument counts bytes. */
	if (decoding->source->minor < 10)
		distance = argument % 2 ? INT32_MAX : argument / 2;
	switch ((enum opcode_jump)opcode->jump) {
	case OPCODE_JUMPS_NONE:
		break;
	case OPCODE_JUMPS_FORWARD:
	case OPCODE_JUMPS_HANDLER:
		return next + distance;
	case OPCODE_JUMPS_BACKWARD:
		return next - distance < 0 ? INT32_MAX : next - distance;
	case OPCODE_JUMPS_ABSOLUTE:
		return distance;
	}
	return -1;
}

/*
 * Decodes the instruction that begins at unit `at`; returns the unit of the next instruction; -1:
 * malformed code.
 */
static int decode_instruction(struct decoding *decoding, int at)
{
	struct unit *unit = &decoding->units[at];
	uint32_t argument = 0;
	int last = at;

	while (kind_at(decoding, last) == UNIT_EXTENDED_ARG) {
		argument = (argument | decoding->source->code[2 * last + 1]) << 8;
		if (++last == decoding->count)
			return -1;
	}
	argument |= decoding->source->code[2 * last + 1];
	const struct opcode *opcode = &decoding->opcodes[opcode_at(decoding, last)];
	int next = last + 1 + opcode->caches;
	int64_t target = find_target(decoding, opcode, next, argument);
	if (!opcode->base || next > decoding->count || next - at > UINT8_MAX ||
	    target >= decoding->count)
		return -1;
	decoding->arguments[at] = argument;
	unit->opcode = opcode->base;
	unit->kind = opcode->kind;
	if (unit->kind == UNIT_RETURN_CONST) {
		unit->kind = UNIT_RETURN;
		unit->constant = argument < INT_MAX ? (int)argument : -1;
	}
	unit->length = (uint8_t)(next - at);
	if (opcode->jump == OPCODE_JUMPS_HANDLER)
		decoding->handlers[at] = (int)target;
	else
		unit->target = (int)target;
	if (opcode->form == OPCODE_COMPILED)
		decoding->code->has_executors = true;
	return next;
}

static int decode_instructions(struct decoding *decoding)
{
	for (int i = 0; i < decoding->count; i++) {
		decoding->units[i].line = -1;
		decoding->units[i].target = -1;
		decoding->units[i].handler = -1;
		decoding->units[i].constant = -1;
		decoding->handlers[i] = -1;
		decoding->depths[i] = -1;
	}
	for (int i = 0; i < decoding->count;) {
		i = decode_instruction(decoding, i);
		if (i < 0)
			return -1;
	}
	for (int i = 0; i < decoding->count; i++) {
		int target = decoding->units[i].target;
		int handler = decoding->handlers[i];
		if ((target >= 0 && !bytecode_decode_is_instruction(decoding, target)) ||
		    (handler >= 0 && !bytecode_decode_is_instruction(decoding, handler)))
			return -1;
	}
	return 0;
}

static void decode_lines(struct decoding *decoding)
{
	const struct bytecode_source *source = decoding->source;
	const struct line_table table = {
		.bytes = source->lines,
		.length = source->lines_length,
		.first_lineno = decoding->code->first_line,
	};
	struct line_table_walk walk;
	struct line_table_entry entry;
	uint64_t count = (uint64_t)decoding->count;

	line_table_begin(&walk, &table, source->minor);
	while (line_table_next(&walk, &entry)) {
		uint64_t end = entry.end / 2 < count ? entry.end / 2 : count;
		for (uint64_t i = entry.start / 2; i < end; i++) {
			decoding->units[i].line = entry.line;
			decoding->units[i].begins = (int)(entry.start / 2);
		}
		if (source->minor < 10 && entry.start / 2 < count)
			decoding->units[entry.start / 2].is_start = true;
	}
}

/*
 * Reads the next number of the exception table; -1: the table ends within the number, or the number
 * is too large.
 */
static int bytecode_decode_take_number(const struct bytecode_source *source, size_t *at)
{
	int value = 0;

	for (int i = 0; i < 4 && *at < source->handlers_length; i++) {
		uint8_t byte = source->handlers[(*at)++];
		value = value << 6 | (byte & 0x3f);
		if (!(byte & 0x40))
			return value;
	}
	return -1;
}

/*
 * Sets the handler of each unit from the exception table. -1: malformed; entries must be in the
 * order of the code and must not overlap.
 */
static int decode_handlers(struct decoding *decoding)
{
	const struct bytecode_source *source = decoding->source;
	int last = 0;

	for (size_t at = 0; at < source->handlers_length;) {
		int start = bytecode_decode_take_number(source, &at);
		int length = bytecode_decode_take_number(source, &at);
		int handler = bytecode_decode_take_number(source, &at);
		int depth = bytecode_decode_take_number(source, &at);
		if (start < last || length < 0 || depth < 0 || start + length > decoding->count ||
		    !bytecode_decode_is_instruction(decoding, handler))
			return -1;
		decoding->units[handler].is_handler = true;
		/* Bit 0: the instruction's position is pushed, too, below the exception. */
		decoding->depths[handler] = (depth >> 1) + (depth & 1) + 1;
		last = start + length;
		for (int i = start; i < last; i++)
			decoding->units[i].handler = handler;
	}
	return 0;
}

/*
 * Up to 3.10 there is no exception table: SETUP_… pushes a block, POP_BLOCK removes the innermost
 * block, and an exception jumps to the innermost block's handler, where that block is removed. The
 * compiler gives each unit a fixed innermost block, so following all paths finds this block.
 * (Blocks of exceptions that are being handled have no handler and are left out.)
 */
struct blocks {
	const struct decoding *decoding;
	int *innermost; /* for each unit: unit of the innermost SETUP_…, NO_BLOCK or UNKNOWN */
	int *waiting;	/* units whose successors are still to be followed */
	int waiting_count;
};

static void reach(struct blocks *blocks, int unit, int block)
{
	if (unit >= blocks->decoding->count || blocks->innermost[unit] != UNKNOWN)
		return;
	blocks->innermost[unit] = block;
	blocks->waiting[blocks->waiting_count++] = unit;
}

static void follow_blocks(struct blocks *blocks, int from)
{
	const struct decoding *decoding = blocks->decoding;
	const struct unit *unit = &decoding->units[from];
	struct bytecode_edges edges;
	int block = blocks->innermost[from];
	int handler = decoding->handlers[from];

	if (unit->kind == UNIT_POP_BLOCK && block >= 0)
		block = blocks->innermost[block];
	if (handler >= 0) {
		reach(blocks, handler, block);
		block = from;
	}
	bytecode_edges(decoding->code, decoding->source->minor, from, &edges);
	for (int i = 0; i < edges.count; i++)
		reach(blocks, edges.items[i], block);
	if (unit->kind == UNIT_CALL_FINALLY)
		reach(blocks, from + unit->length, block);
}

static void find_blocks(struct decoding *decoding)
{
	size_t count = (size_t)decoding->count;
	struct blocks blocks = {
		.decoding = decoding,
		.innermost = xcalloc(count, sizeof(int)),
		.waiting = xcalloc(count, sizeof(int)),
	};

	for (size_t i = 0; i < count; i++)
		blocks.innermost[i] = UNKNOWN;
	reach(&blocks, 0, NO_BLOCK);
	while (blocks.waiting_count)
		follow_blocks(&blocks, blocks.waiting[--blocks.waiting_count]);
	for (size_t i = 0; i < count; i++) {
		int block = blocks.innermost[i];
		if (decoding->handlers[i] >= 0)
			decoding->units[decoding->handlers[i]].is_handler = true;
		if (block >= 0)
			decoding->units[i].handler = decoding->handlers[block];
	}
	free(blocks.waiting);
	free(blocks.innermost);
}

/*
 * False for the instructions that Python/instrumentation.c never marks, even if a jump leads to
 * them.
 */
static bool can_be_marked(const struct decoding *decoding, int at)
{
	int minor = decoding->source->minor;

	/* For an instruction that begins with EXTENDED_ARG, the kind is UNIT_EXTENDED_ARG: true. */
	switch (kind_at(decoding, at)) {
	case UNIT_RESUME:
		return false;
	case UNIT_END:
		return false;
	case UNIT_END_ASYNC_FOR:
		return minor < 14;
	default:
		return true;
	}
}

static void bytecode_decode_mark(struct decoding *decoding, int at)
{
	if (bytecode_decode_is_instruction(decoding, at) && decoding->units[at].line >= 0)
		decoding->units[at].is_start = true;
}

static void mark_new_lines(struct decoding *decoding)
{
	int line = -1;

	for (int i = decoding->code->first_traced; i < decoding->count;
	     i += decoding->units[i].length) {
		if (!can_be_marked(decoding, i))
			continue;
		if (decoding->units[i].line != line)
			bytecode_decode_mark(decoding, i);
		line = decoding->units[i].line;
	}
}

/* Marks the units at which instrumentation places a `line` event (3.12 on). */
static void mark_starts(struct decoding *decoding)
{
	mark_new_lines(decoding);
	for (int i = decoding->code->first_traced; i < decoding->count; i++) {
		const struct unit *unit = &decoding->units[i];
		int target = unit->target;
		if (unit->is_handler && can_be_marked(decoding, i))
			bytecode_decode_mark(decoding, i);
		if (target < 0)
			continue;
		/* FOR_ITER and SEND skip the END_FOR or END_SEND at their target. */
		if (unit->kind == UNIT_FOR_ITER || unit->kind == UNIT_SEND)
			target++;
		bytecode_decode_mark(decoding, target);
	}
}

/*
 * 3.8: finds the units at which an END_FINALLY can continue: those behind each CALL_FINALLY. -1:
 * too many edges.
 */
static int find_returns(struct decoding *decoding)
{
	struct bytecode *code = decoding->code;
	size_t ends = 0;

	code->returns = xcalloc((size_t)decoding->count, sizeof(int));
	for (int i = 0; i < decoding->count; i++) {
		const struct unit *unit = &decoding->units[i];
		ends += unit->kind == UNIT_RERAISE;
		if (unit->kind == UNIT_CALL_FINALLY &&
		    bytecode_decode_is_instruction(decoding, i + unit->length))
			code->returns[code->return_count++] = i + unit->length;
	}
	return ends * (size_t)code->return_count > RETURNS_MAXIMUM ? -1 : 0;
}

static int find_first_traced(const struct decoding *decoding)
{
	if (decoding->source->minor < 11)
		return 0;
	for (int i = 0; i < decoding->count; i += decoding->units[i].length)
		if (decoding->units[i].kind == UNIT_RESUME)
			return i;
	return decoding->count;
}

static int decode_all(struct decoding *decoding)
{
	if (decode_instructions(decoding) < 0)
		return -1;
	decode_lines(decoding);
	if (decoding->source->minor == 8 && find_returns(decoding) < 0)
		return -1;
	if (decoding->source->minor < 11)
		find_blocks(decoding);
	else if (decode_handlers(decoding) < 0)
		return -1;
	decoding->code->first_traced = find_first_traced(decoding);
	if (decoding->source->minor >= 12)
		mark_starts(decoding);
	return 0;
}

int bytecode_decode(struct bytecode *code, const struct bytecode_source *source)
{
	struct decoding decoding = {
		.code = code,
		.units = xcalloc((size_t)source->count, sizeof(struct unit)),
		.count = source->count,
		.source = source,
		.opcodes = opcodes_find(source->minor),
		.handlers = xcalloc((size_t)source->count, sizeof(int)),
		.arguments = xcalloc((size_t)source->count, sizeof(uint32_t)),
		.depths = xcalloc((size_t)source->count, sizeof(int)),
	};
	const struct bytecode_operands operands = {
		.minor = source->minor,
		.opcodes = decoding.opcodes,
		.arguments = decoding.arguments,
		.handlers = decoding.handlers,
		.depths = decoding.depths,
	};

	code->units = decoding.units;
	code->count = decoding.count;
	int result = decode_all(&decoding);
	if (result == 0)
		bytecode_find_calls(code, &operands);
	free(decoding.depths);
	free(decoding.arguments);
	free(decoding.handlers);
	return result;
}
