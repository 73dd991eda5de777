#include "backends/cpython/pyhash.h"

#include "banned.h"

#include "backends/cpython/cpython.h"
#include "backends/cpython/pyobject.h"
#include "backends/cpython/pyreader.h"

/* SipHash, https://www.aumasson.jp/siphash/siphash.pdf */
struct sip {
	uint64_t v[4];
};

static uint64_t rotate(uint64_t word, int bits)
{
	return word << bits | word >> (64 - bits);
}

static void sip_rounds(struct sip *sip, int count)
{
	uint64_t *v = sip->v;

	while (count-- > 0) {
		v[0] += v[1];
		v[2] += v[3];
		v[1] = rotate(v[1], 13) ^ v[0];
		v[3] = rotate(v[3], 16) ^ v[2];
		v[0] = rotate(v[0], 32);
		v[2] += v[1];
		v[0] += v[3];
		v[1] = rotate(v[1], 17) ^ v[2];
		v[3] = rotate(v[3], 21) ^ v[0];
		v[2] = rotate(v[2], 32);
	}
}

static void sip_word(struct sip *sip, uint64_t word, int rounds)
{
	sip->v[3] ^= word;
	sip_rounds(sip, rounds);
	sip->v[0] ^= word;
}

static uint64_t sip_hash(const uint64_t key[2], const char *text, size_t length, int rounds)
{
	struct sip sip = { {
		key[0] ^ UINT64_C(0x736f6d6570736575),
		key[1] ^ UINT64_C(0x646f72616e646f6d),
		key[0] ^ UINT64_C(0x6c7967656e657261),
		key[1] ^ UINT64_C(0x7465646279746573),
	} };
	size_t i = 0;
	uint64_t word;

	for (; i + sizeof(word) <= length; i += sizeof(word)) {
		memcpy(&word, text + i, sizeof(word));
		sip_word(&sip, word, rounds);
	}
	word = 0;
	memcpy(&word, text + i, length - i);
	sip_word(&sip, word | (uint64_t)length << 56, rounds);
	sip.v[2] ^= 0xff;
	sip_rounds(&sip, rounds + 2);
	return sip.v[0] ^ sip.v[1] ^ sip.v[2] ^ sip.v[3];
}

int pyhash_bytes(struct pyreader *reader, const void *bytes, size_t length, uint64_t *hash)
{
	const struct cpython *python = reader->python;
	uint64_t key[2];

	if (!python->hash_secret ||
	    pyreader_read(reader, python->hash_secret, key, sizeof(key)) < 0)
		return -1;
	/*
	 * 3.11 changed from SipHash-2-4 to SipHash-1-3; CPython replaces hash -1 (an error) by -2.
	 */
	*hash = length ? sip_hash(key, bytes, length, python->minor < 11 ? 2 : 1) : 0;
	if (*hash == UINT64_MAX)
		*hash = UINT64_MAX - 1;
	return 0;
}

int pyhash_text(struct pyreader *reader, const char *text, uint64_t *hash)
{
	return pyhash_bytes(reader, text, strlen(text), hash);
}
