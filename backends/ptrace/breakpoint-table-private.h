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
	ENTRY_WRONG,   /* the breakpoint's condition or log text is invalid */
	ENTRY_BOUND,
	ENTRY_SPENT, /* a temporary breakpoint that has stopped once */
};

/* A code object in which the breakpoint is set. */
struct break_place {
	uint64_t code;
	uint64_t signature; /* hash of file, name and first line */
	int line;	    /* line at which the breakpoint stops */
	uint64_t *watched;  /* addresses of the code units to watch */
	size_t count;
};

struct break_entry {
	struct breakpoint wanted;
	struct pyexpression *condition; /* NULL: none */
	struct logpoint *log;		/* NULL: no log point */
	enum entry_state state;
	char *message; /* why the breakpoint is not bound, or a remark; NULL: none */
	char *file;    /* source file of the first place; NULL: not bound */
	int line;
	struct break_place *places;
	size_t count;
	size_t capacity;
	int hits;
	int ignore_left;
	char *failure;	     /* newest failure of the condition; NULL: none */
	double speaks_since; /* loop_now() at which the log point's current second began */
	int said;	     /* texts printed in that second */
	uint64_t left_out;   /* texts left out in that second */
	bool was_far;	     /* all reachable objects were searched for the breakpoint's code */
};

struct break_watch_request {
	uint64_t address; /* address of the unit to watch */
	uint64_t code;
};

struct breaks {
	struct memory *memory;	/* owned */
	struct memory *trapped; /* borrowed; has a snapshot of the memory of a trapped thread */
	const struct cpython *python;
	struct bytecode_cache *bytecodes;
	struct codes *codes;
	struct break_entry *entries;
	size_t count;
	size_t capacity;
	uint64_t looked; /* code_search_revision() at the last search for code */
	uint64_t revision;
	uint64_t told; /* hash of the entries' states and messages, to notice their changes */
	/* The units to watch, in the order of entries, each address once. */
	struct break_watch_request *watch_requests;
	size_t watch_request_count;
	size_t watch_request_capacity;
	size_t missing; /* so many watch requests, the last ones, have no watch */
	char *failure;	/* why the watches of these requests could not be set; NULL: no slot was
			 * free */
};

/* Whether the breakpoint is enabled and could stop, now or when its code is loaded. */
bool break_entry_is_on(const struct break_entry *entry);
/* Recomputes the watch requests. */
void breakpoint_table_request_again(struct breaks *breaks);

/* A cache of found code, used while several breakpoints are bound. */
struct break_search {
	struct breaks *breaks;
	struct break_found *found;
	size_t count;
	size_t capacity;
	bool is_far; /* also search all reachable objects for lines that are found nowhere else */
};

void break_search_clear(struct break_search *search);
/*
 * Finds the places of the entry's breakpoint, and sets the entry's state and message. In a repeated
 * call, places whose code is unchanged are kept.
 */
void break_bind(struct break_entry *entry, struct break_search *search);
/* Adds the entry's places in a code object that is about to run. nested: the code object and all
 * code objects nested in it. */
void break_bind_starting(struct break_entry *entry, struct breaks *breaks, uint64_t code,
			 const struct code_list *nested);
/*
 * Returns a name in the condition that is undefined in every place of the entry, to be freed by the
 * caller. NULL: there is no such name, or that is unknown.
 */
char *break_unknown_name(struct breaks *breaks, const struct break_entry *entry);
/* Returns a hash of file, name and first line, which shows that other code is at the same address
 * now. */
uint64_t break_signature(const struct bytecode *code);
void break_places_clear(struct break_entry *entry);

#endif
