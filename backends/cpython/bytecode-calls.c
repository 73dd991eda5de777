/*
 * Finds the calls of a code object, and where the callable of each lies on the value stack. See
 * bytecode.h.
 *
 * All paths are followed from the first instruction, each unit once, with the depth of the value
 * stack and the names by which its values were loaded. A path that an exception begins comes after
 * the others: where two paths meet with different depths (only in a `finally` of 3.8), the depth of
 * the path without an exception counts.
 */
#include "backends/cpython/bytecode.h"

#include "banned.h"

#include "backends/cpython/bytecode-private.h"
#include "backends/cpython/opcodes.h"
#include "base/alloc.h"
#include "base/array.h"

/* Beyond these limits, which real code does not reach, a code object or a path has no calls. */
#define UNITS_MAXIMUM (1 << 16)
#define DEPTH_MAXIMUM 1024
#define PUSHED_MAXIMUM 256
#define UNKNOWN 0 /* index of the value of which nothing is known, with nothing known below it */

/* A value of the value stack; the values below it are shared by all paths that come from there. */
struct value {
	int below; /* index of the next lower value */
	int name;  /* index in co_names of the name that the value was loaded by; -1: none */
	/* Index of the local that the value is, or of which the value is an attribute; -1: none. */
	int local;
};

/* The value stack in front of a unit. */
struct depth {
	int top;    /* index in values */
	int count;  /* number of values; -1: the unit was not reached */
	int raised; /* 3.8: count at the handler where the path began; 0: no handler */
};

/* A path that an exception begins: nothing but the number of values is known. */
struct late_path {
	int unit;
	int count;
	int raised; /* as in struct depth */
};

struct value_flow {
	struct bytecode *code;
	const struct bytecode_operands *operands;
	struct value *values;
	size_t value_count;
	size_t value_capacity;
	struct depth *depths; /* of each unit */
	int *waiting;	      /* units to be followed; the last comes first */
	int waiting_count;
	struct late_path *late; /* the first comes first, when no unit is waiting */
	size_t late_count;
	size_t late_capacity;
};

static int push(struct value_flow *flow, int below, int name, int local)
{
	ARRAY_GROW(flow->values, flow->value_count, flow->value_capacity);
	flow->values[flow->value_count] = (struct value){ below, name, local };
	return (int)flow->value_count++;
}

/* Pops `count` values, and pushes as many with this name. */
static void rename_top(struct value_flow *flow, struct depth *depth, int count, struct value named)
{
	for (int i = 0; i < count; i++)
		depth->top = flow->values[depth->top].below;
	for (int i = 0; i < count; i++)
		depth->top = push(flow, depth->top, named.name, named.local);
}

static void forget_top(struct value_flow *flow, struct depth *depth, int count)
{
	rename_top(flow, depth, count, (struct value){ .name = -1, .local = -1 });
}

/* Changes the number of values; false: the path is not followed. */
static bool grow(struct value_flow *flow, struct depth *depth, int count)
{
	depth->count += count;
	if (depth->count < 0 || depth->count > DEPTH_MAXIMUM || count > PUSHED_MAXIMUM)
		return false;
	if (depth->count < depth->raised - 1)
		depth->raised = 0;
	for (; count < 0; count++)
		depth->top = flow->values[depth->top].below;
	for (; count > 0; count--)
		depth->top = push(flow, depth->top, -1, -1);
	return true;
}

static const struct opcode *opcode_of(const struct value_flow *flow, int unit)
{
	return &flow->operands->opcodes[flow->code->units[unit].opcode];
}

/* The top becomes an attribute; a method, or NULL, may be pushed with it. */
static bool load_attribute(struct value_flow *flow, struct depth *depth, int name, int effect)
{
	const struct value *object = &flow->values[depth->top];
	struct value named = { .name = name, .local = object->name < 0 ? object->local : -1 };

	if (!grow(flow, depth, effect))
		return false;
	/* LOAD_SUPER_ATTR takes three values, the others one. */
	rename_top(flow, depth, effect < 0 ? effect + 3 : effect + 1, named);
	return true;
}

