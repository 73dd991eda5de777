/*
 * stack: frames, and the table in which each different stack and code object
 * stands once.
 *
 * Both programs keep a table: the node's interns what it reads and remembers
 * what it sent; the screen's fills from messages. A stack or code lives as
 * long as its table, so pointers into it may be kept; two equal stacks of one
 * table are the same pointer. Bounds below hold for everything that travels.
 * A node that follows for days begins a new table from time to time and says
 * so (the event `stacksDropped`); ids are then given anew.
 */
#ifndef PROTOCOL_STACK_H
#define PROTOCOL_STACK_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct error;

/* A deeper stack keeps its innermost frames and says what it dropped. */
#define STACK_FRAMES_MAXIMUM 20000

enum frame_type {
	FRAME_PYTHON,
	FRAME_NATIVE,
};

struct code {
	uint64_t id;	/* of the table, from 1 on */
	char *func;	/* co_name */
	char *qualname; /* co_qualname; NULL below 3.11 */
	char *file;	/* co_filename, as the interpreter has it */
	int first_lineno;
	enum frame_type type;
};

struct frame {
	const struct code *code;
	int lineno; /* 0: unknown */
};

struct stack {
	uint64_t id;	      /* of the table, from 1 on */
	struct frame *frames; /* [0] is innermost */
	size_t frame_count;
	size_t dropped_count; /* outermost frames not kept */
	bool is_sent;
};

struct stack_table;

struct stack_table *stack_table_new(void);
void stack_table_free(struct stack_table *table);

/* Interns a code object; copies the strings. Equal contents: equal pointer. */
const struct code *stack_table_code(struct stack_table *table, const struct code *contents);
/* Interns a stack of frames whose codes are of this table. */
const struct stack *stack_table_stack(struct stack_table *table, const struct frame *frames,
				      size_t frame_count, size_t dropped_count);
const struct stack *stack_table_find(const struct stack_table *table, uint64_t id);
/*
 * Whether so many stacks, or what they are made of, are in the table that it
 * is time to begin a new one. The receiver's bounds are far above that of
 * STACK_TABLE_FULL.
 */
#define STACK_TABLE_FULL 200000
bool stack_table_is_full(const struct stack_table *table, size_t stacks_maximum);
/*
 * Interns a stack of another table, which the sender of this one's contents
 * knows nothing of: if that sends an equal one it is the same pointer. NULL:
 * the table is half full of such already.
 */
const struct stack *stack_table_carry(struct stack_table *table, const struct stack *stack);
const struct code *stack_table_carry_code(struct stack_table *table, const struct code *code);
/*
 * Interns a stack of another table, of which nothing else comes here. Which
 * stack became which is remembered until stack_table_forget_copies, called
 * before that table goes.
 */
const struct stack *stack_table_copy(struct stack_table *table, const struct stack *stack);
void stack_table_forget_copies(struct stack_table *table);
/*
 * What the other side does not know yet of this stack: {"id", "dropped",
 * "codes": [[id, func, qualname, file, first_lineno, type]…], "frames":
 * [[code id, lineno]…]}; NULL when it was sent before. Marks it sent.
 */
json_t *stack_table_send(struct stack_table *table, const struct stack *stack);
/*
 * Takes in such an object; refuses ids and counts out of bounds. Ids are the
 * sender's, so a table receives from one sender.
 */
int stack_table_receive(struct stack_table *table, const json_t *object, struct error *error);

#endif
