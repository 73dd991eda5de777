/*
 * pyinstance: the attributes of an instance, first those in __slots__, then those in __dict__.
 * Where __dict__ is:
 *
 * 3.8 to 3.10: a dict object at tp_dictoffset. 3.11: values at byte offset -32, or a dict at -24,
 * before the object. 3.12: one word at -24 points to values (lowest bit set) or to a dict. 3.13 on:
 * a dict at -24, else values inside the instance, tp_basicsize bytes from its start.
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
 * Gets the table of the object's __dict__, an empty table if the object has no __dict__ yet.
 * Returns -1 if objects of the type have no __dict__, or it is unreadable.
 */
int pyinstance_table(struct pyreader *reader, uint64_t object, const struct pytype *type,
		     struct pytable *table);
/*
 * Returns the address of a word that is written when the object's attributes may have moved; 0:
 * unknown. The word is ma_used of the object's dict (*is_count true), or the pointer to a dict or
 * values.
 */
uint64_t pyinstance_guard(struct pyreader *reader, uint64_t object, const struct pytype *type,
			  bool *is_count);
/* Returns the number of attributes; -1: objects of the type cannot have attributes. */
int64_t pyinstance_count(struct pyreader *reader, uint64_t object, const struct pytype *type);
/* Appends the attributes that are on the page. Returns 0, or -1 if they are unreadable. */
int pyinstance_attributes(struct pypage *page, uint64_t object, const struct pytype *type);

#endif
