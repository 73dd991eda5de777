/*
 * pystring: str, bytes and bytearray objects (PEP 393,
 * Include/cpython/unicodeobject.h). Compact ones hold their characters behind
 * the object; those of a subclass of str point to them.
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
	uint64_t data;	/* 0: it has to be asked for, behind the object */
	int64_t length; /* characters */
	unsigned width; /* bytes of one: 1, 2, 4 */
};

/*
 * The str at address, of which the first ascii_size bytes are in head; -1: it
 * makes no sense.
 */
int pystring_parse(struct pystring *string, const struct cpython *python, uint64_t address,
		   const uint8_t *head);
/*
 * Appends characters of width bytes each as UTF-8; what is no character, a
 * lone surrogate above all, as its number.
 */
void pystring_decode(struct buffer *out, const uint8_t *bytes, size_t count, unsigned width);
/* Reads what and where it is; -1: address is no str. */
int pystring_read(struct pyreader *reader, uint64_t address, struct pystring *string);
/* Reads count characters from number start on. */
int pystring_characters(struct pyreader *reader, const struct pystring *string, int64_t start,
			size_t count, uint32_t *characters);
/* True for a str that equals ASCII text. */
bool pystring_equals(struct pyreader *reader, uint64_t address, const char *text);
/* Where the bytes of a bytes object lie. */
int pybytes_read(struct pyreader *reader, uint64_t address, uint64_t *data, int64_t *length);

/* Characters that are at hand, quoted. */
void pystring_put(struct pywriter *writer, const uint32_t *characters, size_t count, bool is_bytes);
void pystring_write(struct pywriter *writer, uint64_t address);
void pybytes_write(struct pywriter *writer, uint64_t address);
void pybytearray_write(struct pywriter *writer, uint64_t address);

#endif
