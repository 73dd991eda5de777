/*
 * breakpoint-table: the breakpoints of one process, as a person wants them
 * (protocol/breakpoint.h), and what became of them: bound to units of code
 * objects, pending until such code is loaded, or refused with a sentence.
 *
 * A breakpoint on a line is on every code object of its file that has a line
 * event there, and on every unit where one may begin: that of a `for` has
 * two. One on a function is on its first line that has such an event, as in
 * pdb. Of a decorated function it is on that which is wrapped.
 *
 * As in bdb a condition that is false makes no hit, and the ignore count goes
 * down only at hits. Unlike bdb a condition that cannot be compared
 * (pyexpression.h) makes none either: it is reported once, and the thread is
 * resumed, as a rank that stops for no hit delays its job. Hits that stopped or
 * printed something are counted per process.
 */
#ifndef BACKENDS_PTRACE_BREAKPOINT_TABLE_H
#define BACKENDS_PTRACE_BREAKPOINT_TABLE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "protocol/debugger.h"

struct breaks;
struct bytecode;
struct bytecode_cache;
struct codes;
struct cpython;
struct error;
struct memory;
struct planned;

/* All are borrowed. */
struct breaks *breakpoint_table_new(struct memory *memory, const struct cpython *python,
				    struct bytecode_cache *bytecodes, struct codes *codes);
void breakpoint_table_free(struct breaks *breaks);
/*
 * These are all that are wanted from now on (the array of `setBreakpoints`);
 * those that are known by id and the same keep their counts. Watches of
 * variables (`watch`) are left to watchpoints.h. Code is looked for at once. -1:
 * not such a list; nothing has changed then.
 */
int breakpoint_table_set(struct breaks *breaks, const json_t *list, struct error *error);
/* As breakpoint_table_set(), and the conditions and texts make sense; sets nothing. */
int breakpoint_table_check(const json_t *list, struct error *error);
/* Whether some wait for their code to be loaded. */
bool breakpoint_table_are_pending(const struct breaks *breaks);
/*
 * Looks for code of those that wait, and for new code of the others; true:
 * the watch requests, or what became of one, are others now. Costs nothing while
 * code_search_revision() is the same.
 */
bool breakpoint_table_look(struct breaks *breaks);
/*
 * This code object is about to run for the first time, a module's body, say:
 * the same, of it and its constants alone.
 */
bool breakpoint_table_starts(struct breaks *breaks, uint64_t code);
/* One was not looked for everywhere yet: breakpoint_table_look() does that. */
bool breakpoint_table_are_far(const struct breaks *breaks);
/* Whether there is any that could stop the process, bound or pending. */
bool breakpoint_table_are_any(const struct breaks *breaks);
/* Changes whenever breakpoint_table_watch_requests() or breakpoint_table_describe() would give
 * something else but counts. */
uint64_t breakpoint_table_revision(const struct breaks *breaks);
/*
 * Appends a PLAN_BREAKPOINT for each unit to watch, each once, at most
 * maximum; returns how many there are.
 */
size_t breakpoint_table_watch_requests(const struct breaks *breaks, struct planned *watch_requests,
				       size_t maximum);
/*
 * The last so many of the watch requests could not be watched: of which breakpoints,
 * and what would help, stands in their bindings from now on. why: the watch itself failed, and what
 * would help; NULL: there was no room.
 */
void breakpoint_table_short(struct breaks *breaks, size_t missing, const char *why);

/* A log point's text, or why a condition failed. */
struct break_said {
	int id; /* of the breakpoint */
	char *text;
};

struct break_hit {
	int ids[STOP_HITS_MAXIMUM]; /* that stop here */
	size_t count;
	struct break_said *said;
	size_t said_count;
};

/*
 * A line event of thread state tstate in frame. True: it stops here, and hit
 * says for which (clear it in any case). Counts, ignores, and forgets
 * temporary ones.
 */
bool breakpoint_table_hit(struct breaks *breaks, const struct bytecode *code, int line,
			  uint64_t frame, uint64_t tstate, struct break_hit *hit);
void break_hit_clear(struct break_hit *hit);
/* So often in a second one log point speaks; what is more is counted. */
#define BREAK_SAID_MAXIMUM 100
/*
 * Puts into hit, which is empty, how much log points have left out in the
 * seconds that were over before now (loop_now()); INFINITY: all.
 */
void breakpoint_table_left_out(struct breaks *breaks, double now, struct break_hit *hit);
/* Appends what became of each to debugger->bindings. */
void breakpoint_table_describe(const struct breaks *breaks, struct debugger *debugger);
/*
 * The same as the answer to `setBreakpoints`: {"breakpoints": […]}, with
 * "pending" true where code is waited for.
 */
json_t *breakpoint_table_to_json(const struct breaks *breaks);

#endif
