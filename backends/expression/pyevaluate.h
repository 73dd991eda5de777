/*
 * pyevaluate: the value that a tree of pysyntax has in a frame.
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

/* 0, or -1 and a sentence. */
int pyevaluate(struct pyevaluation *evaluation, const struct pysyntax *syntax,
	       struct pyvalue *value);

/* Where a name was found. */
struct pyname {
	uint64_t value; /* 0: a local that is not bound */
	uint64_t place; /* of the word that holds it; 0: not known */
	uint64_t owner; /* the object that the word belongs to; 0: the frame */
};

/*
 * A name as the frame sees it: 1, 0: there is none, -1 and a sentence. In a
 * function the value of its own variable may be 0: unbound.
 */
int pyname_find(struct pyevaluation *evaluation, const char *name, struct pyname *found);
/* The same of its own variables and cells alone, without a sentence. */
int pyname_find_own(struct pyevaluation *evaluation, const char *name, struct pyname *found);
/* What tells the frame's function from others; -1: it is none. */
int pyname_code(struct pyevaluation *evaluation, struct pyname_code *code);
/* The dict of the frame's globals; -1: unreadable. */
int pyname_globals(struct pyevaluation *evaluation, uint64_t *globals);
/* As pyname_find(), in the table of a dict; 0 found. */
int pyname_in_table(struct pyreader *reader, const struct pytable *table, const char *name,
		    struct pyname *found);
/* The value of an attribute of a module that is loaded; 0 found. */
int pyevaluation_module(struct pyevaluation *evaluation, const char *module, const char *name,
			uint64_t *value);
/* object.name, and where that stands, unless place is NULL. */
int pyattribute_get(struct pyevaluation *evaluation, const struct pyvalue *object, const char *name,
		    struct pyvalue *value, struct pyexpression_place *place);
/*
 * object[index] of torch.nn's containers of modules and parameters; 1: value
 * is set, 0: it is none of those, -1 and a sentence.
 */
int pymodule_index(struct pyevaluation *evaluation, const struct pyvalue *object,
		   const struct pyvalue *index, struct pyvalue *value);
/*
 * frame[name] and frame.name of pandas' DataFrame, series.values; 1: value is
 * set, 0: it is none of those, -1 and a sentence.
 */
int pyseries_index(struct pyevaluation *evaluation, const struct pyvalue *object,
		   const struct pyvalue *index, struct pyvalue *value);
/* is_unknown: no class of the object has the name, nor itself. */
int pyseries_attribute(struct pyevaluation *evaluation, const struct pyvalue *object,
		       const char *name, bool is_unknown, struct pyvalue *value);
/* In a dict: how many keys there are. Written after all else when one comes
 * or goes, so also when the table has grown. */
#define PYINDEX_DICT_USED 16

/* container[index], and where that stands, unless place is NULL. */
int pyindex_get(struct pyevaluation *evaluation, const struct pyvalue *container,
		const struct pyvalue *index, struct pyvalue *value,
		struct pyexpression_place *place);
/*
 * container[slice] of a list, tuple, str or bytes, as a value that is computed
 * here; -1 and a sentence.
 */
int pyslice_get(struct pyevaluation *evaluation, const struct pyvalue *container,
		const struct pysyntax *slice, struct pyvalue *value);

#endif
