/*
 * object-search: finds code objects of wanted files that are reachable from given objects of a
 * process. Follows functions, closures, wrapped functions and classes, and, a few steps deep,
 * containers and instances.
 *
 * Thousands of objects are read in a few system calls; the number of objects and of bytes is
 * limited. The process runs meanwhile, so an object may be freed or replaced: inconsistent objects
 * are ignored.
 */
#ifndef BACKENDS_CPYTHON_OBJECT_SEARCH_H
#define BACKENDS_CPYTHON_OBJECT_SEARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct code_list;
struct cpython;
struct memory;
struct object_search;

struct object_search_calls {
	/*
	 * Returns true if code of this co_filename is wanted. Called once for each name. NULL: all
	 * code is wanted.
	 */
	bool (*is_wanted)(const char *filename, void *data);
	void *data;
	bool is_flat; /* true: leaves out code nested in code (its constants) */
};

/* Reads bypass memory's snapshot. All arguments are borrowed. */
struct object_search *object_search_new(struct memory *memory, const struct cpython *python,
					const struct object_search_calls *calls);
void object_search_free(struct object_search *crawl);
/*
 * Adds an object from which the search starts. depth: the maximum number of containers and
 * instances on the way from object to a function, object included.
 */
void object_search_add(struct object_search *crawl, uint64_t object, int depth);
/* Searches, and appends each code object that was found, without duplicates. Sets list->is_cut if a
 * limit was reached. */
void object_search_run(struct object_search *crawl, struct code_list *list);
/* Returns the number of objects read so far. */
size_t object_search_count(const struct object_search *crawl);

/*
 * address_set: a set of addresses, for walks over hundreds of thousands of objects that must not
 * visit an object twice.
 */

/* An all-zero struct is an empty set. */
struct address_set {
	uint64_t *slots; /* 0: free */
	size_t slot_count;
	size_t count;
};

void address_set_clear(struct address_set *addresses);
/* Adds address. Returns true if the address was not in the set before. Address 0 is never added
 * (false). */
bool address_set_add(struct address_set *addresses, uint64_t address);
bool address_set_has(const struct address_set *addresses, uint64_t address);

#endif
