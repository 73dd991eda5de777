/*
 * pyexpression: an expression of Python compared from outside, without
 * running anything in the process: names (locals, cells, globals, builtins'
 * constants), attributes, [index], ["key"], [start:stop:step] of list, tuple,
 * str, bytes and tensors, len(), numbers, strings, True, False, None,
 * comparisons (chained, is, in), and, or, not, x if y else z, + - * ** // % /
 * and bits over numbers (int of up to 4,300 digits), + of two str or two
 * bytes, parentheses.
 *
 * What could run code in the process is refused with a sentence, never
 * guessed: attributes that are properties or come from __getattr__, objects
 * with an __eq__ or __len__ of their own.
 */
#ifndef BACKENDS_EXPRESSION_PYEXPRESSION_H
#define BACKENDS_EXPRESSION_PYEXPRESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "backends/cpython/pytensor.h"

struct error;
struct pyexpression;
struct pyobject_frame;
struct pyreader;
struct variable;

/* NULL and a sentence with the column where it is wrong. */
struct pyexpression *pyexpression_parse(const char *text, struct error *error);
/* The same; the sentence says that it is the condition. */
struct pyexpression *pyexpression_parse_condition(const char *text, struct error *error);
void pyexpression_free(struct pyexpression *expression);
/* Whether it is a name and nothing else. */
bool pyexpression_is_name(const struct pyexpression *expression);
/* Calls each for every name in it, attributes left out, until that is false. */
void pyexpression_each_name(const struct pyexpression *expression,
			    bool (*each)(const char *name, void *data), void *data);
/* Its truth in that frame: 1, 0, or -1 and why it cannot be told. */
int pyexpression_test(const struct pyexpression *expression, struct pyreader *reader,
		      const struct pyobject_frame *frame, struct error *error);
/* Its value, as a variable is shown (name is the expression). */
int pyexpression_show(const struct pyexpression *expression, struct pyreader *reader,
		      const struct pyobject_frame *frame, struct variable *variable,
		      struct error *error);
/* The same, and what else there is to it. */
struct pyexpression_value {
	uint64_t address; /* of the object; 0: it was computed here */
	bool has_tensor;  /* it is one, or an array, bytes … */
	struct pytensor tensor;
	/* What is read again to see whether tensor is what it was. */
	uint64_t source; /* the object that tensor is a part of */
	bool is_unseen;	 /* or of its gradient */
	bool is_column;	 /* or one of a DataFrame's */
	int64_t column;
	struct pytensor whole;
};
int pyexpression_read(const struct pyexpression *expression, struct pyreader *reader,
		      const struct pyobject_frame *frame, struct variable *variable,
		      struct pyexpression_value *value, struct error *error);
/* Of an object whatever names it; variable's name is not set. */
int pyexpression_read_object(struct pyreader *reader, uint64_t address, struct variable *variable,
			     struct pyexpression_value *value, struct error *error);
/* What its whole is now; -1: nothing that it could be. */
int pyexpression_read_again(const struct pyexpression_value *value, struct pyreader *reader,
			    struct pytensor *whole);
/* A function, as long as it has a frame. */
struct pyname_code {
	uint64_t code;
	uint64_t names; /* the tuple that it has its variables' names in */
};
/*
 * A search for the frame that an expression is about, among frames that stand
 * still meanwhile: what was read for one is not read again for the next, and
 * the reader has begun its memory's snapshot. Python's own names do not count.
 * Begins zeroed.
 */
#define PYEXPRESSION_NAMES 16
#define PYEXPRESSION_GLOBALS 64
#define PYEXPRESSION_CODES 32
struct pyexpression_search {
	int builtins[PYEXPRESSION_NAMES]; /* 1: it is one, -1, 0: not known */
	struct {
		uint64_t globals;
		bool is_seen;
	} judged[PYEXPRESSION_GLOBALS];
	size_t judged_count;
	/* Functions without all of the names; a recursion has many frames. */
	struct pyname_code strangers[PYEXPRESSION_CODES];
	size_t stranger_count;
};
/* Whether all names are the frame's variables or cells, and have values. */
bool pyexpression_is_own(const struct pyexpression *expression, struct pyreader *reader,
			 const struct pyobject_frame *frame, struct pyexpression_search *search);
/* Whether all names mean something there. */
bool pyexpression_is_seen(const struct pyexpression *expression, struct pyreader *reader,
			  const struct pyobject_frame *frame, struct pyexpression_search *search);
/*
 * Where the value stands that a write would change: a local's or cell's slot,
 * a dict entry's value, a list's item, a slot of an instance, an element of a
 * CPU tensor, numpy array, array.array or bytearray; "*0xADDRESS:LENGTH" is
 * itself. -1 and why there is none.
 */
struct pyexpression_place {
	uint64_t address;
	int length;	/* 1, 2, 4 or 8 */
	bool is_object; /* what stands there is a pointer to an object */
	char format;	/* of what is no object, as struct.pack names it; 0 */
	/*
	 * The object whose part it is: a dict, a list, an instance, a cell, a
	 * tensor. 0: the frame, or no more is known than the address.
	 */
	uint64_t owner;
	/*
	 * A word that is written when the place may have moved, or come back;
	 * 0: none. Both are set also where the last name or index is missing.
	 */
	uint64_t guard;
	bool is_count; /* that word is how many keys the dict has */
};
int pyexpression_place(const struct pyexpression *expression, struct pyreader *reader,
		       const struct pyobject_frame *frame, struct pyexpression_place *place,
		       struct error *error);
/*
 * The same without a frame, from the owner that was found before: only the
 * expression's last name or index is looked up again.
 */
int pyexpression_place_again(const struct pyexpression *expression, struct pyreader *reader,
			     uint64_t owner, struct pyexpression_place *place, struct error *error);
/* Whether the place goes with its frame. */
bool pyexpression_is_local(const struct pyexpression *expression,
			   const struct pyexpression_place *place);

#endif
