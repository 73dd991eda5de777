/*
 * pyhash: the hash that a process gives to a str (Python/pyhash.c: SipHash
 * with its own random key), so that a dict can be asked as it asks itself.
 */
#ifndef BACKENDS_CPYTHON_PYHASH_H
#define BACKENDS_CPYTHON_PYHASH_H

#include <stddef.h>
#include <stdint.h>

struct pyreader;

/*
 * The hash of ASCII text. -1: the key cannot be read. An interpreter that was
 * built with another algorithm gives another hash, so a name that is not
 * found by this one may be there all the same.
 */
int pyhash_text(struct pyreader *reader, const char *text, uint64_t *hash);
/* The same of the characters of any str, as they lie in it, or of bytes. */
int pyhash_bytes(struct pyreader *reader, const void *bytes, size_t length, uint64_t *hash);

#endif
