/*
 * code-names: the strings that code objects have as co_filename. Each string is read once, and the
 * caller of the search is asked once whether code of that file is wanted.
 */
#ifndef BACKENDS_CPYTHON_CODE_NAMES_H
#define BACKENDS_CPYTHON_CODE_NAMES_H

#include <stdbool.h>
#include <stdint.h>

struct code_names;
struct cpython;
struct object_search_calls;
struct memory;

/* All arguments are borrowed. */
struct code_names *code_names_new(struct memory *memory, const struct cpython *python,
				  const struct object_search_calls *calls);
void code_names_free(struct code_names *names);
/* Queues the str object at address for code_names_learn(). */
void code_names_expect(struct code_names *names, uint64_t address);
/* Reads all queued strings in a few system calls. */
void code_names_learn(struct code_names *names);
/* The answer of is_wanted() for the str at address; false: the str was not read. */
bool code_names_is_wanted(const struct code_names *names, uint64_t address);
/* Returns the text; NULL: not read, or not a string. */
const char *code_names_text(const struct code_names *names, uint64_t address);

#endif
