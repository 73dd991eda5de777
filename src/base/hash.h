/*
 * hash: FNV-1a, 64 bits (http://www.isthe.com/chongo/tech/comp/fnv/), of a sequence of
 * values. Start with HASH_START.
 */
#ifndef BASE_HASH_H
#define BASE_HASH_H

#include <stdint.h>

#define HASH_START UINT64_C(0xcbf29ce484222325)

/* The NUL is hashed, too: "ab", "c" has another hash than "a", "bc". */
uint64_t hash_text(uint64_t hash, const char *text);
/* Hashes the number's 8 bytes in this machine's order. */
uint64_t hash_number(uint64_t hash, uint64_t number);

#endif
