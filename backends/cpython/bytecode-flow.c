/*
 * Finds the successors of each unit, and the steps to a successor that are `line` events. See
 * bytecode.h.
 */
#include "backends/cpython/bytecode.h"

#include "banned.h"

#include "backends/cpython/bytecode-private.h"
#include "backends/cpython/cpython.h"
#include "base/alloc.h"

/*
 * Maximum number of following instructions that one instruction runs as a part of itself
 * (superinstructions); the frame shows no trace of them. A PRECALL of 3.11 that appends to a list
 * also runs CALL and POP_TOP, and a NOP behind it may store its pointer after the next fetch.
 */
#define HIDDEN_MAXIMUM 2
#define HIDDEN_MAXIMUM_3_11 3
/* Instructions skipped at a loop's target: END_FOR and POP_TOP, or END_SEND. */
#define SKIPPED_MAXIMUM 2

static bool bytecode_flow_is_instruction(const struct bytecode *code, int unit)
{
	return unit >= 0 && unit < code->count && code->units[unit].kind != UNIT_INSIDE;
}

int bytecode_instruction(const struct bytecode *code, int unit)
{
	if (unit < 0 || unit >= code->count)
		return -1;
	while (unit > 0 && code->units[unit].kind == UNIT_INSIDE)
		unit--;
	return unit;
}

uint64_t bytecode_watched(const struct bytecode *code, int unit)
{
	return code->first + 2 * (uint64_t)unit + 1;
}

int bytecode_unit_at(const struct bytecode *code, uint64_t address)
{
	if (address < code->first || (address - code->first) / 2 >= (uint64_t)code->count)
		return -1;
	return (int)((address - code->first) / 2);
}

static void add_edge(const struct bytecode *code, struct bytecode_edges *edges, int to)
{
	if (bytecode_flow_is_instruction(code, to))
		edges->items[edges->count++] = to;
}

/* True if the next instruction in the code never runs directly after unit. */
static bool never_goes_on(const struct unit *unit, int minor)
{
	switch ((enum unit_kind)unit->kind) {
	case UNIT_RETURN:
	case UNIT_RETURN_CONST:
	case UNIT_JUMP:
	case UNIT_JUMP_BACKWARD:
	case UNIT_CALL_FINALLY:
	case UNIT_RAISE:
		return true;
	case UNIT_RERAISE:
		return minor > 8;
	case UNIT_INSIDE:
	case UNIT_PLAIN:
	case UNIT_RESUME:
	case UNIT_YIELD:
	case UNIT_YIELD_FROM:
	case UNIT_SEND:
	case UNIT_FOR_ITER:
	case UNIT_POP_BLOCK:
	case UNIT_END_ASYNC_FOR:
	case UNIT_CLEANUP_THROW:
	case UNIT_END:
	case UNIT_EXTENDED_ARG:
	case UNIT_RETURN_GENERATOR:
		break;
	}
	return false;
}

void bytecode_edges(const struct bytecode *code, int minor, int from, struct bytecode_edges *edges)
{
	const struct unit *unit = &code->units[from];
	bool is_loop = unit->kind == UNIT_FOR_ITER || unit->kind == UNIT_SEND;

	*edges = (struct bytecode_edges){
		.are_returns = minor == 8 && unit->kind == UNIT_RERAISE,
	};
	if (!never_goes_on(unit, minor))
		add_edge(code, edges, from + unit->length);
	if (unit->target < 0)
		return;
	add_edge(code, edges, unit->target);
	/*
	 * From 3.12 on the loop instruction may skip END_FOR, POP_TOP or END_SEND at the target:
	 * add edges to the units behind these, too.
	 */
	for (int i = 1; minor >= 12 && is_loop && i <= SKIPPED_MAXIMUM; i++)
		add_edge(code, edges, unit->target + i);
}

void bytecode_each_edge(const struct bytecode *code, int minor, int from,
			void (*each)(int from, int to, bool is_raised, void *data), void *data)
{
	const struct unit *unit = &code->units[from];
	struct bytecode_edges edges;

	bytecode_edges(code, minor, from, &edges);
	for (int i = 0; i < edges.count; i++)
		each(from, edges.items[i], false, data);
	for (int i = 0; edges.are_returns && i < code->return_count; i++)
		each(from, code->returns[i], false, data);
	if (unit->handler >= 0)
		each(from, unit->handler, true, data);
}

/* `line` events of 3.8: Python/ceval.c, maybe_call_line_trace(). */
static bool is_line_3_8(const struct bytecode *code, int from, int to)
{
	return code->units[to].is_start || to < from;
}

