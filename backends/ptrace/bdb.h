/*
 * bdb: decides where bdb.py, the debugger of Python's standard library, would
 * stop: bdb's state (stopframe, returnframe, stoplineno; from 3.13.6 on
 * cmdframe and cmdlineno) and bdb's rules for each trace event.
 *
 * One rule differs from bdb's: after `next`, the thread also stops at the return that ends a
 * generator or coroutine, as at a function's return. bdb does not stop at that return, and then
 * never stops again, because its stopframe never runs again.
 *
 * A frame is represented by its address. The functions that are named like bdb's commands
 * (bdb_step(), bdb_next(), ...) set the state as that command of bdb does.
 */
#ifndef BACKENDS_PTRACE_BDB_H
#define BACKENDS_PTRACE_BDB_H

#include <stdbool.h>
#include <stdint.h>

#define BDB_ANYWHERE UINT64_C(0) /* value of stop_frame: every frame */
#define BDB_NOWHERE UINT64_C(1)	 /* value of stop_frame: no frame */

struct bdb {
	bool is_once_a_line; /* this Python's bdb has cmdframe */
	uint64_t stop_frame;
	uint64_t return_frame; /* frame whose return stops, too; 0: none */
	int stop_line;	       /* smallest line number that stops; -1: no line stops */
	uint64_t command_frame;
	int command_line;
};

/* The facts about a trace event that bdb's rules need. */
struct bdb_event {
	uint64_t frame;
	int line;
	bool is_generator; /* frame of a generator or coroutine */
	bool is_last;	   /* for a return event: the return ends the frame (no yield) */
};

/* version: PY_VERSION_HEX of the interpreter. Until a command is set, nothing stops. */
void bdb_init(struct bdb *bdb, uint32_t version);
void bdb_continue(struct bdb *bdb);
/* event: the event at which the thread has stopped. */
void bdb_step(struct bdb *bdb, const struct bdb_event *event);
void bdb_next(struct bdb *bdb, uint64_t frame, int line);
/* From now on stops in frame at `line` or at a greater line, or at the frame's return. */
void bdb_until(struct bdb *bdb, uint64_t frame, int line);
/* caller: frame's caller; 0: none. is_endless: the next return event may be a yield, which does not
 * end the frame. */
void bdb_finish(struct bdb *bdb, uint64_t frame, uint64_t caller, bool is_endless);

/* Return whether bdb stops at the event, which is a line, call, return or exception event,
 * respectively. is_break: a breakpoint stops at the line. */
bool bdb_line(const struct bdb *bdb, const struct bdb_event *event, bool is_break);
bool bdb_call(const struct bdb *bdb, const struct bdb_event *event);
bool bdb_return(const struct bdb *bdb, const struct bdb_event *event);
bool bdb_exception(const struct bdb *bdb, const struct bdb_event *event);
/* To be called when the thread is resumed from a stop at a return event: `next` in the returning
 * frame becomes `step`. */
void bdb_returned(struct bdb *bdb, const struct bdb_event *event);

#endif
