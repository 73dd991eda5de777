/*
 * pycontainer: list, tuple, deque, dict, set and related types: writing, number of items, items as
 * variables. Also range, slice, cells and exceptions, which are written from the objects they hold.
 *
 * A ..._write function writes the object as repr() does, "?" for what cannot be read. A ..._count
 * function returns the number of items; -1: unreadable. An ..._items function appends the items of
 * the page to the list; 0, or -1: unreadable.
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

/* A page of children: at most count of them, from index start on. */
struct pypage {
	struct pyreader *reader;
	struct variable_list *list;
	int64_t start;
	size_t count;
};

/* Adds a variable; takes the name's bytes out of the buffer. */
void pypage_add(struct pypage *page, struct buffer *name, uint64_t address);
/* Appends "[KEY]" or "{KEY}", KEY as in repr(), cut if too long. */
void pypage_put_key(struct pypage *page, const char *brackets, uint64_t key, struct buffer *name);

/* A named child; address 0: absent. */
struct pynamed {
	const char *name;
	uint64_t address;
};
/* Adds the children on the page; absent ones have no index. */
void pypage_add_named(struct pypage *page, const struct pynamed *items, size_t count);

int64_t pylist_count(struct pyreader *reader, uint64_t address);
int pylist_items(struct pypage *page, uint64_t address);
void pylist_write(struct pywriter *writer, uint64_t address);
/* Item at index number of a list; 0: found, -1: no such item. */
int pylist_item(struct pyreader *reader, uint64_t address, int64_t number, uint64_t *item);

int64_t pytuple_count(struct pyreader *reader, uint64_t address);
int pytuple_items(struct pypage *page, uint64_t address);
void pytuple_write(struct pywriter *writer, uint64_t address);
/* Item at index number of a tuple; 0: found, -1: no such item. */
int pytuple_item(struct pyreader *reader, uint64_t address, int64_t number, uint64_t *item);

int64_t pydict_count(struct pyreader *reader, uint64_t address);
int pydict_items(struct pypage *page, uint64_t address);
void pydict_write(struct pywriter *writer, uint64_t address);

int64_t pyset_count(struct pyreader *reader, uint64_t address);
/* Calls visit for each key and its hash until visit returns false; -1: unreadable. */
int pyset_each(struct pyreader *reader, uint64_t address,
	       bool (*visit)(uint64_t key, int64_t hash, void *data), void *data);
int pyset_items(struct pypage *page, uint64_t address);
void pyset_write(struct pywriter *writer, uint64_t address);
void pyfrozenset_write(struct pywriter *writer, uint64_t address);

int64_t pydeque_count(struct pyreader *reader, uint64_t address);
/* Item at index number of a deque; 0: found, -1: no such item. */
int pydeque_item(struct pyreader *reader, uint64_t address, int64_t number, uint64_t *item);
int pydeque_items(struct pypage *page, uint64_t address);
void pydeque_write(struct pywriter *writer, uint64_t address);
void pydefaultdict_write(struct pywriter *writer, uint64_t address);
/* Counted by pydict_count(). */
int pyodict_items(struct pypage *page, uint64_t address);
void pyodict_write(struct pywriter *writer, uint64_t address);

/* Children: args, __cause__ and __context__, those that are set. */
int64_t pyexception_count(struct pyreader *reader, uint64_t address);
int pyexception_items(struct pypage *page, uint64_t address);

void pyrange_write(struct pywriter *writer, uint64_t address);
void pyslice_write(struct pywriter *writer, uint64_t address);
void pycell_write(struct pywriter *writer, uint64_t address);
void pyexception_write(struct pywriter *writer, uint64_t address);
void pymemoryview_write(struct pywriter *writer, uint64_t address);

#endif
