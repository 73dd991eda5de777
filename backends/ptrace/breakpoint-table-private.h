/*
 * breakpoint-table-private: the contents of struct breaks: one entry for each breakpoint,
 * bound by breakpoint-bind.c, hit in breakpoint-hit.c, reported by breakpoint-table.c.
 */
#ifndef BACKENDS_PTRACE_BREAKPOINT_TABLE_PRIVATE_H
#define BACKENDS_PTRACE_BREAKPOINT_TABLE_PRIVATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "backends/ptrace/breakpoint-table.h"
#include "protocol/debugger.h"

struct break_found;
struct code_list;
struct logpoint;
struct pyexpression;

enum entry_state {
	ENTRY_PENDING, /* no code of the file or function is loaded */
	ENTRY_ABSENT,  /* code of the file is loaded, but none with the line yet */
	ENTRY_REFUSED, /* the file or function is loaded, and the line has no code */
	ENTRY_WRONG,   /* its condition or log text is invalid */
	ENTRY_BOUND,
	ENTRY_SPENT, /* temporary, and it has stopped */
};

/* A code object that has the breakpoint. */
struct break_place {
	uint64_t code;
	uint64_t signature; /* hash of file, name and first line */
	int line;	    /* line where the breakpoint stops */
	uint64_t *watched;  /* addresses of the units to watch */
	size_t count;
};

struct break_entry {
	struct breakpoint wanted;
	struct pyexpression *condition; /* NULL: none */
	struct logpoint *log;		/* NULL: no log point */
	enum entry_state state;
	char *message; /* why it is not bound, or a remark; NULL: none */
	char *file;    /* file of the first place; NULL: not bound */
	int line;
	struct break_place *places;
	size_t count;
	size_t capacity;
	int hits;
	int ignore_left;
	char *failure;	     /* newest failure of the condition; NULL: none */
	double speaks_since; /* loop_now() at the start of the log point's current second */
	int said;	     /* texts printed in that second */
	uint64_t left_out;   /* texts left out in that second */
	bool was_far;	     /* all reachable objects were searched for it */
};

struct break_watch_request {
	uint64_t address; /* of the unit to watch */
	uint64_t code;
};

struct breaks {
	struct memory *memory;	/* owned */
	struct memory *trapped; /* borrowed; has the snapshot of a trapped thread */
	const struct cpython *python;
	struct bytecode_cache *bytecodes;
	struct codes *codes;
	struct break_entry *entries;
	size_t count;
	size_t capacity;
	uint64_t looked; /* code_search_revision() when code was last looked for */
	uint64_t revision;
	uint64_t told; /* hash of the entries' states and messages */
	/* Without duplicate addresses, in the order of entries. */
	struct break_watch_request *watch_requests;
	size_t watch_request_count;
	size_t watch_request_capacity;
	size_t missing; /* number of the last watch requests that have no watch */
	char *failure;	/* why the last requests failed; NULL: there was no free slot */
};

/* The breakpoint is enabled and could stop, now or when its code is loaded. */
bool break_entry_is_on(const struct break_entry *entry);
/* Computes the watch requests again. */
void breakpoint_table_request_again(struct breaks *breaks);

/* A cache of found code, used while several breakpoints are bound. */
struct break_search {
	struct breaks *breaks;
	struct break_found *found;
	size_t count;
	size_t capacity;
	bool is_far; /* search all reachable objects for lines found nowhere else */
};

void break_search_clear(struct break_search *search);
/*
 * Finds the entry's places again, and sets its state and message. Places whose
 * code is unchanged are kept. May be repeated.
 */
void break_bind(struct break_entry *entry, struct break_search *search);
/* Adds places in a code object that is about to run; nested: that code and the code in it. */
void break_bind_starting(struct break_entry *entry, struct breaks *breaks, uint64_t code,
			 const struct code_list *nested);
/*
 * Returns an undefined name of the condition, if each of the entry's places has
 * one; the caller frees it. NULL: there is none, or it is unknown.
 */
char *break_unknown_name(struct breaks *breaks, const struct break_entry *entry);
/* Hash of file, name and first line: differs if the code at an address was replaced. */
uint64_t break_signature(const struct bytecode *code);
void break_places_clear(struct break_entry *entry);

#endif
