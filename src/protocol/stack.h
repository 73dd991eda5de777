/*
 * stack: stacks of frames, and a table that stores each different stack and code object once.
 *
 * Both programs have a table: the node interns the stacks that it reads and marks those that it has
 * sent; the screen fills its table from messages. A stack or code lives as long as its table, so
 * pointers to it may be kept; equal stacks of one table have one address. The limits below apply to
 * all messages. A node whose table is full starts a new table and sends the event `stacksDropped`;
 * ids then begin again from 1.
 */
#ifndef PROTOCOL_STACK_H
#define PROTOCOL_STACK_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct error;

/* Maximum number of frames; the outermost frames of a deeper stack are dropped and counted. */
#define STACK_FRAMES_MAXIMUM 20000

enum frame_type {
	FRAME_PYTHON,
	FRAME_NATIVE,
};

struct code {
	uint64_t id;	/* id in the table, from 1 */
	char *func;	/* co_name */
	char *qualname; /* co_qualname; NULL: before Python 3.11 */
	char *file;	/* co_filename, unchanged */
	int first_lineno;
	enum frame_type type;
};

struct frame {
	const struct code *code;
	int lineno; /* 0: unknown */
};

struct stack {
	uint64_t id;	      /* id in the table, from 1 */
	struct frame *frames; /* [0] is innermost */
	size_t frame_count;
	size_t dropped_count; /* outermost frames that were dropped */
	bool is_sent;
};

struct stack_table;

struct stack_table *stack_table_new(void);
void stack_table_free(struct stack_table *table);

/* Interns a code object and copies its strings; equal contents have one address. */
const struct code *stack_table_code(struct stack_table *table, const struct code *contents);
/* Interns a stack of frames whose code objects are in this table; equal stacks have one address. */
const struct stack *stack_table_stack(struct stack_table *table, const struct frame *frames,
				      size_t frame_count, size_t dropped_count);
const struct stack *stack_table_find(const struct stack_table *table, uint64_t id);
/*
 * STACK_TABLE_FULL is the usual stacks_maximum; the limits for received stacks are far higher. True
 * if the table has stacks_maximum stacks or code objects, or as many frames or as much text as that
 * many usually have: time to start a new table.
 */
#define STACK_TABLE_FULL 200000
bool stack_table_is_full(const struct stack_table *table, size_t stacks_maximum);
/*
 * Interns a stack, or a code object, of another table in a table that also receives from a sender;
 * an equal one of the sender gets the same address. NULL: the table is half full.
 */
const struct stack *stack_table_carry(struct stack_table *table, const struct stack *stack);
const struct code *stack_table_carry_code(struct stack_table *table, const struct code *code);
/*
 * Interns a stack of another table in a table without a sender. The table remembers its copies by
 * address until stack_table_forget_copies(), which must be called before the other table is freed.
 */
const struct stack *stack_table_copy(struct stack_table *table, const struct stack *stack);
void stack_table_forget_copies(struct stack_table *table);
/*
 * Returns the parts of a stack that were not sent yet, and marks them as sent: {"id", "dropped",
 * "codes": [[id, func, qualname, file, first_lineno, type]…], "frames": [[code id, lineno]…]};
 * NULL: the stack was sent before.
 */
json_t *stack_table_send(struct stack_table *table, const struct stack *stack);
/*
 * Interns an object of stack_table_send(). Returns 0; -1 and *error: an id or count is out of
 * bounds. The ids are those of the sender's table, so a table can have only one sender.
 */
int stack_table_receive(struct stack_table *table, const json_t *object, struct error *error);

#endif
