/*
 * pyhash: computes the hash that a process gives a str (Python/pyhash.c: SipHash with the process's
 * random key), so that a key of a dict is found by probing.
 */
#ifndef BACKENDS_CPYTHON_PYHASH_H
#define BACKENDS_CPYTHON_PYHASH_H

#include <stddef.h>
#include <stdint.h>

struct pyreader;

/*
 * The hash of ASCII text. -1: the random key cannot be read. An interpreter that was built with
 * another algorithm has other hashes, so a key not found by this hash may still exist.
 */
int pyhash_text(struct pyreader *reader, const char *text, uint64_t *hash);
/* Like pyhash_text(), for the characters of any str as stored in memory, or for bytes. */
int pyhash_bytes(struct pyreader *reader, const void *bytes, size_t length, uint64_t *hash);

#endif
