/*
 * pycontainer: for list, tuple, deque, dict, set and related types: writes objects, counts items,
 * appends items as variables. Also writes range, slice, cells and exceptions, from the objects that
 * they contain.
 *
 * A ..._write function writes the object as repr() does, with "?" for unreadable parts. A ..._count
 * function returns the number of items; -1: unreadable. An ..._items function appends the items of
 * the page to page->list, and returns 0, or -1 if they are unreadable.
 */
#ifndef BACKENDS_CPYTHON_PYCONTAINER_H
#define BACKENDS_CPYTHON_PYCONTAINER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buffer;
struct pyreader;
struct pywriter;
struct variable_list;

/* A page of children: at most `count` children, from index `start` on. */
struct pypage {
	struct pyreader *reader;
	struct variable_list *list;
	int64_t start;
	size_t count;
};

/* Adds a variable; moves the name's bytes out of the buffer. */
void pypage_add(struct pypage *page, struct buffer *name, uint64_t address);
/* Appends the key between the two brackets, "[KEY]" or "{KEY}", to name; KEY is as in repr(), cut
 * if too long. */
void pypage_put_key(struct pypage *page, const char *brackets, uint64_t key, struct buffer *name);

/* A named child; address 0: absent. */
struct pynamed {
	const char *name;
	uint64_t address;
};
/* Adds the children that are on the page. Absent children do not count for the index. */
void pypage_add_named(struct pypage *page, const struct pynamed *items, size_t count);

int64_t pylist_count(struct pyreader *reader, uint64_t address);
int pylist_items(struct pypage *page, uint64_t address);
void pylist_write(struct pywriter *writer, uint64_t address);
/* Gets the item of a list at the index `number`. Returns 0, or -1 if there is no such item. */
int pylist_item(struct pyreader *reader, uint64_t address, int64_t number, uint64_t *item);

int64_t pytuple_count(struct pyreader *reader, uint64_t address);
int pytuple_items(struct pypage *page, uint64_t address);
void pytuple_write(struct pywriter *writer, uint64_t address);
/* Gets the item of a tuple at the index `number`. Returns 0, or -1 if there is no such item. */
int pytuple_item(struct pyreader *reader, uint64_t address, int64_t number, uint64_t *item);

int64_t pydict_count(struct pyreader *reader, uint64_t address);
int pydict_items(struct pypage *page, uint64_t address);
void pydict_write(struct pywriter *writer, uint64_t address);

int64_t pyset_count(struct pyreader *reader, uint64_t address);
/* Calls visit() for each key and its hash until visit() returns false. Returns 0, or -1 if the set
 * is unreadable. */
int pyset_each(struct pyreader *reader, uint64_t address,
	       bool (*visit)(uint64_t key, int64_t hash, void *data), void *data);
int pyset_items(struct pypage *page, uint64_t address);
void pyset_write(struct pywriter *writer, uint64_t address);
void pyfrozenset_write(struct pywriter *writer, uint64_t address);

int64_t pydeque_count(struct pyreader *reader, uint64_t address);
/* Gets the item of a deque at the index `number`. Returns 0, or -1 if there is no such item. */
int pydeque_item(struct pyreader *reader, uint64_t address, int64_t number, uint64_t *item);
int pydeque_items(struct pypage *page, uint64_t address);
void pydeque_write(struct pywriter *writer, uint64_t address);
void pydefaultdict_write(struct pywriter *writer, uint64_t address);
/* For OrderedDict; pydict_count() counts the items. */
int pyodict_items(struct pypage *page, uint64_t address);
void pyodict_write(struct pywriter *writer, uint64_t address);

/* An exception's children: args, __cause__ and __context__, as far as they are set. */
int64_t pyexception_count(struct pyreader *reader, uint64_t address);
int pyexception_items(struct pypage *page, uint64_t address);

void pyrange_write(struct pywriter *writer, uint64_t address);
void pyslice_write(struct pywriter *writer, uint64_t address);
void pycell_write(struct pywriter *writer, uint64_t address);
void pyexception_write(struct pywriter *writer, uint64_t address);
void pymemoryview_write(struct pywriter *writer, uint64_t address);

#endif
