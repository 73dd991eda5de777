/*
 * hostmatch: names of machines by a pattern, as resource managers write them:
 * "node[01-04,07]", "gpu*", "rack?-[a,b]".
 *
 * In brackets stand numbers, ranges of them, or words; 01-04 asks for two
 * digits. "*" is any text, "?" any character. A pattern without a dot fits
 * the name up to its first dot, too.
 */
#ifndef MODEL_HOSTMATCH_H
#define MODEL_HOSTMATCH_H

#include <stdbool.h>

struct error;

/*
 * Whether it is a pattern. -1 and a sentence: then *fault is the character of
 * pattern where it is wrong.
 */
int hostmatch_check(const char *pattern, const char **fault, struct error *error);
/* False for a pattern that is none, and for NULL. */
bool hostmatch(const char *pattern, const char *host);

#endif