/* Sets depth to the value stack behind the unit; false: the path is not followed. */
static bool run(struct value_flow *flow, int unit, struct depth *depth)
{
	const struct opcode *opcode = opcode_of(flow, unit);
	uint32_t argument = flow->operands->arguments[unit];
	int effect = opcode_effect(opcode, argument);
	int name = argument < UNITS_MAXIMUM ? (int)(argument >> opcode->place) : -1;

	if (opcode->use == OPCODE_USE_ATTRIBUTE)
		return load_attribute(flow, depth, name, effect);
	if (!grow(flow, depth, effect))
		return false;
	switch ((enum opcode_use)opcode->use) {
	case OPCODE_USE_LOCAL:
		rename_top(flow, depth, 1, (struct value){ .name = -1, .local = name });
		break;
	case OPCODE_USE_GLOBAL:
		rename_top(flow, depth, effect > 1 ? effect : 1,
			   (struct value){ .name = name, .local = -1 });
		break;
	case OPCODE_USE_SHUFFLE:
		forget_top(flow, depth,
			   argument < DEPTH_MAXIMUM ? opcode->place + (int)argument : 0);
		break;
	case OPCODE_USE_ENTER:
		forget_top(flow, depth, 2);
		break;
	case OPCODE_USE_RESULT:
	case OPCODE_USE_CALL:
	case OPCODE_USE_CALL_PAIR:
	case OPCODE_USE_CALL_EX:
	case OPCODE_USE_NEXT:
		if (effect <= 0)
			forget_top(flow, depth, 1);
		break;
	case OPCODE_USE_NO_RESULT:
	case OPCODE_USE_ATTRIBUTE:
		break;
	}
	return true;
}

static void reach(struct value_flow *flow, int unit, struct depth depth)
{
	if (unit >= flow->code->count || flow->code->units[unit].kind == UNIT_INSIDE ||
	    flow->depths[unit].count >= 0)
		return;
	flow->depths[unit] = depth;
	flow->waiting[flow->waiting_count++] = unit;
}

static void reach_late(struct value_flow *flow, int unit, int count, int raised)
{
	ARRAY_GROW(flow->late, flow->late_count, flow->late_capacity);
	flow->late[flow->late_count++] = (struct late_path){ unit, count, raised };
}

/*
 * Returns the number of values behind an END_FINALLY of 3.8 that continues. One that belongs to the
 * handler where the path began continues because a `with` has caught the exception: that takes six
 * values away in place of the one of BEGIN_FINALLY. A `with` has also taken its __exit__() away.
 */
static int count_behind_finally(const struct depth *before, int count)
{
	bool is_caught = before->raised > 0 &&
			 (before->count == before->raised || before->count == before->raised - 1);

	return is_caught ? count - 5 : count;
}

static void follow(struct value_flow *flow, int from)
{
	const struct unit *unit = &flow->code->units[from];
	struct depth depth = flow->depths[from];
	struct bytecode_edges edges;
	int next = from + unit->length;
	int jumping = opcode_of(flow, from)->jumping;

	if (!run(flow, from, &depth))
		return;
	if (flow->operands->handlers[from] >= 0)
		reach_late(flow, flow->operands->handlers[from], depth.count + jumping,
			   depth.count + jumping);
	if (unit->kind == UNIT_RERAISE) {
		if (flow->operands->minor == 8)
			reach_late(flow, next,
				   count_behind_finally(&flow->depths[from], depth.count), 0);
		return;
	}
	bytecode_edges(flow->code, flow->operands->minor, from, &edges);
	for (int i = 0; i < edges.count; i++)
		if (edges.items[i] == next)
			reach(flow, next, depth);
	if (unit->kind == UNIT_CALL_FINALLY)
		reach(flow, next, depth);
	if (unit->target >= 0 && grow(flow, &depth, jumping))
		reach(flow, unit->target, depth);
}

static void follow_waiting(struct value_flow *flow)
{
	while (flow->waiting_count)
		follow(flow, flow->waiting[--flow->waiting_count]);
}

