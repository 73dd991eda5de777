/*
 * breakpoint-table: the breakpoints of one process, as requested
 * (protocol/debugger.h), and their state: bound to code units (_Py_CODEUNIT),
 * pending until such code is loaded, or refused with a reason.
 *
 * A line breakpoint is set in every code object of its file that has a line event for the line, on
 * every unit where that event may begin: the line of a `for` has two. A function breakpoint is set
 * on the function's first line with a line event, as in pdb; of a decorated function, it is set in
 * the wrapped function.
 *
 * As in bdb, a line event at which the condition is false is not a hit, and the ignore count goes
 * down only at hits. Unlike in bdb, a line event at which the condition fails (pyexpression.h) is
 * not a hit either: the failure is reported once and the thread is resumed, because a rank that
 * stops needlessly delays its job. Only hits that stopped or printed something are counted, for the
 * whole process.
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
 * Replaces all breakpoints by those in list, the array of `setBreakpoints`, and searches for their
 * code. If a breakpoint has the id and place of an old breakpoint, it keeps the old counts. Items
 * with a `watch` are ignored (watchpoints.h). Returns 0, or -1 and sets error if the list is
 * malformed: nothing has changed then.
 */
int breakpoint_table_set(struct breaks *breaks, const json_t *list, struct error *error);
/* Checks a list with its conditions and log texts, without setting breakpoints. Returns 0, or -1
 * and sets error if the list is invalid. */
int breakpoint_table_check(const json_t *list, struct error *error);
/* Whether an enabled breakpoint waits for its code to be loaded. */
bool breakpoint_table_are_pending(const struct breaks *breaks);
/*
 * Searches for code of pending breakpoints, and for further code of bound breakpoints. Returns
 * whether the watch requests or the state of a breakpoint have changed. Cheap while
 * code_search_revision() is unchanged.
 */
bool breakpoint_table_look(struct breaks *breaks);
/*
 * Like breakpoint_table_look(), but searches only one code object, which is about to run for the
 * first time (a module's body, for example), and the code nested in that object.
 */
bool breakpoint_table_starts(struct breaks *breaks, uint64_t code);
/* Whether a breakpoint's line was not found in its file's code, so that the next
 * breakpoint_table_look() will search all reachable objects. */
bool breakpoint_table_are_far(const struct breaks *breaks);
/* Whether an enabled breakpoint, bound or pending, could stop the process. */
bool breakpoint_table_are_any(const struct breaks *breaks);
/* Changes whenever the results of breakpoint_table_watch_requests() or
 * breakpoint_table_describe() change, except for hit counts. */
uint64_t breakpoint_table_revision(const struct breaks *breaks);
/*
 * Writes a PLAN_BREAKPOINT for each unit to watch (without duplicates), at most `maximum`. Returns
 * the number of units, which may be greater.
 */
size_t breakpoint_table_watch_requests(const struct breaks *breaks, struct planned *watch_requests,
				       size_t maximum);
/*
 * To be called when the last `missing` watch requests have no watch: from now on, the bindings of
 * their breakpoints report the reason. why: the error from setting a watch; NULL: no slot was free.
 */
void breakpoint_table_short(struct breaks *breaks, size_t missing, const char *why);

/* A text to print: a log point's text, or why a condition failed. */
struct break_said {
	int id; /* of the breakpoint */
	char *text;
};

struct break_hit {
	int ids[STOP_HITS_MAXIMUM]; /* ids of the breakpoints that stop at this event */
	size_t count;
	struct break_said *said;
	size_t said_count;
};

/*
 * Handles a line event in `frame`, in the thread whose PyThreadState is at tstate. Updates hit and
 * ignore counts, and marks temporary breakpoints as spent. Returns true if the thread stops, for
 * the breakpoints in *hit. In both cases the caller calls break_hit_clear().
 */
bool breakpoint_table_hit(struct breaks *breaks, const struct bytecode *code, int line,
			  uint64_t frame, uint64_t tstate, struct break_hit *hit);
void break_hit_clear(struct break_hit *hit);
/* Texts that one log point prints per second, at most; further texts are only counted. */
#define BREAK_SAID_MAXIMUM 100
/*
 * Fills *hit, which must be empty, with a text per log point that has left out texts: how many it
 * left out in a second that was over before `now` (loop_now()). now INFINITY: in the current
 * second, too.
 */
void breakpoint_table_left_out(struct breaks *breaks, double now, struct break_hit *hit);
/* Appends the state of each breakpoint to debugger->bindings. */
void breakpoint_table_describe(const struct breaks *breaks, struct debugger *debugger);
/*
 * Returns the body of the answer to `setBreakpoints`, owned by the caller: {"breakpoints": […]},
 * with "pending" true for breakpoints whose code is not loaded yet.
 */
json_t *breakpoint_table_to_json(const struct breaks *breaks);

#endif
