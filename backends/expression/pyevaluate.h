/*
 * pyevaluate: computes the value of a pysyntax tree in a frame.
 *
 * "An error" in this header means that evaluation->error is set.
 */
#ifndef BACKENDS_EXPRESSION_PYEVALUATE_H
#define BACKENDS_EXPRESSION_PYEVALUATE_H

#include <stdbool.h>
#include <stdint.h>

struct pyevaluation;
struct pyexpression_place;
struct pyname_code;
struct pyreader;
struct pysyntax;
struct pytable;
struct pyvalue;

/* Returns 0, or -1 with an error. */
int pyevaluate(struct pyevaluation *evaluation, const struct pysyntax *syntax,
	       struct pyvalue *value);

/* Where a name was found. */
struct pyname {
	uint64_t value; /* address of the object; 0: an unbound local */
	uint64_t place; /* address of the word that holds value; 0: unknown */
	uint64_t owner; /* the dict or cell that contains the word; 0: the frame */
};

/*
 * Resolves a name in the frame: 1: found, 0: no such name, -1: an error. found->value is 0 for an
 * unbound local variable.
 */
int pyname_find(struct pyevaluation *evaluation, const char *name, struct pyname *found);
/* Like pyname_find() for the frame's own variables and cells; -1 sets no error. */
int pyname_find_own(struct pyevaluation *evaluation, const char *name, struct pyname *found);
/* Identifies the frame's function; -1: no function's frame, or unreadable. */
int pyname_code(struct pyevaluation *evaluation, struct pyname_code *code);
/* Finds the dict of the frame's globals; -1: unreadable. */
int pyname_globals(struct pyevaluation *evaluation, uint64_t *globals);
/* Finds a name in the table of a dict. Returns 0: found, -1: not found. */
int pyname_in_table(struct pyreader *reader, const struct pytable *table, const char *name,
		    struct pyname *found);
/* Finds an attribute of a loaded module. Returns 0: found, -1: not found. */
int pyevaluation_module(struct pyevaluation *evaluation, const char *module, const char *name,
			uint64_t *value);
/* Evaluates object.name; place (or NULL) receives the memory that holds the value. -1: an error. */
int pyattribute_get(struct pyevaluation *evaluation, const struct pyvalue *object, const char *name,
		    struct pyvalue *value, struct pyexpression_place *place);
/*
 * Evaluates object[index] of torch.nn's containers of modules and parameters. 1: value is set, 0:
 * the object is no such container, -1: an error.
 */
int pymodule_index(struct pyevaluation *evaluation, const struct pyvalue *object,
		   const struct pyvalue *index, struct pyvalue *value);
/*
 * Evaluate frame[name] and frame.name of pandas' DataFrame, and series.values. 1: value is set, 0:
 * the object is neither, -1: an error.
 */
int pyseries_index(struct pyevaluation *evaluation, const struct pyvalue *object,
		   const struct pyvalue *index, struct pyvalue *value);
/* is_unknown: neither the object nor its classes have an attribute of that name. */
int pyseries_attribute(struct pyevaluation *evaluation, const struct pyvalue *object,
		       const char *name, bool is_unknown, struct pyvalue *value);
/*
 * Offset of ma_used, the number of keys, in PyDictObject. CPython writes ma_used last when a key is
 * added or removed, so also after the table was resized.
 */
#define PYINDEX_DICT_USED 16

/*
 * Evaluates container[index]; place (or NULL) receives the memory that holds the item. -1: an
 * error.
 */
int pyindex_get(struct pyevaluation *evaluation, const struct pyvalue *container,
		const struct pyvalue *index, struct pyvalue *value,
		struct pyexpression_place *place);
/*
 * Evaluates container[slice] of a list, tuple, str or bytes; the result is a computed value
 * (address 0). -1: an error.
 */
int pyslice_get(struct pyevaluation *evaluation, const struct pyvalue *container,
		const struct pysyntax *slice, struct pyvalue *value);

#endif
