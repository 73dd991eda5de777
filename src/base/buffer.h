/*
 * buffer: a growing array of bytes.
 *
 * data[length] is always a NUL, so data can be printed (data is never NULL; an empty buffer's data
 * is a static empty string). With maximum > 0 the buffer never holds more than maximum bytes: set a
 * maximum for all data that comes from outside.
 */
#ifndef BASE_BUFFER_H
#define BASE_BUFFER_H

#include <stdarg.h>
#include <stddef.h>

struct buffer;

struct buffer {
	char *data;
	size_t length;
	size_t capacity;
	size_t maximum;
};

extern char buffer_empty[];
#define BUFFER_INIT { .data = buffer_empty }

/* Makes an empty buffer of at most maximum bytes; maximum 0: no limit. */
void buffer_init(struct buffer *buffer, size_t maximum);
/* Frees the bytes and keeps the maximum; the buffer is then empty and usable. */
void buffer_clear(struct buffer *buffer);
/* Empties the buffer, but keeps the memory. */
void buffer_reset(struct buffer *buffer);
/* The append functions return 0; or -1, and append nothing, if maximum would be exceeded. */
int buffer_append(struct buffer *buffer, const void *bytes, size_t length);
int buffer_append_string(struct buffer *buffer, const char *string);
int buffer_append_char(struct buffer *buffer, char character);
int buffer_printf(struct buffer *buffer, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
int buffer_vprintf(struct buffer *buffer, const char *format, va_list values)
	__attribute__((format(printf, 2, 0)));
/* Drops the first length bytes. */
void buffer_consume(struct buffer *buffer, size_t length);
/* Shortens the buffer to length bytes. */
void buffer_truncate(struct buffer *buffer, size_t length);
/* Returns the bytes (free() them; never NULL) and leaves the buffer empty. */
char *buffer_take(struct buffer *buffer);

/* base64: bytes as ASCII text (RFC 4648, section 4), padded with =. */

/* Appends the bytes as base64; out's maximum cuts the text off. */
void base64_encode(struct buffer *out, const void *bytes, size_t length);
/* Returns 0; -1: text is not base64, or out's maximum is reached. */
int base64_decode(struct buffer *out, const char *text, size_t length);

#endif
