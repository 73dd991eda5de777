#include "backends/native/dwarf-expression.h"

#include <dwarf.h>

#include "banned.h"

#include "backends/native/registers.h"
#include "base/array.h"

#define DEPTH 32
#define OPERATIONS_MAXIMUM 256

struct machine {
	uint64_t stack[DEPTH];
	size_t depth;
};

static int dwarf_expression_push(struct machine *machine, uint64_t value)
{
	if (machine->depth == DEPTH)
		return -1;
	machine->stack[machine->depth++] = value;
	return 0;
}

/* Returns the word `below` places under the top of the stack; NULL: the stack is too short. */
static uint64_t *dwarf_expression_peek(struct machine *machine, size_t below)
{
	if (below >= machine->depth)
		return NULL;
	return &machine->stack[machine->depth - 1 - below];
}

static enum unwind_result push_register(struct machine *machine,
					const struct dwarf_expression *expression, uint64_t number,
					uint64_t offset)
{
	if (number >= REGISTERS_COUNT)
		return UNWIND_NO_RULES;
	if (!registers_has(expression->registers, (int)number))
		return UNWIND_REGISTERS;
	return dwarf_expression_push(machine, expression->registers->values[number] + offset) < 0
		       ? UNWIND_NO_RULES
		       : UNWIND_CALLER;
}

static enum unwind_result dereference(struct machine *machine,
				      const struct dwarf_expression *expression)
{
	uint64_t *top = dwarf_expression_peek(machine, 0);

	if (!top)
		return UNWIND_NO_RULES;
	return expression->memory->read(expression->memory->data, *top, top) < 0 ? UNWIND_UNREADABLE
										 : UNWIND_CALLER;
}

static uint64_t shift_right(uint64_t a, uint64_t b)
{
	return b < 64 ? a >> b : 0;
}

/* Computes a operation b; a was pushed before b. -1: the atom is not an operation on two words. */
static int combine(uint8_t atom, uint64_t a, uint64_t b, uint64_t *out)
{
	switch (atom) {
	case DW_OP_plus:
		*out = a + b;
		return 0;
	case DW_OP_minus:
		*out = a - b;
		return 0;
	case DW_OP_and:
		*out = a & b;
		return 0;
	case DW_OP_or:
		*out = a | b;
		return 0;
	case DW_OP_xor:
		*out = a ^ b;
		return 0;
	case DW_OP_mul:
		*out = a * b;
		return 0;
	case DW_OP_shl:
		*out = b < 64 ? a << b : 0;
		return 0;
	case DW_OP_shr:
		*out = shift_right(a, b);
		return 0;
	case DW_OP_eq:
		*out = a == b;
		return 0;
	case DW_OP_ne:
		*out = a != b;
		return 0;
	case DW_OP_ge:
		*out = (int64_t)a >= (int64_t)b;
		return 0;
	case DW_OP_gt:
		*out = (int64_t)a > (int64_t)b;
		return 0;
	case DW_OP_le:
		*out = (int64_t)a <= (int64_t)b;
		return 0;
	case DW_OP_lt:
		*out = (int64_t)a < (int64_t)b;
		return 0;
	}
	return -1;
}

static enum unwind_result run_binary(struct machine *machine, uint8_t atom)
{
	uint64_t *b = dwarf_expression_peek(machine, 0);
	uint64_t *a = dwarf_expression_peek(machine, 1);

	if (!a || combine(atom, *a, *b, a) < 0)
		return UNWIND_NO_RULES;
	machine->depth--;
	return UNWIND_CALLER;
}

static enum unwind_result run_constant(struct machine *machine, const Dwarf_Op *op)
{
	if (op->atom >= DW_OP_lit0 && op->atom <= DW_OP_lit31)
		return dwarf_expression_push(machine, op->atom - DW_OP_lit0) < 0 ? UNWIND_NO_RULES
										 : UNWIND_CALLER;
	return dwarf_expression_push(machine, op->number) < 0 ? UNWIND_NO_RULES : UNWIND_CALLER;
}

static enum unwind_result run_other(struct machine *machine,
				    const struct dwarf_expression *expression, const Dwarf_Op *op)
{
	uint64_t *top = dwarf_expression_peek(machine, 0);

	switch (op->atom) {
	case DW_OP_addr:
		return dwarf_expression_push(machine, op->number + expression->bias) < 0
			       ? UNWIND_NO_RULES
			       : UNWIND_CALLER;
	case DW_OP_call_frame_cfa:
		return dwarf_expression_push(machine, expression->cfa) < 0 ? UNWIND_NO_RULES
									   : UNWIND_CALLER;
	case DW_OP_deref:
		return dereference(machine, expression);
	case DW_OP_plus_uconst:
		if (!top)
			return UNWIND_NO_RULES;
		*top += op->number;
		return UNWIND_CALLER;
	case DW_OP_dup:
		return !top || dwarf_expression_push(machine, *top) < 0 ? UNWIND_NO_RULES
									: UNWIND_CALLER;
	case DW_OP_drop:
		if (!top)
			return UNWIND_NO_RULES;
		machine->depth--;
		return UNWIND_CALLER;
	case DW_OP_const1u:
	case DW_OP_const1s:
	case DW_OP_const2u:
	case DW_OP_const2s:
	case DW_OP_const4u:
	case DW_OP_const4s:
	case DW_OP_const8u:
	case DW_OP_const8s:
	case DW_OP_constu:
	case DW_OP_consts:
		return run_constant(machine, op);
	case DW_OP_nop:
		return UNWIND_CALLER;
	}
	return run_binary(machine, op->atom);
}

static enum unwind_result run_one(struct machine *machine,
				  const struct dwarf_expression *expression, const Dwarf_Op *op)
{
	if (op->atom >= DW_OP_breg0 && op->atom <= DW_OP_breg31)
		return push_register(machine, expression, op->atom - DW_OP_breg0, op->number);
	if (op->atom == DW_OP_bregx)
		return push_register(machine, expression, op->number, op->number2);
	if (op->atom >= DW_OP_reg0 && op->atom <= DW_OP_reg31)
		return push_register(machine, expression, op->atom - DW_OP_reg0, 0);
	if (op->atom == DW_OP_regx)
		return push_register(machine, expression, op->number, 0);
	if (op->atom >= DW_OP_lit0 && op->atom <= DW_OP_lit31)
		return run_constant(machine, op);
	return run_other(machine, expression, op);
}

/* True if the value is in a register or was computed, not in memory. */
static bool ends_in_value(const Dwarf_Op *last)
{
	return last->atom == DW_OP_stack_value || last->atom == DW_OP_regx ||
	       (last->atom >= DW_OP_reg0 && last->atom <= DW_OP_reg31);
}

enum unwind_result dwarf_expression_run(const struct dwarf_expression *expression,
					const Dwarf_Op *ops, size_t count, uint64_t *result,
					bool *is_value)
{
	struct machine machine = { .depth = 0 };
	const uint64_t *top;

	if (count == 0 || count > OPERATIONS_MAXIMUM)
		return UNWIND_NO_RULES;
	*is_value = ends_in_value(&ops[count - 1]);
	for (size_t i = 0; i < count; i++) {
		enum unwind_result done;
		if (ops[i].atom == DW_OP_stack_value)
			continue;
		done = run_one(&machine, expression, &ops[i]);
		if (done != UNWIND_CALLER)
			return done;
	}
	top = dwarf_expression_peek(&machine, 0);
	if (!top)
		return UNWIND_NO_RULES;
	*result = *top;
	return UNWIND_CALLER;
}
