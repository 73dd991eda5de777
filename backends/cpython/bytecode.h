/*
 * bytecode: what a code object does, as its interpreter's tracing sees it:
 * units of two bytes, the lines they belong to, where each may lead, which
 * steps from one to another are `line` events.
 *
 * A unit is counted from the start of the code (`f_lasti / 2` up to 3.9,
 * `f_lasti` in 3.10, the pointer's distance after). Opcodes are those that the
 * compiler wrote: specialised, instrumented and "quick" forms are taken back to
 * their base. What is read is checked (lengths, targets, tables); a code
 * object that does not hold together is none.
 *
 * Facts: Python/compile.c, Python/ceval.c (maybe_call_line_trace),
 * Python/instrumentation.c, Objects/locations.md,
 * Objects/exception_handling_notes.txt, and what measuring has shown (a comment says so).
 */
#ifndef BACKENDS_CPYTHON_BYTECODE_H
#define BACKENDS_CPYTHON_BYTECODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bytecode_cache;
struct cpython;
struct memory;

/* What kind of instruction begins at a unit. */
enum unit_kind {
	UNIT_INSIDE, /* none: a cache, or what an EXTENDED_ARG extends */
	UNIT_PLAIN,
	UNIT_RESUME,
	UNIT_RETURN,
	UNIT_RETURN_CONST, /* never: UNIT_RETURN, and its constant */
	UNIT_YIELD,	   /* YIELD_VALUE */
	UNIT_YIELD_FROM,   /* up to 3.10 */
	UNIT_SEND,
	UNIT_FOR_ITER,
	UNIT_JUMP,	    /* always jumps */
	UNIT_JUMP_BACKWARD, /* the same, backward, and tracing is told (3.12) */
	UNIT_CALL_FINALLY,  /* 3.8: jumps, and END_FINALLY jumps behind it */
	UNIT_POP_BLOCK,	    /* up to 3.10: the innermost handler is no more */
	UNIT_RAISE,	    /* RAISE_VARARGS: never the next one */
	/* RERAISE; END_FINALLY (3.8), which continues if nothing was raised. */
	UNIT_RERAISE,
	UNIT_END_ASYNC_FOR,
	UNIT_CLEANUP_THROW,
	UNIT_END,	   /* END_FOR, END_SEND, POP_ITER (3.14) */
	UNIT_EXTENDED_ARG, /* never: the instruction begins there */
	UNIT_RETURN_GENERATOR,
};

/*
 * Of an instruction behind EXTENDED_ARGs, the first of those is where it
 * begins: lines, jumps and watches are about that unit. A frame's pointer may
 * be at any of its units: see bytecode_instruction().
 */
struct unit {
	uint8_t opcode;	 /* the base form's number in this version */
	uint8_t kind;	 /* enum unit_kind */
	uint8_t length;	 /* units of all of the instruction, caches included */
	bool is_handler; /* an exception may lead here */
	bool is_start;	 /* of an entry of the line table (3.8, 3.9), or a
			  * place that instrumentation marks (3.12 on) */
	int line;	 /* -1: none */
	int target;	 /* of a jump; -1: it is none */
	int constant;	 /* of co_consts, that RETURN_CONST returns; -1 */
	int handler;	 /* where an exception here leads; -1: out */
	int begins;	 /* 3.8, 3.9: the first unit of its entry */
};

struct bytecode {
	uint64_t address; /* of the code object */
	uint64_t first;	  /* of unit 0 */
	char *file;
	char *name;
	char *qualname; /* that of name where there is none (up to 3.10) */
	int first_line;
	int flags;	    /* co_flags */
	int locals_count;   /* co_nlocalsplus: where the value stack begins */
	int first_traced;   /* before it there is no line event (3.11: RESUME) */
	bool has_executors; /* parts run as native code, unseen (JIT) */
	struct unit *units;
	int count;
	int *returns; /* 3.8: units behind CALL_FINALLY */
	int return_count;
};

