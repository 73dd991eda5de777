/*
 * pyreader: bounded reads, the base of all readers of Python objects.
 *
 * The data in the process may be malformed, so callers check the values. Each read is charged to
 * the reader's budget. Each function returns 0, or -1 if the data is unreadable or malformed.
 */
#ifndef BACKENDS_CPYTHON_PYREADER_H
#define BACKENDS_CPYTHON_PYREADER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct pyreader;

#define PYREADER_HEAD 16u /* sizeof(PyObject): reference count and type */

/* Returns the word at an offset in bytes that were read. */
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

/* Read length bytes and one word, respectively, at address, through memory's snapshot. */
int pyreader_read(struct pyreader *reader, uint64_t address, void *out, size_t length);
int pyreader_pointer(struct pyreader *reader, uint64_t address, uint64_t *out);
/* Reads ob_size of an object of variable size. */
int pyreader_size(struct pyreader *reader, uint64_t object, int64_t *size);
/* Reads a C string, cut to size - 1 bytes. Does not read beyond the page that contains the string's
 * end. */
int pyreader_c_string(struct pyreader *reader, uint64_t address, char *out, size_t size);

#endif
