/*
 * bdb: where the standard library's debugger of Python would stop. Its state
 * (stopframe, returnframe, stoplineno; from 3.13.6 on cmdframe and
 * cmdlineno) and the rules by which it stops at an event; nothing else.
 *
 * One rule differs: the last return of a generator or coroutine, the one that
 * ends it, stops like that of a function. bdb passes it by and never stops
 * again, since its stopframe cannot come back.
 *
 * A frame is its address.
 */
#ifndef BACKENDS_PTRACE_BDB_H
#define BACKENDS_PTRACE_BDB_H

#include <stdbool.h>
#include <stdint.h>

#define BDB_ANYWHERE UINT64_C(0) /* a stop frame: all of them */
#define BDB_NOWHERE UINT64_C(1)	 /* none of them */

struct bdb {
	bool is_once_a_line; /* this version has cmdframe */
	uint64_t stop_frame;
	uint64_t return_frame; /* its return stops, too; 0: none */
	int stop_line;	       /* first line that stops; -1: none does */
	uint64_t command_frame;
	int command_line;
};

/* What an event is about. */
struct bdb_event {
	uint64_t frame;
	int line;
	bool is_generator; /* or a coroutine */
	bool is_last;	   /* of a return: the frame ends with it */
};

/* Of an interpreter of PY_VERSION_HEX; it stops nowhere. */
void bdb_init(struct bdb *bdb, uint32_t version);
void bdb_continue(struct bdb *bdb);
/* event: the one that the thread has stopped at. */
void bdb_step(struct bdb *bdb, const struct bdb_event *event);
void bdb_next(struct bdb *bdb, uint64_t frame, int line);
/* Stops at line or below. */
void bdb_until(struct bdb *bdb, uint64_t frame, int line);
/* caller: of frame, 0: none. is_endless: not the next return ends it. */
void bdb_finish(struct bdb *bdb, uint64_t frame, uint64_t caller, bool is_endless);

/* Each: whether it stops at such an event. is_break: a breakpoint does. */
bool bdb_line(const struct bdb *bdb, const struct bdb_event *event, bool is_break);
bool bdb_call(const struct bdb *bdb, const struct bdb_event *event);
bool bdb_return(const struct bdb *bdb, const struct bdb_event *event);
bool bdb_exception(const struct bdb *bdb, const struct bdb_event *event);
/* The thread is resumed from a stop at this return: `next` becomes `step`. */
void bdb_returned(struct bdb *bdb, const struct bdb_event *event);

#endif
