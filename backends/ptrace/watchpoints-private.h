/*
 * watchpoints-private: the declarations that the files of watchpoints share. watchpoints.c keeps
 * and reports the list and reads the watched values, watchpoint-hit.c handles writes.
 */
#ifndef BACKENDS_PTRACE_WATCHPOINTS_PRIVATE_H
#define BACKENDS_PTRACE_WATCHPOINTS_PRIVATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "backends/cpython/pyobject.h"
#include "backends/expression/pyexpression.h"
#include "backends/ptrace/watchpoints.h"
#include "protocol/debugger.h"

enum watched_state {
	WATCHED_UNSET, /* could not be set; the message says why */
	WATCHED_SET,
	WATCHED_ENDED, /* the watch has ended for good; the message says why */
	WATCHED_SPENT, /* a temporary data breakpoint that has stopped once */
};

/* The value of a watched place when it was last read. */
struct watched_value {
	uint64_t word; /* the watched word: address of an object, or the bytes themselves */
	uint64_t of;   /* address of the object's type */
	int64_t size;  /* number of characters of a str, which may grow in place */
	char *type;    /* name of the object's type; NULL: bytes */
	char *text;    /* the value as text; "gone": the place cannot be found now */
};

struct watched_entry {
	struct breakpoint wanted;
	enum watched_state state;
	char *message; /* why the watch is not set or has failed; NULL: none */
	struct pyexpression *expression;
	struct pyexpression *condition;
	struct pyobject_frame frame; /* frame of the expression; address 0: the watch is of a
				      * place in memory */
	uint64_t code;		     /* address of the frame's code object */
	bool is_generator;
	bool is_local;
	bool is_lent;			 /* an inlined comprehension uses the local's word now */
	struct pyexpression_place place; /* the watched place; address 0: gone */
	uint64_t owner_type;
	uint64_t keys; /* address of the dict's key table when the place was last found */
	struct watched_value value;
	int hits;
	int ignore_left;
	char *failure;	 /* failure of the condition, not reported yet; NULL: none */
	bool has_failed; /* the condition has failed before */
};

struct watched {
	struct memory *memory; /* owned */
	const struct cpython *python;
	struct watched_entry *entries;
	size_t count;
	size_t capacity;
	size_t missing;
	uint64_t revision;
};

/* watchpoints.c: the watched values */

void watched_value_clear(struct watched_value *value);
/* Reads the present value of a place. */
void watched_value_read(struct watched *watched, const struct pyexpression_place *place,
			struct watched_value *value);
bool watched_value_is_gone(const struct watched_value *value);
/* Whether both are the same object, or equal values of a simple type. */
bool watched_value_is_same(const struct watched_value *before, const struct watched_value *now);
/* Rereads an object that may have been changed in place. */
void watched_value_refresh(struct watched *watched, struct watched_value *value);
/*
 * From 3.11 on, s += t enlarges the str in place before t's characters are copied, so the texts of
 * both values are wrong at that moment: corrects them. frame: the frame that runs s += t.
 */
void watched_value_complete(struct watched *watched, uint64_t frame, struct watched_value *before,
			    struct watched_value *now);
/* Reads a word of the process's present memory, not of a snapshot. Returns 0, or -1 on failure. */
int watched_fetch(const struct watched *watched, uint64_t address, uint64_t *word);
/* Whether a live object of this type is at the address `object`. */
bool watched_object_lives(const struct watched *watched, uint64_t object, uint64_t type);
bool watched_is_counted(const struct watched *watched, uint64_t object);

/* What a frame's current instruction does to a watched word. */
enum watched_writer {
	WATCHED_WRITER_ANY,
	WATCHED_WRITER_LENDS,	/* a comprehension begins to use a local's word */
	WATCHED_WRITER_RETURNS, /* may put the local's value back after a comprehension */
	WATCHED_WRITER_ADDS,	/* s += t */
};
enum watched_writer watched_writer(const struct watched *watched, uint64_t frame);

/* watchpoints.c, watchpoint-hit.c */

bool watchpoints_entry_is_on(const struct watched_entry *entry);
/* Finds the place of the expression; on failure, sets the entry's message. */
void watched_entry_find(struct watched *watched, struct watched_entry *entry,
			const struct watchpoints_frames *frames);
/* Rereads the entry's value. */
void watched_entry_refresh(struct watched *watched, struct watched_entry *entry);

#endif