static void follow_all(struct value_flow *flow)
{
	const struct bytecode *code = flow->code;
	bool is_resumed = flow->operands->minor == 10 && (code->flags & BYTECODE_GENERATOR);

	/* A generator of 3.10 begins with GEN_START, which pops the value that was sent. */
	reach(flow, 0, (struct depth){ .top = UNKNOWN, .count = is_resumed });
	follow_waiting(flow);
	for (int i = 0; i < code->count; i++)
		if (flow->operands->depths[i] >= 0)
			reach_late(flow, i, flow->operands->depths[i], 0);
	for (size_t i = 0; i < flow->late_count; i++) {
		struct late_path late = flow->late[i];

		if (late.count >= 0 && late.count <= DEPTH_MAXIMUM)
			reach(flow, late.unit, (struct depth){ UNKNOWN, late.count, late.raised });
		follow_waiting(flow);
	}
}

/* Returns by how many values the callable is below the top, or -1: the unit calls nothing. */
static int find_distance(const struct opcode *opcode, uint32_t argument)
{
	int bounded = argument > DEPTH_MAXIMUM ? DEPTH_MAXIMUM : (int)argument;

	switch ((enum opcode_use)opcode->use) {
	case OPCODE_USE_CALL:
	case OPCODE_USE_CALL_PAIR:
		return opcode->place + bounded;
	case OPCODE_USE_CALL_EX:
		return opcode->place + (bounded & 1);
	case OPCODE_USE_ENTER:
	case OPCODE_USE_NEXT:
		return opcode->place;
	case OPCODE_USE_RESULT:
	case OPCODE_USE_NO_RESULT:
	case OPCODE_USE_SHUFFLE:
	case OPCODE_USE_LOCAL:
	case OPCODE_USE_GLOBAL:
	case OPCODE_USE_ATTRIBUTE:
		break;
	}
	return -1;
}

/* The value that is distance below the top; distance 1: the top. */
static const struct value *value_at(const struct value_flow *flow, int top, int distance)
{
	while (--distance > 0)
		top = flow->values[top].below;
	return &flow->values[top];
}

/* Returns the method that the instruction calls without loading it, or NULL. */
static const char *find_method(enum opcode_use use)
{
	if (use == OPCODE_USE_ENTER)
		return "__enter__";
	return use == OPCODE_USE_NEXT ? "__next__" : NULL;
}

static void add_call(struct value_flow *flow, int unit)
{
	struct bytecode *code = flow->code;
	const struct opcode *opcode = opcode_of(flow, unit);
	const struct depth *depth = &flow->depths[unit];
	int distance = find_distance(opcode, flow->operands->arguments[unit]);
	bool is_pair = opcode->use == OPCODE_USE_CALL_PAIR;
	const struct value *value;

	if (depth->count < 0 || distance < 0 || distance > depth->count)
		return;
	value = value_at(flow, depth->top, distance);
	if (is_pair && value->name < 0 && value->local < 0)
		value = value_at(flow, depth->top, distance - 1);
	ARRAY_GROW(code->calls, code->call_count, code->call_capacity);
	code->calls[code->call_count++] = (struct bytecode_call){
		.unit = unit,
		.slot = depth->count - distance,
		.is_pair = is_pair,
		.method = find_method((enum opcode_use)opcode->use),
		.name = value->name,
		.local = value->local,
	};
}

void bytecode_find_calls(struct bytecode *code, const struct bytecode_operands *operands)
{
	struct value_flow flow = { .code = code, .operands = operands };
	size_t count = (size_t)code->count;

	if (count > UNITS_MAXIMUM)
		return;
	flow.depths = xcalloc(count, sizeof(*flow.depths));
	flow.waiting = xcalloc(count, sizeof(*flow.waiting));
	for (size_t i = 0; i < count; i++)
		flow.depths[i].count = -1;
	push(&flow, UNKNOWN, -1, -1);
	follow_all(&flow);
	for (int i = 0; i < code->count; i++)
		add_call(&flow, i);
	free(flow.late);
	free(flow.waiting);
	free(flow.depths);
	free(flow.values);
}

const struct bytecode_call *bytecode_call_at(const struct bytecode *code, int unit)
{
	size_t first = 0;
	size_t end = code->call_count;

	while (first < end) {
		size_t middle = first + (end - first) / 2;

		if (code->calls[middle].unit == unit)
			return &code->calls[middle];
		if (code->calls[middle].unit < unit)
			first = middle + 1;
		else
			end = middle;
	}
	return NULL;
}
