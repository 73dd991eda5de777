/*
 * breakpoint-table: the breakpoints of one process, as requested
 * (protocol/debugger.h), and their state: bound to code units (_Py_CODEUNIT),
 * pending until such code is loaded, or refused with a reason.
 *
 * A line breakpoint is set in every code object of its file that has a line
 * event for the line, on every unit where that event may begin: the line of a
 * `for` has two. A function breakpoint is set on the function's first line
 * with a line event, as in pdb; a decorated function counts as the wrapped one.
 *
 * As in bdb, a false condition makes no hit, and the ignore count goes down
 * only at hits. Unlike in bdb, a condition that fails (pyexpression.h) makes
 * no hit either: the failure is reported once and the thread is resumed,
 * because a rank that stops without a hit delays its job. Hits that stopped or
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

/* All arguments are borrowed. */
struct breaks *breakpoint_table_new(struct memory *memory, const struct cpython *python,
				    struct bytecode_cache *bytecodes, struct codes *codes);
void breakpoint_table_free(struct breaks *breaks);
/*
 * Replaces all breakpoints by list, the array of `setBreakpoints`. A breakpoint
 * with the id and place of an old one keeps its counts. Items with a `watch`
 * are ignored (watchpoints.h). Code is searched for at once. -1: the list is
 * malformed; nothing has changed.
 */
int breakpoint_table_set(struct breaks *breaks, const json_t *list, struct error *error);
/* Checks a list, its conditions and log texts without setting it. -1: error says what is wrong. */
int breakpoint_table_check(const json_t *list, struct error *error);
/* Whether an enabled breakpoint waits for its code to be loaded. */
bool breakpoint_table_are_pending(const struct breaks *breaks);
/*
 * Searches for code of pending breakpoints and for new code of the others.
 * True: the watch requests or the state of a breakpoint have changed. Cheap
 * while code_search_revision() is unchanged.
 */
bool breakpoint_table_look(struct breaks *breaks);
/*
 * Like breakpoint_table_look(), but only in a code object that is about to run
 * for the first time (a module's body, for example) and the code nested in it.
 */
bool breakpoint_table_starts(struct breaks *breaks, uint64_t code);
/* True: a line not found in its file's code waits for the search of all reachable objects, which
 * breakpoint_table_look() does. */
bool breakpoint_table_are_far(const struct breaks *breaks);
/* Whether an enabled breakpoint, bound or pending, could stop the process. */
bool breakpoint_table_are_any(const struct breaks *breaks);
/* Changes whenever the results of breakpoint_table_watch_requests() or
 * breakpoint_table_describe() change, except for hit counts. */
uint64_t breakpoint_table_revision(const struct breaks *breaks);
/*
 * Writes a PLAN_BREAKPOINT for each unit to watch, without duplicates, at most
 * maximum; returns the number of all units.
 */
size_t breakpoint_table_watch_requests(const struct breaks *breaks, struct planned *watch_requests,
				       size_t maximum);
/*
 * The last `missing` watch requests have no watch: the bindings of their
 * breakpoints report the reason from now on. why: the error of setting a watch;
 * NULL: no slot was free.
 */
void breakpoint_table_short(struct breaks *breaks, size_t missing, const char *why);

/* A log point's text, or why a condition failed. */
struct break_said {
	int id; /* of the breakpoint */
	char *text;
};

struct break_hit {
	int ids[STOP_HITS_MAXIMUM]; /* of the breakpoints that stop here */
	size_t count;
	struct break_said *said;
	size_t said_count;
};

/*
 * Handles a line event in frame, of the thread with the PyThreadState tstate.
 * True: the thread stops for the breakpoints in hit (to be cleared in any
 * case). Updates hit and ignore counts; a temporary breakpoint is spent.
 */
bool breakpoint_table_hit(struct breaks *breaks, const struct bytecode *code, int line,
			  uint64_t frame, uint64_t tstate, struct break_hit *hit);
void break_hit_clear(struct break_hit *hit);
/* Texts that one log point prints per second; further ones are only counted. */
#define BREAK_SAID_MAXIMUM 100
/*
 * Puts into hit, which is empty, how many texts each log point has left out in
 * a second that was over before now (loop_now()); INFINITY: in any second.
 */
void breakpoint_table_left_out(struct breaks *breaks, double now, struct break_hit *hit);
/* Appends the state of each breakpoint to debugger->bindings. */
void breakpoint_table_describe(const struct breaks *breaks, struct debugger *debugger);
/*
 * The answer to `setBreakpoints`: {"breakpoints": […]}, with "pending" true for
 * breakpoints whose code is not loaded yet. The caller owns the object.
 */
json_t *breakpoint_table_to_json(const struct breaks *breaks);

#endif
