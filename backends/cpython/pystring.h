/*
 * pystring: str, bytes and bytearray objects (PEP 393, Include/cpython/unicodeobject.h). A compact
 * str holds its characters directly behind its head; an instance of a str subclass points to its
 * characters. A ..._write function writes the object as repr() does, "?" if unreadable.
 */
#ifndef BACKENDS_CPYTHON_PYSTRING_H
#define BACKENDS_CPYTHON_PYSTRING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buffer;
struct cpython;
struct pyreader;
struct pywriter;

struct pystring {
	/* address of the characters; 0: not compact, the address is in a pointer behind the head */
	uint64_t data;
	int64_t length; /* characters */
	unsigned width; /* bytes of one character: 1, 2 or 4 */
};

/* Fills string from head, the first ascii_size bytes of the str at address. Returns -1 if head is
 * malformed. */
int pystring_parse(struct pystring *string, const struct cpython *python, uint64_t address,
		   const uint8_t *head);
/*
 * Appends `count` characters of `width` bytes each as UTF-8; lone surrogates and invalid code
 * points are appended as \uXXXX.
 */
void pystring_decode(struct buffer *out, const uint8_t *bytes, size_t count, unsigned width);
/* Reads length, width and address of the characters. Returns -1 if the object at address is not a
 * str. */
int pystring_read(struct pyreader *reader, uint64_t address, struct pystring *string);
/* Reads `count` characters from index `start` on. Returns 0, or -1 if they are unreadable. */
int pystring_characters(struct pyreader *reader, const struct pystring *string, int64_t start,
			size_t count, uint32_t *characters);
/* Returns true if the object is a str that equals text, which must be ASCII. */
bool pystring_equals(struct pyreader *reader, uint64_t address, const char *text);
/* Gets address and number of the bytes in a bytes object. Returns -1 if it is not a bytes
 * object. */
int pybytes_read(struct pyreader *reader, uint64_t address, uint64_t *data, int64_t *length);

/* Writes characters that were read before, quoted like a str or (is_bytes) like bytes. */
void pystring_put(struct pywriter *writer, const uint32_t *characters, size_t count, bool is_bytes);
void pystring_write(struct pywriter *writer, uint64_t address);
void pybytes_write(struct pywriter *writer, uint64_t address);
void pybytearray_write(struct pywriter *writer, uint64_t address);

/*
 * pyhash: computes the hash that a str has in a process (Python/pyhash.c: SipHash with the
 * process's random key), so that a key of a dict can be found by probing.
 */

/*
 * Computes the hash of ASCII text. Returns -1 if the random key cannot be read. An interpreter that
 * was built with another algorithm has other hashes, so a key that is not found by this hash may
 * exist all the same.
 */
int pyhash_text(struct pyreader *reader, const char *text, uint64_t *hash);
/* Like pyhash_text(), for the characters of any str as stored in memory, or for bytes. */
int pyhash_bytes(struct pyreader *reader, const void *bytes, size_t length, uint64_t *hash);

#endif
