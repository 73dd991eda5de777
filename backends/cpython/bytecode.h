/*
 * bytecode: the contents of a code object that matter for tracing: its units of two bytes, their
 * lines, their successors, and the steps between units at which the interpreter sends `line`
 * events.
 *
 * Units count from the start of the code (`f_lasti / 2` up to 3.9, `f_lasti` in 3.10, the
 * instruction pointer's distance from 3.11 on). Opcodes are those of the compiler: specialised,
 * instrumented and "quick" forms are replaced by their base form. Lengths, targets and tables are
 * checked; an inconsistent code object is rejected.
 *
 * Facts: Python/compile.c, Python/ceval.c (maybe_call_line_trace), Python/instrumentation.c,
 * Objects/locations.md, Objects/exception_handling_notes.txt, and measurements (marked as such in a
 * comment).
 */
#ifndef BACKENDS_CPYTHON_BYTECODE_H
#define BACKENDS_CPYTHON_BYTECODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bytecode_cache;
struct cpython;
struct memory;

/* Kind of the instruction that begins at a unit. */
enum unit_kind {
	/* no instruction begins here: a cache, or the rest of an instruction with EXTENDED_ARG */
	UNIT_INSIDE,
	UNIT_PLAIN,
	UNIT_RESUME,
	UNIT_RETURN,
	UNIT_RETURN_CONST, /* only in opcode tables: the unit becomes UNIT_RETURN with a constant */
	UNIT_YIELD,	   /* YIELD_VALUE */
	UNIT_YIELD_FROM,   /* up to 3.10 */
	UNIT_SEND,
	UNIT_FOR_ITER,
	UNIT_JUMP,	    /* always jumps */
	UNIT_JUMP_BACKWARD, /* always jumps backward, and sends a tracing event (3.12) */
	UNIT_CALL_FINALLY,  /* 3.8: jumps to a `finally`, whose END_FINALLY jumps back to the
			     * next instruction */
	UNIT_POP_BLOCK,	    /* up to 3.10: removes the innermost handler */
	UNIT_RAISE,	    /* RAISE_VARARGS: never continues with the next instruction */
	/*
	 * RERAISE; END_FINALLY (3.8), which continues with the next instruction if nothing was
	 * raised.
	 */
	UNIT_RERAISE,
	UNIT_END_ASYNC_FOR,
	UNIT_CLEANUP_THROW,
	UNIT_END, /* END_FOR, END_SEND, POP_ITER (3.14) */
	/* only in opcode tables: the unit gets the kind of the extended opcode */
	UNIT_EXTENDED_ARG,
	UNIT_RETURN_GENERATOR,
};

/*
 * An instruction with EXTENDED_ARGs begins at the first EXTENDED_ARG: line, target and watches
 * belong to that unit. A frame's instruction pointer may be at any unit of the instruction;
 * bytecode_instruction() returns the first.
 */
struct unit {
	uint8_t opcode;	 /* the base form's number in this version */
	uint8_t kind;	 /* enum unit_kind */
	uint8_t length;	 /* units of the whole instruction, caches included */
	bool is_handler; /* an exception may lead here */
	/*
	 * the unit is the first of a line table entry (3.8, 3.9), or instrumentation marks it for
	 * `line` events (3.12 on)
	 */
	bool is_start;
	int line;     /* -1: no line */
	int target;   /* unit that a jump leads to; -1: no jump */
	int constant; /* index in co_consts of the constant that RETURN_CONST returns; -1: none */
	int handler;  /* unit to which an exception in this unit leads; -1: the exception leaves
		       * the function */
	int begins;   /* 3.8, 3.9: first unit of this unit's line table entry */
};

/*
 * An instruction that calls an object on the value stack, or a method of such an object. In a pair
 * of slots either the lower one has a method and the upper one the object of the method, or one has
 * the callable and the other is NULL.
 */
struct bytecode_call {
	int unit;
	int slot; /* index, on the value stack, of the callable, of its pair, or of method's object
		   */
	bool is_pair;
	const char *method; /* "__enter__" or "__next__", called without being loaded; NULL: none */
	int name;	    /* index in co_names of the name that the callable was loaded by; -1 */
	/* Index of the local that is the callable or, if there is a name, its object; -1: none. */
	int local;
};

struct bytecode {
	uint64_t address; /* address of the code object */
	uint64_t first;	  /* address of unit 0 */
	char *file;
	char *name;
	char *qualname; /* equal to name where CPython has no qualname (up to 3.10) */
	int first_line;
	int flags;	    /* co_flags */
	int locals_count;   /* co_nlocalsplus: where the value stack begins */
	int first_traced;   /* first unit that can send a line event (3.11 on: RESUME) */
	bool has_executors; /* parts of the code run as JIT code, which does not execute units */
	struct unit *units;
	int count;
	int *returns; /* 3.8: units behind each CALL_FINALLY */
	int return_count;
	struct bytecode_call *calls; /* in the order of their units */
	size_t call_count;
	size_t call_capacity;
};

