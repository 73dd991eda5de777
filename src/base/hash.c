#include "base/hash.h"

#include <stddef.h>
#include <string.h>

#include "banned.h"

#define HASH_PRIME UINT64_C(0x100000001b3)

static uint64_t hash_hash_bytes(uint64_t hash, const void *bytes, size_t length)
{
	const unsigned char *byte = bytes;

	for (size_t i = 0; i < length; i++)
		hash = (hash ^ byte[i]) * HASH_PRIME;
	return hash;
}

uint64_t hash_text(uint64_t hash, const char *text)
{
	return hash_hash_bytes(hash, text, strlen(text) + 1);
}

uint64_t hash_number(uint64_t hash, uint64_t number)
{
	return hash_hash_bytes(hash, &number, sizeof(number));
}
