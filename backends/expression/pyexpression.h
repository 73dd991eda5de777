/*
 * pyexpression: evaluates a Python expression by reading the memory of the process, without running
 * code in the process: names (locals, cells, globals, builtins' constants), attributes, [index],
 * ["key"], [start:stop:step] of list, tuple, str, bytes and tensors, len(), numbers, strings, True,
 * False, None, comparisons (chained, is, in), and, or, not, x if y else z, + - * ** // % / and bits
 * over numbers (int of up to 4,300 digits), + of two str or two bytes, parentheses.
 *
 * An operation that could run code in the process is refused with an error, never guessed:
 * properties, attributes from __getattr__, objects with an __eq__ or __len__ of their own.
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

/* Parses an expression. NULL: *error names the column of the mistake. */
struct pyexpression *pyexpression_parse(const char *text, struct error *error);
/* Like pyexpression_parse(); *error says that the condition is wrong. */
struct pyexpression *pyexpression_parse_condition(const char *text, struct error *error);
void pyexpression_free(struct pyexpression *expression);
/* Whether the expression is a single name. */
bool pyexpression_is_name(const struct pyexpression *expression);
/* Calls each for every name in the expression, without attributes, until each returns false. */
void pyexpression_each_name(const struct pyexpression *expression,
			    bool (*each)(const char *name, void *data), void *data);
/* The expression's truth in the frame: 1, 0, or -1 with *error set. */
int pyexpression_test(const struct pyexpression *expression, struct pyreader *reader,
		      const struct pyobject_frame *frame, struct error *error);
/*
 * Evaluates the expression into variable, whose name is the expression. Returns 0, or -1 with
 * *error set.
 */
int pyexpression_show(const struct pyexpression *expression, struct pyreader *reader,
		      const struct pyobject_frame *frame, struct variable *variable,
		      struct error *error);
/* Details of a value that pyexpression_read() evaluated. */
struct pyexpression_value {
	uint64_t address; /* address of the object; 0: computed, not in the process */
	bool has_tensor;  /* the value has elements: tensor, array, bytes … */
	struct pytensor tensor;
	/* The arguments with which pyexpression_read_again() reads `whole` again. */
	uint64_t source; /* address of the object that tensor is or is a part of */
	bool is_unseen;	 /* tensor belongs to source's gradient, which no Python object wraps */
	bool is_column;	 /* tensor is a column of source, a DataFrame */
	int64_t column;
	struct pytensor whole;
};
int pyexpression_read(const struct pyexpression *expression, struct pyreader *reader,
		      const struct pyobject_frame *frame, struct variable *variable,
		      struct pyexpression_value *value, struct error *error);
/* Reads the object at address, without a frame; does not set variable's name. */
int pyexpression_read_object(struct pyreader *reader, uint64_t address, struct variable *variable,
			     struct pyexpression_value *value, struct error *error);
/* Reads `whole` of the value again, as it is now. Returns 0, or -1: unreadable. */
int pyexpression_read_again(const struct pyexpression_value *value, struct pyreader *reader,
			    struct pytensor *whole);
/* Identifies a function while one of its frames exists. */
struct pyname_code {
	uint64_t code;
	uint64_t names; /* address of the tuple of the variables' names */
};
/*
 * Searches stopped frames for the frame in which an expression has a meaning. The search remembers
 * what was read for earlier frames, so the caller starts one memory snapshot for the whole search.
 * Builtin names need no variable. Initialise with zeros.
 */
#define PYEXPRESSION_NAMES 16
#define PYEXPRESSION_GLOBALS 64
#define PYEXPRESSION_CODES 32
struct pyexpression_search {
	int builtins[PYEXPRESSION_NAMES]; /* of each name: 1: a builtin, -1: none, 0: unknown */
	struct {
		uint64_t globals;
		bool is_seen;
	} judged[PYEXPRESSION_GLOBALS];
	size_t judged_count;
	/* Functions that lack a variable of the expression: a recursion has many frames. */
	struct pyname_code strangers[PYEXPRESSION_CODES];
	size_t stranger_count;
};
/* Whether all names but builtins are bound variables or cells of the frame. */
bool pyexpression_is_own(const struct pyexpression *expression, struct pyreader *reader,
			 const struct pyobject_frame *frame, struct pyexpression_search *search);
/* Whether all names are bound in the frame's locals, globals or builtins. */
bool pyexpression_is_seen(const struct pyexpression *expression, struct pyreader *reader,
			  const struct pyobject_frame *frame, struct pyexpression_search *search);
/*
 * Finds the memory that an assignment to the expression would change: the slot of a local or cell,
 * the value of a dict entry, an item of a list, a slot of an instance, an element of a CPU tensor,
 * numpy array, array.array or bytearray; "*0xADDRESS:LENGTH" is that memory. Returns 0, or -1 with
 * *error set.
 */
struct pyexpression_place {
	uint64_t address;
	int length;	/* bytes: 1, 2, 4 or 8 */
	bool is_object; /* the memory holds a pointer to an object */
	char format;	/* struct module's letter of an element; 0: no element */
	/*
	 * Address of the object that contains the memory: a dict, list, instance, cell or tensor.
	 * 0: the frame, or unknown.
	 */
	uint64_t owner;
	/*
	 * Address of a word that CPython writes when the value moves or is added again; 0: none.
	 * owner and guard are set even if the last name or index does not exist.
	 */
	uint64_t guard;
	bool is_count; /* guard is the number of keys of the dict */
};
int pyexpression_place(const struct pyexpression *expression, struct pyreader *reader,
		       const struct pyobject_frame *frame, struct pyexpression_place *place,
		       struct error *error);
/*
 * Like pyexpression_place() without a frame, from an owner found before: only the expression's last
 * name or index is looked up again.
 */
int pyexpression_place_again(const struct pyexpression *expression, struct pyreader *reader,
			     uint64_t owner, struct pyexpression_place *place, struct error *error);
/* Whether the place is a slot of the frame and ends with the frame. */
bool pyexpression_is_local(const struct pyexpression *expression,
			   const struct pyexpression_place *place);

#endif