#define BYTECODE_GENERATOR 0x2a0 /* generator, coroutine, async generator */

/* memory and python are borrowed. */
struct bytecode_cache *bytecode_cache_new(struct memory *memory, const struct cpython *python);
void bytecode_cache_free(struct bytecode_cache *cache);
/*
 * Returns the code object at address; NULL: there is none. Until bytecode_cache_age(), a cached
 * code object is returned without reading the process.
 */
const struct bytecode *bytecode_find(struct bytecode_cache *cache, uint64_t address);
/*
 * Like bytecode_find(), but first compares a cached code object with the head of the object in the
 * process, because the memory may have been freed and reused. For the code of a frame.
 */
const struct bytecode *bytecode_meet(struct bytecode_cache *cache, uint64_t address);
/*
 * To be called after the process has run: each cached code object is reread when it is next looked
 * up. The pointer to an unchanged code object stays valid.
 */
void bytecode_cache_age(struct bytecode_cache *cache);
/*
 * Frees the cached code objects at whose address another object is now, except those for which
 * is_lent() returns true. Returns the number of freed code objects.
 */
size_t bytecode_cache_sweep(struct bytecode_cache *cache,
			    bool (*is_lent)(const struct bytecode *code, void *data), void *data);

/* Returns the call of the instruction that begins at `unit`, borrowed from code; NULL: none. */
const struct bytecode_call *bytecode_call_at(const struct bytecode *code, int unit);
/* Returns the first unit of the instruction that contains `unit`; -1: `unit` is outside the
 * code. */
int bytecode_instruction(const struct bytecode *code, int unit);
/*
 * Returns true if the instruction, in its present specialised form, may also run the next
 * instruction. The next instruction then leaves no trace in the frame: only a watch on its unit
 * shows that it runs. Reads the process; returns false if that fails.
 */
bool bytecode_hides_next(struct bytecode_cache *cache, const struct bytecode *code, int unit);
/*
 * Returns true if the interpreter would send a `line` event for the step from one instruction to
 * another of the same frame. from -1: the function begins. is_raised: an exception led to the unit
 * `to`.
 */
bool bytecode_is_line(const struct cpython *python, const struct bytecode *code, int from, int to,
		      bool is_raised);
/*
 * Returns true if `to` can run directly after `from`, without an exception. from -1: `to` is the
 * function's first instruction.
 */
bool bytecode_follows(const struct cpython *python, const struct bytecode *code, int from, int to);
/*
 * Like bytecode_follows(), but some instructions between may have left no trace in the frame
 * (superinstructions, PRECALL + CALL, compare and jump).
 */
bool bytecode_reaches(const struct cpython *python, const struct bytecode *code, int from, int to);
/*
 * Writes the units at which a `line` event for `line` may begin on any path, at most `maximum`;
 * returns the number of these units, which may be greater. Units that only an exception reaches
 * (clean-up of a `with` line …) come last.
 */
size_t bytecode_line_units(const struct cpython *python, const struct bytecode *code, int line,
			   int *units, size_t maximum);
/* Returns the line of the first `line` event of a call; 0: a call sends no `line` event. */
int bytecode_first_line(const struct cpython *python, const struct bytecode *code);
/* Returns true if any `line` event has this line. */
bool bytecode_has_line(const struct cpython *python, const struct bytecode *code, int line);
/*
 * Returns f_lineno of a traced frame at `unit`, up to 3.9: the line of the last `line` event. The
 * frame was last seen at the unit `before` (-1: never), where that line was before_line. If the
 * paths from `before` to `unit` differ in their last `line` event, returns the line of `unit`
 * itself.
 */
int bytecode_traced_line(const struct cpython *python, const struct bytecode *code, int before,
			 int before_line, int unit);
/* Returns true if a frame at unit `from` can come to `unit` without a `line` event on the way. */
bool bytecode_reaches_quietly(const struct cpython *python, const struct bytecode *code, int from,
			      int unit);
/*
 * For each path that a frame at unit `from` can take, writes the first unit that is one of: a unit
 * with a `line` event of `line` or a greater line, a handler, a return, a unit u with wanted[u]
 * (one bool for each unit of the code; NULL: all false). Returns false if there are more than
 * `maximum` such units.
 */
bool bytecode_frontier(const struct cpython *python, const struct bytecode *code, int from,
		       int line, const bool *wanted, int *units, size_t maximum, size_t *count);
/*
 * Returns the address of a unit's argument byte, for a hardware watch: every dispatch of the unit
 * reads that byte, and nothing else reads it.
 */
uint64_t bytecode_watched(const struct bytecode *code, int unit);
/* Returns the unit that contains the byte at address; -1: address is outside this code. */
int bytecode_unit_at(const struct bytecode *code, uint64_t address);

#endif