/*
 * 3.9: like 3.8, but exception_unwind also sends an event at the handler. Exceptions raised in the
 * first entry of the line table, or by the first instruction of another entry, send no such event.
 */
static bool is_line_3_9(const struct bytecode *code, int from, int to, bool is_raised)
{
	if (is_line_3_8(code, from, to))
		return true;
	if (!is_raised || from < 0)
		return false;
	return code->units[from].begins > 0 && !code->units[from].is_start;
}

static bool is_line_3_10(const struct bytecode *code, int from, int to)
{
	int line = code->units[to].line;

	return line >= 0 && (from < 0 || line != code->units[from].line || to < from);
}

static bool is_line_3_11(const struct bytecode *code, int from, int to)
{
	const struct unit *unit = &code->units[to];

	if (unit->kind == UNIT_RESUME || unit->line < 0)
		return false;
	if (from <= code->first_traced)
		return to > code->first_traced;
	return unit->line != code->units[from].line || (to < from && unit->kind != UNIT_SEND);
}

/* Python/instrumentation.c: _Py_call_instrumentation_line(), from 3.12 on;
 * Python/legacy_tracing.c: sys_trace_jump_func(). */
static bool is_line_3_12(const struct bytecode *code, int from, int to)
{
	const struct unit *unit = &code->units[to];
	const struct unit *before = from < 0 ? NULL : &code->units[from];

	if (to <= code->first_traced)
		return false;
	if (before && before->kind == UNIT_JUMP_BACKWARD && to <= from &&
	    unit->line == before->line)
		return true;
	return unit->is_start &&
	       (!before || before->kind == UNIT_RESUME || before->line != unit->line);
}

bool bytecode_is_line(const struct cpython *python, const struct bytecode *code, int from, int to,
		      bool is_raised)
{
	if (!bytecode_flow_is_instruction(code, to) || from >= code->count)
		return false;
	if (python->minor == 8)
		return is_line_3_8(code, from, to);
	if (python->minor == 9)
		return is_line_3_9(code, from, to, is_raised);
	if (python->minor == 10)
		return is_line_3_10(code, from, to);
	if (python->minor == 11)
		return is_line_3_11(code, from, to);
	return is_line_3_12(code, from, to);
}

bool bytecode_follows(const struct cpython *python, const struct bytecode *code, int from, int to)
{
	struct bytecode_edges edges;

	if (from < 0)
		return to == 0;
	if (!bytecode_flow_is_instruction(code, from) || !bytecode_flow_is_instruction(code, to))
		return false;
	bytecode_edges(code, python->minor, from, &edges);
	for (int i = 0; i < edges.count; i++)
		if (edges.items[i] == to)
			return true;
	for (int i = 0; edges.are_returns && i < code->return_count; i++)
		if (code->returns[i] == to)
			return true;
	return false;
}

static bool reaches(const struct cpython *python, const struct bytecode *code, int from, int to,
		    int hidden)
{
	struct bytecode_edges edges;

	if (bytecode_follows(python, code, from, to))
		return true;
	if (!hidden || !bytecode_flow_is_instruction(code, from))
		return false;
	bytecode_edges(code, python->minor, from, &edges);
	for (int i = 0; i < edges.count; i++)
		if (reaches(python, code, edges.items[i], to, hidden - 1))
			return true;
	return false;
}

bool bytecode_reaches(const struct cpython *python, const struct bytecode *code, int from, int to)
{
	if (!bytecode_flow_is_instruction(code, to))
		return false;
	/*
	 * Any unit can come before a handler: RERAISE may first have set the frame's instruction
	 * pointer back to that unit.
	 */
	if (code->units[to].is_handler)
		return true;
	if (from < 0)
		return to == 0 || reaches(python, code, 0, to, 1);
	return reaches(python, code, from, to,
		       python->minor == 11 ? HIDDEN_MAXIMUM_3_11 : HIDDEN_MAXIMUM);
}

/*
 * How a unit was found. walk_end() writes the units in this order: those reached only by an
 * exception come last.
 */
enum found {
	FOUND_NOT,
	FOUND_PLAIN,
	FOUND_RAISED,
	FOUND_KINDS,
};

