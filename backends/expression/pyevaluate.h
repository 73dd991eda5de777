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

/* Evaluates the tree. Returns 0, or -1 with an error. */
int pyevaluate(struct pyevaluation *evaluation, const struct pysyntax *syntax,
	       struct pyvalue *value);

/* Where a name was found. */
struct pyname {
	uint64_t value; /* address of the object; 0: an unbound local */
	uint64_t place; /* address of the word with the pointer to the object; 0: unknown */
	uint64_t owner; /* address of the dict or cell that contains that word; 0: the frame
			 * contains it */
};

/*
 * Resolves a name in the frame. Returns 1 if found, 0 if there is no such name, -1 with an error.
 * An unbound local variable is found, with found->value 0.
 */
int pyname_find(struct pyevaluation *evaluation, const char *name, struct pyname *found);
/* Like pyname_find(), but only for the frame's own variables and cells; -1 is returned without an
 * error. */
int pyname_find_own(struct pyevaluation *evaluation, const char *name, struct pyname *found);
/* Identifies the frame's function. Returns -1 if the frame is not a function's, or is
 * unreadable. */
int pyname_code(struct pyevaluation *evaluation, struct pyname_code *code);
/* Finds the dict of the frame's globals. Returns -1 if it is unreadable. */
int pyname_globals(struct pyevaluation *evaluation, uint64_t *globals);
/* Finds a name in the table of a dict. Returns 0, or -1 if not found. */
int pyname_in_table(struct pyreader *reader, const struct pytable *table, const char *name,
		    struct pyname *found);
/* Finds an attribute of a loaded module. Returns 0, or -1 if not found. */
int pyevaluation_module(struct pyevaluation *evaluation, const char *module, const char *name,
			uint64_t *value);
/* Evaluates object.name. Sets *place (place may be NULL) to the memory that holds the value.
 * Returns 0, or -1 with an error. */
int pyattribute_get(struct pyevaluation *evaluation, const struct pyvalue *object, const char *name,
		    struct pyvalue *value, struct pyexpression_place *place);
/*
 * Evaluates object[index] for torch.nn's containers of modules and parameters. Returns 1 if value
 * is set, 0 if the object is not such a container, -1 with an error.
 */
int pymodule_index(struct pyevaluation *evaluation, const struct pyvalue *object,
		   const struct pyvalue *index, struct pyvalue *value);
/*
 * pyseries_index() evaluates frame[name], pyseries_attribute() frame.name and series.values, for
 * pandas' DataFrame and Series. Return 1 if value is set, 0 if the object is neither, -1 with an
 * error.
 */
int pyseries_index(struct pyevaluation *evaluation, const struct pyvalue *object,
		   const struct pyvalue *index, struct pyvalue *value);
/* is_unknown: neither the object nor its classes have an attribute with that name. */
int pyseries_attribute(struct pyevaluation *evaluation, const struct pyvalue *object,
		       const char *name, bool is_unknown, struct pyvalue *value);
/*
 * Offset of ma_used, the number of keys, in PyDictObject. When a key is added or removed, CPython
 * writes ma_used last, after a resize of the table.
 */
#define PYINDEX_DICT_USED 16

/*
 * Evaluates container[index]. Sets *place (place may be NULL) to the memory that holds the item.
 * Returns 0, or -1 with an error.
 */
int pyindex_get(struct pyevaluation *evaluation, const struct pyvalue *container,
		const struct pyvalue *index, struct pyvalue *value,
		struct pyexpression_place *place);
/*
 * Evaluates container[slice] for a list, tuple, str or bytes; the result is a computed value
 * (address 0). Returns 0, or -1 with an error.
 */
int pyslice_get(struct pyevaluation *evaluation, const struct pyvalue *container,
		const struct pysyntax *slice, struct pyvalue *value);

#endif
