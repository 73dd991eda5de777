/*
 * code-names: names of files as code objects point to them, each read and
 * judged once in a crawl: whether its code is wanted.
 */
#ifndef BACKENDS_CPYTHON_CODE_NAMES_H
#define BACKENDS_CPYTHON_CODE_NAMES_H

#include <stdbool.h>
#include <stdint.h>

struct codenames;
struct cpython;
struct crawl_calls;
struct memory;

/* All are borrowed. */
struct codenames *codenames_new(struct memory *memory, const struct cpython *python,
				const struct crawl_calls *calls);
void codenames_free(struct codenames *names);
/* The str object there will be asked for. */
void codenames_expect(struct codenames *names, uint64_t address);
/* Reads all that are expected, in a few calls. */
void codenames_learn(struct codenames *names);
/* False of what was not learned. */
bool codenames_is_wanted(const struct codenames *names, uint64_t address);
/* Lends the text; NULL: not learned, or no text. */
const char *codenames_text(const struct codenames *names, uint64_t address);

#endif
