/*
 * pyreader: bounded reads, the base of all readers of Python objects.
 *
 * The process may hold anything, so values read must be checked. Each read costs bytes of the
 * reader's budget. Each function returns 0, or -1: unreadable or malformed.
 */
#ifndef BACKENDS_CPYTHON_PYREADER_H
#define BACKENDS_CPYTHON_PYREADER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct pyreader;

#define PYREADER_HEAD 16u /* sizeof(PyObject): reference count and type */

/* The word at an offset of bytes that were read. */
static inline uint64_t pyreader_word(const void *bytes, long offset)
{
	uint64_t word;

	memcpy(&word, (const uint8_t *)bytes + offset, sizeof(word));
	return word;
}

/* Removes the tag bits of a _PyStackRef (3.14 on). */
static inline uint64_t pyreader_untag(int minor, uint64_t word)
{
	return minor >= 14 ? word & ~UINT64_C(3) : word;
}

/* Reads length bytes, or one word, at address through memory's snapshot. */
int pyreader_read(struct pyreader *reader, uint64_t address, void *out, size_t length);
int pyreader_pointer(struct pyreader *reader, uint64_t address, uint64_t *out);
/* ob_size of an object of variable size. */
int pyreader_size(struct pyreader *reader, uint64_t object, int64_t *size);
/* Reads a C string, cut to size - 1 bytes. Reads no page behind the one with its end. */
int pyreader_c_string(struct pyreader *reader, uint64_t address, char *out, size_t size);

#endif
