/*
 * breakpoint-table-private: what breaks is made of: one entry a breakpoint, which is
 * bound (breakpoint-bind.c), hit (breakpoint-hit.c) and told of (breakpoint-report.c).
 */
#ifndef BACKENDS_PTRACE_BREAKPOINT_TABLE_PRIVATE_H
#define BACKENDS_PTRACE_BREAKPOINT_TABLE_PRIVATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "backends/ptrace/breakpoint-table.h"
#include "protocol/breakpoint.h"

struct break_found;
struct code_list;
struct logpoint;
struct pyexpression;

enum entry_state {
	ENTRY_PENDING, /* no code of its file, or function, is known */
	ENTRY_ABSENT,  /* there is such code, its line is not in it yet */
	ENTRY_REFUSED, /* that line is in such code, and has none of its own */
	ENTRY_WRONG,   /* its condition or text does not make sense */
	ENTRY_BOUND,
	ENTRY_SPENT, /* it was temporary, and stopped */
};

/* A code object that has the breakpoint. */
struct break_place {
	uint64_t code;
	uint64_t signature; /* of file, name and first line */
	int line;	    /* where it stops there */
	uint64_t *watched;  /* addresses */
	size_t count;
};

struct break_entry {
	struct breakpoint wanted;
	struct pyexpression *condition; /* NULL: none */
	struct logpoint *log;		/* NULL: it stops */
	enum entry_state state;
	char *message; /* why it is not bound, or what is odd; NULL */
	char *file;    /* where the first place is; NULL: not bound */
	int line;
	struct break_place *places;
	size_t count;
	size_t capacity;
	int hits;
	int ignore_left;
	char *failure;	     /* why its condition could not be told; NULL */
	double speaks_since; /* the second that it has begun to speak in */
	int said;	     /* in that */
	uint64_t left_out;   /* in that */
	bool was_far;	     /* it was looked for everywhere, in vain */
};

struct break_watch_request {
	uint64_t address; /* to watch */
	uint64_t code;
};

struct breaks {
	struct memory *memory;	/* our own */
	struct memory *trapped; /* borrowed: where threads are trapped */
	const struct cpython *python;
	struct bytecode_cache *bytecodes;
	struct codes *codes;
	struct break_entry *entries;
	size_t count;
	size_t capacity;
	uint64_t looked; /* code_search_revision() when code was last looked for */
	uint64_t revision;
	uint64_t told; /* of what became of each */
	/* Each address once, in the order of entries. */
	struct break_watch_request *watch_requests;
	size_t watch_request_count;
	size_t watch_request_capacity;
	size_t missing; /* of them, the last */
	char *failure;	/* why the last requests failed; NULL: there was no free slot */
};

/* It could stop, if its code is there. */
bool break_entry_is_on(const struct break_entry *entry);
/* Makes the watch requests anew. */
void breakpoint_table_request_again(struct breaks *breaks);

/* Lists of code that were found already while several are bound. */
struct break_search {
	struct breaks *breaks;
	struct break_found *found;
	size_t count;
	size_t capacity;
	bool is_far; /* what is found nowhere is looked for everywhere */
};

void break_search_clear(struct break_search *search);
/*
 * Finds the entry's places anew, and says in its state and message what came
 * of it. What it had is kept as long as it is the same code. May be repeated.
 */
void break_bind(struct break_entry *entry, struct break_search *search);
/* The same in a code object that is about to run, and what is nested in it. */
void break_bind_starting(struct break_entry *entry, struct breaks *breaks, uint64_t code,
			 const struct code_list *nested);
/*
 * A name of the condition that can mean nothing in any of the entry's places;
 * the caller frees it. NULL: there is none, or it cannot be told.
 */
char *break_unknown_name(struct breaks *breaks, const struct break_entry *entry);
/* Of file, name and first line: the same code is not another. */
uint64_t break_signature(const struct bytecode *code);
void break_places_clear(struct break_entry *entry);

#endif
