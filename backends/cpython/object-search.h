/*
 * object-search: from some objects of a process to the code objects of one file that
 * can be reached from them: over functions, what those close over and wrap,
 * classes, and, a few steps deep, containers and instances.
 *
 * Objects are looked at by the thousand, in a few system calls each; a crawl
 * is bounded in objects and bytes. The process runs on, so anything may be
 * gone or something else meanwhile: whatever does not hold together is left
 * out.
 */
#ifndef BACKENDS_CPYTHON_OBJECT_SEARCH_H
#define BACKENDS_CPYTHON_OBJECT_SEARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct code_list;
struct cpython;
struct object_search;
struct memory;

struct object_search_calls {
	/* Whether code of this co_filename is wanted. Asked once a name;
	 * NULL: all are. */
	bool (*is_wanted)(const char *filename, void *data);
	void *data;
	bool is_flat; /* without what is nested in code: its constants */
};

/* memory is read past its snapshot. All are borrowed. */
struct object_search *object_search_new(struct memory *memory, const struct cpython *python,
					const struct object_search_calls *calls);
void object_search_free(struct object_search *crawl);
/*
 * Begins with this object, too. depth: so many containers and instances may
 * lie between it and a function, itself counted.
 */
void object_search_add(struct object_search *crawl, uint64_t object, int depth);
/* Appends what there is, each once; list->is_cut when it was too much. */
void object_search_run(struct object_search *crawl, struct code_list *list);
/* Objects looked at so far. */
size_t object_search_count(const struct object_search *crawl);

#endif
