/*
 * watchpoints-private: what the parts of watched share: watchpoints.c has the list
 * and tells of it, watchpoint-hit.c knows what a write means, watchpoint-value.c reads
 * what stands there.
 */
#ifndef BACKENDS_PTRACE_WATCHPOINTS_PRIVATE_H
#define BACKENDS_PTRACE_WATCHPOINTS_PRIVATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "backends/cpython/pyobject.h"
#include "backends/expression/pyexpression.h"
#include "backends/ptrace/watchpoints.h"
#include "protocol/breakpoint.h"

enum watched_state {
	WATCHED_UNSET, /* why says the message */
	WATCHED_SET,
	WATCHED_ENDED, /* the message says so; it is never set again */
	WATCHED_SPENT, /* a temporary one that has stopped */
};

/* What stood there when we last looked. */
struct watched_value {
	uint64_t word; /* the object, or the bytes */
	uint64_t of;   /* the object's type */
	int64_t size;  /* characters of a str: it may grow in its place */
	char *type;    /* its name; NULL of bytes */
	char *text;    /* "gone": it cannot be found now */
};

struct watched_entry {
	struct breakpoint wanted;
	enum watched_state state;
	char *message; /* NULL: there is nothing to say */
	struct pyexpression *expression;
	struct pyexpression *condition;
	struct pyobject_frame frame; /* address 0: of a place in memory */
	uint64_t code;		     /* that the frame runs */
	bool is_generator;
	bool is_local;
	bool is_lent;			 /* its word serves an inlined comprehension now */
	struct pyexpression_place place; /* address 0: gone */
	uint64_t owner_type;
	uint64_t keys; /* table of the dict that it was last found in */
	struct watched_value value;
	int hits;
	int ignore_left;
	char *failure;	 /* of its condition, to be said; NULL: none */
	bool has_failed; /* and that was told */
};

struct watched {
	struct memory *memory; /* our own */
	const struct cpython *python;
	struct watched_entry *entries;
	size_t count;
	size_t capacity;
	size_t missing;
	uint64_t revision;
};

/* watchpoint-value.c */

void watched_value_clear(struct watched_value *value);
/* What stands there now. */
void watched_value_read(struct watched *watched, const struct pyexpression_place *place,
			struct watched_value *value);
bool watched_value_is_gone(const struct watched_value *value);
/* Whether no program could tell them apart. */
bool watched_value_is_same(const struct watched_value *before, const struct watched_value *now);
/* Reads an object again that may have changed in its place. */
void watched_value_refresh(struct watched *watched, struct watched_value *value);
/*
 * From 3.11 on s += t makes the str longer where it is before it has t's
 * characters: puts both texts right. frame: that it runs in.
 */
void watched_value_complete(struct watched *watched, uint64_t frame, struct watched_value *before,
			    struct watched_value *now);
/* A word past the snapshot; 0, or -1. */
int watched_fetch(const struct watched *watched, uint64_t address, uint64_t *word);
/* Whether it is an object of that type, or memory of one that was freed. */
bool watched_object_lives(const struct watched *watched, uint64_t object, uint64_t type);
bool watched_is_counted(const struct watched *watched, uint64_t object);

/* What the instruction that a frame is at has to do with a write. */
enum watched_writer {
	WATCHED_WRITER_ANY,
	WATCHED_WRITER_LENDS,	/* takes a local's word for a comprehension */
	WATCHED_WRITER_RETURNS, /* may give it back */
	WATCHED_WRITER_ADDS,	/* s += t */
};
enum watched_writer watched_writer(const struct watched *watched, uint64_t frame);

/* watchpoints.c, watchpoint-hit.c */

bool watchpoints_entry_is_on(const struct watched_entry *entry);
/* Looks its expression up, or the message says why not. */
void watched_entry_find(struct watched *watched, struct watched_entry *entry,
			const struct watchpoints_frames *frames);
/* Takes what stands there now as its value. */
void watched_entry_refresh(struct watched *watched, struct watched_entry *entry);

#endif
