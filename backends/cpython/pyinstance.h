/*
 * pyinstance: attributes of an instance: those of __slots__, then those of __dict__, in every
 * layout:
 *
 * 3.8 to 3.10: a dict object at tp_dictoffset.
 * 3.11: values at -32 or a dict at -24, before the object.
 * 3.12: one word at -24: values (lowest bit set) or a dict.
 * 3.13 on: a dict at -24, else values inside the instance, tp_basicsize bytes from its start.
 *
 * (Objects/dictobject.c, Include/internal/pycore_object.h of each version.)
 */
#ifndef BACKENDS_CPYTHON_PYINSTANCE_H
#define BACKENDS_CPYTHON_PYINSTANCE_H

#include <stdbool.h>
#include <stdint.h>

struct pypage;
struct pyreader;
struct pytable;
struct pytype;

/*
 * The table of the object's __dict__, empty if it has none yet; -1: objects of the type have no
 * __dict__, or it is unreadable.
 */
int pyinstance_table(struct pyreader *reader, uint64_t object, const struct pytype *type,
		     struct pytable *table);
/*
 * Address of a word that is written when the object's attributes may have moved: the ma_used of its
 * dict (*is_count true), or the word that points to a dict or values. 0: unknown.
 */
uint64_t pyinstance_guard(struct pyreader *reader, uint64_t object, const struct pytype *type,
			  bool *is_count);
/* Number of attributes; -1: objects of the type have none. */
int64_t pyinstance_count(struct pyreader *reader, uint64_t object, const struct pytype *type);
/* Appends the attributes of the page; 0, or -1: unreadable. */
int pyinstance_attributes(struct pypage *page, uint64_t object, const struct pytype *type);

#endif