/* A walk over reachable units; each() decides whether the walk continues behind a unit. */
struct walk {
	const struct cpython *python;
	const struct bytecode *code;
	bool *is_seen;
	int *waiting;
	int waiting_count;
	uint8_t *found; /* enum found of each unit */
	int line;
	const bool *wanted;   /* units that also end a path of bytecode_frontier(); NULL: none */
	int first_line;	      /* line of the first `line` event; 0: none yet */
	bool leaves_handlers; /* true: exceptions are not followed to their handlers */
};

static void walk_begin(struct walk *walk, const struct cpython *python, const struct bytecode *code)
{
	size_t count = (size_t)code->count;

	*walk = (struct walk){
		.python = python,
		.code = code,
		.is_seen = xcalloc(count, sizeof(bool)),
		.waiting = xcalloc(count, sizeof(int)),
		.found = xcalloc(count, sizeof(uint8_t)),
	};
}

static void walk_visit(struct walk *walk, int unit)
{
	if (walk->is_seen[unit])
		return;
	walk->is_seen[unit] = true;
	walk->waiting[walk->waiting_count++] = unit;
}

static void walk_run(struct walk *walk, int from,
		     void (*each)(int from, int to, bool is_raised, void *data))
{
	memset(walk->is_seen, 0, (size_t)walk->code->count);
	walk_visit(walk, from);
	while (walk->waiting_count)
		bytecode_each_edge(walk->code, walk->python->minor,
				   walk->waiting[--walk->waiting_count], each, walk);
}

/*
 * Writes at most maximum of the units found, FOUND_PLAIN first; returns the number of all units
 * found. Frees the walk's memory.
 */
static size_t walk_end(struct walk *walk, int *units, size_t maximum)
{
	size_t count = 0;

	for (int found = FOUND_PLAIN; found < FOUND_KINDS; found++) {
		for (int i = 0; i < walk->code->count; i++) {
			if (walk->found[i] != found)
				continue;
			if (count < maximum)
				units[count] = i;
			count++;
		}
	}
	free(walk->found);
	free(walk->waiting);
	free(walk->is_seen);
	return count;
}

/*
 * True if the step may be a `line` event on some path. From 3.11 on, RERAISE first sets the frame's
 * instruction pointer to the unit that raised the exception, which may be on any line.
 */
static bool may_be_line(const struct walk *walk, int from, int to, bool is_raised)
{
	const struct unit *unit = &walk->code->units[to];

	if (bytecode_is_line(walk->python, walk->code, from, to, is_raised))
		return true;
	return is_raised && walk->python->minor >= 11 &&
	       walk->code->units[from].kind == UNIT_RERAISE &&
	       (walk->python->minor == 11 || unit->is_start);
}

static void look_for_line(int from, int to, bool is_raised, void *data)
{
	struct walk *walk = data;

	if (is_raised && walk->leaves_handlers)
		return;
	if (walk->code->units[to].line == walk->line && !walk->found[to] &&
	    may_be_line(walk, from, to, is_raised))
		walk->found[to] = walk->leaves_handlers ? FOUND_PLAIN : FOUND_RAISED;
	walk_visit(walk, to);
}

size_t bytecode_line_units(const struct cpython *python, const struct bytecode *code, int line,
			   int *units, size_t maximum)
{
	struct walk walk;

	if (line < 0 || code->count <= 0)
		return 0;
	walk_begin(&walk, python, code);
	walk.line = line;
	if (code->units[0].line == line && bytecode_is_line(python, code, -1, 0, false))
		walk.found[0] = FOUND_PLAIN;
	walk.leaves_handlers = true;
	walk_run(&walk, 0, look_for_line);
	walk.leaves_handlers = false;
	walk_run(&walk, 0, look_for_line);
	return walk_end(&walk, units, maximum);
}

bool bytecode_has_line(const struct cpython *python, const struct bytecode *code, int line)
{
	return bytecode_line_units(python, code, line, NULL, 0) > 0;
}

static void look_for_first(int from, int to, bool is_raised, void *data)
{
	struct walk *walk = data;

	if (walk->first_line || is_raised)
		return;
	if (bytecode_is_line(walk->python, walk->code, from, to, false))
		walk->first_line = walk->code->units[to].line;
	else
		walk_visit(walk, to);
}

int bytecode_first_line(const struct cpython *python, const struct bytecode *code)
{
	struct walk walk;

	if (code->count <= 0)
		return 0;
	if (bytecode_is_line(python, code, -1, 0, false))
		return code->units[0].line;
	walk_begin(&walk, python, code);
	walk_run(&walk, 0, look_for_first);
	walk_end(&walk, NULL, 0);
	return walk.first_line;
}

