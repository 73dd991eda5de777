/*
 * pyhash: the hash that a process gives to a str (Python/pyhash.c: SipHash
 * with its own random key), so that a dict can be asked as it asks itself.
 */
#ifndef BACKENDS_PTRACE_PYHASH_H
#define BACKENDS_PTRACE_PYHASH_H

#include <stdint.h>

struct pyreader;

/*
 * The hash of ASCII text. -1: the key cannot be read. An interpreter that was
 * built with another algorithm gives another hash, so a name that is not
 * found by this one may be there all the same.
 */
int pyhash_text(struct pyreader *reader, const char *text, uint64_t *hash);

#endif
