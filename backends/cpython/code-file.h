/*
 * code-file: compares a code object's co_filename with the file that a user names.
 *
 * Both may be absolute, or the last components of a path: "train.py" is any train.py, as in pdb and
 * gdb; "./train.py" is the co_filename of a program that was started as ./train.py. "." and ".."
 * are resolved in the text; no file is opened.
 */
#ifndef BACKENDS_CPYTHON_CODE_FILE_H
#define BACKENDS_CPYTHON_CODE_FILE_H

#include <stdbool.h>
#include <stdint.h>

struct code_names;
struct cpython;
struct memory;
struct object_search_calls;

/* Returns true if filename, a code object's co_filename, names the file `path`. */
bool code_file_matches(const char *path, const char *filename);
/* Returns true for an installed file (site-packages, lib/python…) and for a <frozen …> name. */
bool code_file_is_library(const char *filename);

/*
 * code_names: the strings that code objects have as co_filename. Each string is read once, and
 * is_wanted() of the search is called once for each.
 */

/* All arguments are borrowed. */
struct code_names *code_names_new(struct memory *memory, const struct cpython *python,
				  const struct object_search_calls *calls);
void code_names_free(struct code_names *names);
/* Queues the str object at address for code_names_learn(). */
void code_names_expect(struct code_names *names, uint64_t address);
/* Reads all queued strings in a few system calls. */
void code_names_learn(struct code_names *names);
/* Returns the result of is_wanted() for the str at address; false if the str was not read. */
bool code_names_is_wanted(const struct code_names *names, uint64_t address);
/* Returns the text; NULL: not read, or not a string. */
const char *code_names_text(const struct code_names *names, uint64_t address);

#endif