static void look_quietly(int from, int to, bool is_raised, void *data)
{
	struct walk *walk = data;

	if (!is_raised && !bytecode_is_line(walk->python, walk->code, from, to, false))
		walk_visit(walk, to);
}

bool bytecode_reaches_quietly(const struct cpython *python, const struct bytecode *code, int from,
			      int unit)
{
	struct walk walk;
	bool is_reached;

	if (!bytecode_flow_is_instruction(code, from) || !bytecode_flow_is_instruction(code, unit))
		return false;
	walk_begin(&walk, python, code);
	walk_run(&walk, from, look_quietly);
	is_reached = walk.is_seen[unit];
	walk_end(&walk, NULL, 0);
	return is_reached;
}

/*
 * Ends each path at the first unit that bytecode_frontier() reports; units behind that unit are not
 * visited.
 */
static void look_for_frontier(int from, int to, bool is_raised, void *data)
{
	struct walk *walk = data;
	const struct unit *unit = &walk->code->units[to];

	if (is_raised || unit->kind == UNIT_RETURN || (walk->wanted && walk->wanted[to]) ||
	    (unit->line >= walk->line &&
	     bytecode_is_line(walk->python, walk->code, from, to, false)))
		walk->found[to] = is_raised ? FOUND_RAISED : FOUND_PLAIN;
	else
		walk_visit(walk, to);
}

bool bytecode_frontier(const struct cpython *python, const struct bytecode *code, int from,
		       int line, const bool *wanted, int *units, size_t maximum, size_t *count)
{
	struct walk walk;

	*count = 0;
	if (!bytecode_flow_is_instruction(code, from))
		return false;
	walk_begin(&walk, python, code);
	walk.line = line;
	walk.wanted = wanted;
	walk_run(&walk, from, look_for_frontier);
	*count = walk_end(&walk, units, maximum);
	return *count <= maximum;
}

/* The units from which bytecode_traced_line()'s unit can be reached without a `line` event. */
struct origin {
	const struct cpython *python;
	const struct bytecode *code;
	/* units that the frame can have run since the unit `before`; NULL: all units */
	const bool *is_reached;
	bool *is_origin;
	bool has_changed;
	/* line of the `line` events on steps into these units; 0: none yet; -1: several lines */
	int line;
};

static void add_origin_line(struct origin *origin, int line)
{
	if (origin->line == 0)
		origin->line = line;
	else if (origin->line != line)
		origin->line = -1;
}

static void look_for_origin(int from, int to, bool is_raised, void *data)
{
	struct origin *origin = data;

	if (!origin->is_origin[to] || (origin->is_reached && !origin->is_reached[from]))
		return;
	if (bytecode_is_line(origin->python, origin->code, from, to, is_raised))
		add_origin_line(origin, origin->code->units[to].line);
	else if (!origin->is_origin[from]) {
		origin->is_origin[from] = true;
		origin->has_changed = true;
	}
}

static void visit_any(int from, int to, bool is_raised, void *data)
{
	(void)from;
	(void)is_raised;
	walk_visit(data, to);
}

static void find_origins(struct origin *origin, int unit)
{
	origin->is_origin[unit] = true;
	do {
		origin->has_changed = false;
		for (int i = 0; i < origin->code->count; i++)
			if (bytecode_flow_is_instruction(origin->code, i))
				bytecode_each_edge(origin->code, origin->python->minor, i,
						   look_for_origin, origin);
	} while (origin->has_changed);
}

int bytecode_traced_line(const struct cpython *python, const struct bytecode *code, int before,
			 int before_line, int unit)
{
	struct origin origin = { .python = python, .code = code };
	struct walk walk;

	if (python->minor > 9 || !bytecode_flow_is_instruction(code, unit))
		return unit < 0 ? code->first_line : code->units[unit].line;
	origin.is_origin = xcalloc((size_t)code->count, sizeof(bool));
	walk_begin(&walk, python, code);
	if (bytecode_flow_is_instruction(code, before)) {
		walk_run(&walk, before, visit_any);
		origin.is_reached = walk.is_seen;
	}
	find_origins(&origin, unit);
	if (origin.is_reached && origin.is_origin[before])
		add_origin_line(&origin, before_line);
	else if (origin.is_origin[0] && bytecode_is_line(python, code, -1, 0, false))
		add_origin_line(&origin, code->units[0].line);
	walk_end(&walk, NULL, 0);
	free(origin.is_origin);
	return origin.line > 0 ? origin.line : code->units[unit].line;
}
