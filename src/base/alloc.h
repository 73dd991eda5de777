/*
 * alloc: memory allocation that never returns NULL.
 *
 * Every function prints an error and aborts when the system has no memory left, so
 * callers never check for NULL. Free with free().
 */
#ifndef BASE_ALLOC_H
#define BASE_ALLOC_H

#include <stddef.h>

void *xmalloc(size_t size);
void *xcalloc(size_t count, size_t size);
void *xrealloc(void *memory, size_t size);
char *xstrdup(const char *string);
char *xstrndup(const char *string, size_t length);
/* xstrdup() that returns NULL for NULL. */
char *xstrdup_or_null(const char *string);
/* Frees *string and sets *string to a copy of `with`; *string and `with` may be NULL. */
void xreplace(char **string, const char *with);
char *xasprintf(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
