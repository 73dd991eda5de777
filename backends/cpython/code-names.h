/*
 * code-names: names of files as code objects point to them, each read and
 * judged once in a crawl: whether its code is wanted.
 */
#ifndef BACKENDS_CPYTHON_CODE_NAMES_H
#define BACKENDS_CPYTHON_CODE_NAMES_H

#include <stdbool.h>
#include <stdint.h>

struct code_names;
struct cpython;
struct object_search_calls;
struct memory;

/* All are borrowed. */
struct code_names *code_names_new(struct memory *memory, const struct cpython *python,
				  const struct object_search_calls *calls);
void code_names_free(struct code_names *names);
/* The str object there will be asked for. */
void code_names_expect(struct code_names *names, uint64_t address);
/* Reads all that are expected, in a few calls. */
void code_names_learn(struct code_names *names);
/* False of what was not learned. */
bool code_names_is_wanted(const struct code_names *names, uint64_t address);
/* Lends the text; NULL: not learned, or no text. */
const char *code_names_text(const struct code_names *names, uint64_t address);

#endif
