/*
 * pyexpression: evaluates a Python expression by reading the memory of the process, without running
 * code in the process. Supported are names (locals, cells, globals, builtins' constants),
 * attributes, [index], ["key"], [start:stop:step] of list, tuple, str, bytes and tensors, len(),
 * numbers, strings, True, False, None, comparisons (chained, is, in), `and`, `or`, `not`, x if y
 * else z, + - * ** // % / and bit operations on numbers (int of up to 4,300 digits), + of two str
 * or two bytes, parentheses.
 *
 * An operation that could run code of the program is refused with an error: properties, attributes
 * from __getattr__, objects whose class defines __eq__ or __len__. Its result is never guessed.
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

/* Parses an expression. Returns NULL on failure; error then names the column of the mistake. */
struct pyexpression *pyexpression_parse(const char *text, struct error *error);
/* Like pyexpression_parse(), but error says that the condition is wrong. */
struct pyexpression *pyexpression_parse_condition(const char *text, struct error *error);
void pyexpression_free(struct pyexpression *expression);
/* Whether the expression is a single name. */
bool pyexpression_is_name(const struct pyexpression *expression);
/* Calls each() for every name in the expression, not for attributes, until each() returns false. */
void pyexpression_each_name(const struct pyexpression *expression,
			    bool (*each)(const char *name, void *data), void *data);
/* Returns the truth of the expression in the frame, 1 or 0; returns -1 and sets error on
 * failure. */
int pyexpression_test(const struct pyexpression *expression, struct pyreader *reader,
		      const struct pyobject_frame *frame, struct error *error);
/*
 * Evaluates the expression and fills *variable, whose name is the expression's text. Returns 0, or
 * -1 and sets error.
 */
int pyexpression_show(const struct pyexpression *expression, struct pyreader *reader,
		      const struct pyobject_frame *frame, struct variable *variable,
		      struct error *error);
/* Details of a value that pyexpression_read() evaluated. */
struct pyexpression_value {
	uint64_t address; /* address of the object; 0: a computed value, which is not in the
			   * process */
	bool has_tensor;  /* the value has elements (tensor, array, bytes …), described by
			   * `tensor` */
	struct pytensor tensor;
	/* What pyexpression_read_again() needs to reread `whole`: */
	uint64_t source; /* address of the object that is the tensor or contains it */
	bool is_unseen;	 /* tensor is, or is part of, source's gradient, which has no Python
			  * object */
	bool is_column;	 /* tensor is a column of source, which is a DataFrame */
	int64_t column;
	struct pytensor whole;
};
int pyexpression_read(const struct pyexpression *expression, struct pyreader *reader,
		      const struct pyobject_frame *frame, struct variable *variable,
		      struct pyexpression_value *value, struct error *error);
/* Like pyexpression_read(), for the object at address, without a frame; does not set the name of
 * *variable. */
int pyexpression_read_object(struct pyreader *reader, uint64_t address, struct variable *variable,
			     struct pyexpression_value *value, struct error *error);
/* Rereads value->whole in its present state. Returns 0, or -1 if it is unreadable. */
int pyexpression_read_again(const struct pyexpression_value *value, struct pyreader *reader,
			    struct pytensor *whole);
/* Identifies a function as long as one of its frames exists. */
struct pyname_code {
	uint64_t code;
	uint64_t names; /* address of the tuple of the variables' names */
};
/*
 * State of a search through stopped frames for a frame in which all names of an expression are
 * defined (builtin names always are). The search remembers what it has read for earlier frames, so
 * the caller starts one memory snapshot for the whole search. Initialise with zeros.
 */
#define PYEXPRESSION_NAMES 16
#define PYEXPRESSION_GLOBALS 64
#define PYEXPRESSION_CODES 32
struct pyexpression_search {
	int builtins[PYEXPRESSION_NAMES]; /* for each name: 1: a builtin, -1: not a builtin, 0:
					   * unknown */
	struct {
		uint64_t globals;
		bool is_seen;
	} judged[PYEXPRESSION_GLOBALS];
	size_t judged_count;
	/* Functions that lack a variable of the expression, so that the many frames of a recursion
	 * are judged once. */
	struct pyname_code strangers[PYEXPRESSION_CODES];
	size_t stranger_count;
};
/* Whether all names, except builtins, are bound variables or cells of the frame. */
bool pyexpression_is_own(const struct pyexpression *expression, struct pyreader *reader,
			 const struct pyobject_frame *frame, struct pyexpression_search *search);
/* Whether all names are bound in the frame's locals, globals or builtins. */
bool pyexpression_is_seen(const struct pyexpression *expression, struct pyreader *reader,
			  const struct pyobject_frame *frame, struct pyexpression_search *search);
/*
 * Finds the memory that an assignment to the expression would change: the slot of a local or cell,
 * the value of a dict entry, an item of a list, a slot of an instance, an element of a CPU tensor,
 * numpy array, array.array or bytearray; the expression "*0xADDRESS:LENGTH" names the memory
 * itself. pyexpression_place() returns 0, or -1 and sets error.
 */
struct pyexpression_place {
	uint64_t address;
	int length;	/* length of the memory in bytes: 1, 2, 4 or 8 */
	bool is_object; /* the memory holds a pointer to an object */
	char format;	/* an element's letter in the struct module; 0: not an element */
	/*
	 * Address of the object that contains the memory (a dict, list, instance, cell or tensor);
	 * 0: the frame, or unknown.
	 */
	uint64_t owner;
	/*
	 * Address of a word that CPython writes when the value moves or is added again; 0: none.
	 * `owner` and `guard` are set even if the last name or index does not exist.
	 */
	uint64_t guard;
	bool is_count; /* the word at `guard` is the number of keys of the dict */
};
int pyexpression_place(const struct pyexpression *expression, struct pyreader *reader,
		       const struct pyobject_frame *frame, struct pyexpression_place *place,
		       struct error *error);
/*
 * Like pyexpression_place(), without a frame: looks up only the expression's last name or index, in
 * an owner that was found before.
 */
int pyexpression_place_again(const struct pyexpression *expression, struct pyreader *reader,
			     uint64_t owner, struct pyexpression_place *place, struct error *error);
/* Whether the place is a slot of the frame, and so ends with the frame. */
bool pyexpression_is_local(const struct pyexpression *expression,
			   const struct pyexpression_place *place);

#endif