#define BYTECODE_GENERATOR 0x2a0 /* generator, coroutine, async generator */

struct bytecode_cache *bytecode_cache_new(struct memory *memory, const struct cpython *python);
void bytecode_cache_free(struct bytecode_cache *cache);
/*
 * Lends the code object at address; NULL: there is none. One that is known already is believed
 * until bytecode_cache_age().
 */
const struct bytecode *bytecode_find(struct bytecode_cache *cache, uint64_t address);
/*
 * The same of a frame that is met: what is known of its code may be of code
 * that was freed since, and is compared with the object's head.
 */
const struct bytecode *bytecode_meet(struct bytecode_cache *cache, uint64_t address);
/*
 * Its code objects may be others by now (the process ran): looks again at
 * each when it is asked for. One that is the same stays where it is.
 */
void bytecode_cache_age(struct bytecode_cache *cache);
/*
 * Frees those whose address was found to be another's, but for what is still
 * lent; returns how many.
 */
size_t bytecode_cache_sweep(struct bytecode_cache *cache,
			    bool (*is_lent)(const struct bytecode *code, void *data), void *data);

/* Where the instruction begins that unit is of; -1: there is no such unit. */
int bytecode_instruction(const struct bytecode *code, int unit);
/*
 * Whether the instruction, as it is specialised now, may do the next one, too,
 * which then leaves no trace in the frame: only a watch of that one's unit
 * tells of it. Reads the process.
 */
bool bytecode_hides_next(struct bytecode_cache *cache, const struct bytecode *code, int unit);
/*
 * Whether the interpreter would send a `line` event for the step from one
 * instruction to another of the same frame; from -1: the function begins.
 * is_raised: an exception led there.
 */
bool bytecode_is_line(const struct cpython *python, const struct bytecode *code, int from, int to,
		      bool is_raised);
/*
 * Whether to can come right behind from, without an exception; from -1: as
 * the first one.
 */
bool bytecode_follows(const struct cpython *python, const struct bytecode *code, int from, int to);
/*
 * The same where some instructions between may have left no trace of
 * themselves (superinstructions, PRECALL + CALL, compare and jump).
 */
bool bytecode_reaches(const struct cpython *python, const struct bytecode *code, int from, int to);
/*
 * Units where a `line` event with that line may begin, on any edge; returns
 * how many there are, at most maximum are written. Those where it takes an
 * exception (the cleaning up of a `with` line …) come last.
 */
size_t bytecode_line_units(const struct cpython *python, const struct bytecode *code, int line,
			   int *units, size_t maximum);
/* The line of the first `line` event of a call; 0: there is none. */
int bytecode_first_line(const struct cpython *python, const struct bytecode *code);
/* Whether any `line` event has this line. */
bool bytecode_has_line(const struct cpython *python, const struct bytecode *code, int line);
/*
 * The line that f_lineno of a traced frame has at `unit`, up to 3.9: the line of the
 * last `line` event. The frame was last seen at the unit `before` (-1: never), where
 * that line was before_line. Where the paths from there to `unit` differ in their last
 * `line` event: the line of `unit` itself.
 */
int bytecode_traced_line(const struct cpython *python, const struct bytecode *code, int before,
			 int before_line, int unit);
/*
 * Where a running activation that is at unit from comes first: units with a
 * `line` event of a line >= line, handlers, returns, and those of wanted (one
 * for each unit of the code; NULL: none). False: more than maximum.
 */
bool bytecode_frontier(const struct cpython *python, const struct bytecode *code, int from,
		       int line, const bool *wanted, int *units, size_t maximum, size_t *count);
/*
 * The byte of a unit that every dispatch reads and nothing else does: its
 * argument's.
 */
uint64_t bytecode_watched(const struct bytecode *code, int unit);
/* The unit whose byte that is; -1: none of this code. */
int bytecode_unit_at(const struct bytecode *code, uint64_t address);

#endif
