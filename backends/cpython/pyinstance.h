/*
 * pyinstance: attributes of an instance: those of __slots__, then those of
 * its __dict__, wherever that lies.
 *
 *	3.8-3.10	a dict object at tp_dictoffset
 *	3.11		values at -32 or a dict at -24, before the object
 *	3.12		one word at -24: values (lowest bit set) or a dict
 *	3.13-		a dict at -24, else values inside
 *			the instance behind tp_basicsize bytes
 *
 * (Objects/dictobject.c, Include/internal/pycore_object.h of each.)
 */
#ifndef BACKENDS_CPYTHON_PYINSTANCE_H
#define BACKENDS_CPYTHON_PYINSTANCE_H

#include <stdbool.h>
#include <stdint.h>

struct pypage;
struct pyreader;
struct pytable;
struct pytype;

/* The table of its __dict__, empty when it has none yet; -1: it cannot have
 * one, or it is unreadable. */
int pyinstance_table(struct pyreader *reader, uint64_t object, const struct pytype *type,
		     struct pytable *table);
/*
 * A word that is written when its attributes may have moved: its dict's count
 * of keys (*is_count), or where it would have a dict. 0: none is known.
 */
uint64_t pyinstance_guard(struct pyreader *reader, uint64_t object, const struct pytype *type,
			  bool *is_count);
/* How many attributes it has; -1: it cannot have any. */
int64_t pyinstance_count(struct pyreader *reader, uint64_t object, const struct pytype *type);
/* Appends what of the page there is; 0, or -1 unreadable. */
int pyinstance_attributes(struct pypage *page, uint64_t object, const struct pytype *type);

#endif
