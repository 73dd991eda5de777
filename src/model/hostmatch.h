/*
 * hostmatch: matches host names with patterns, as resource managers write them:
 * "node[01-04,07]", "gpu*", "rack?-[a,b]".
 *
 * Brackets contain numbers, ranges of numbers, or words; 01-04 demands two digits. "*" matches any
 * text, "?" any character. A pattern without a dot also matches a host name up to its first dot.
 */
#ifndef MODEL_HOSTMATCH_H
#define MODEL_HOSTMATCH_H

#include <stdbool.h>
#include <stddef.h>

struct error;

/* Checks the syntax. Returns 0; -1 and *error: *fault is the first wrong character in pattern. */
int hostmatch_check(const char *pattern, const char **fault, struct error *error);
/*
 * Calls each() for every host that a list such as "n[01-04],gpu7" names, in its order. Returns 0;
 * -1 and *error: the syntax is wrong, the list has "*" or "?", or names more than maximum hosts;
 * then each() may have been called for the first of them.
 */
int hostmatch_expand(const char *list, size_t maximum, void (*each)(const char *host, void *data),
		     void *data, struct error *error);
/* True if host matches pattern; false also if pattern is invalid or host is NULL. */
bool hostmatch(const char *pattern, const char *host);

#endif
