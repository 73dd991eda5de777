#include "base/buffer.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "base/alloc.h"

#define BUFFER_START 64

char buffer_empty[] = "";

void buffer_init(struct buffer *buffer, size_t maximum)
{
	*buffer = (struct buffer){ .data = buffer_empty, .maximum = maximum };
}

void buffer_clear(struct buffer *buffer)
{
	if (buffer->capacity > 0)
		free(buffer->data);
	buffer_init(buffer, buffer->maximum);
}

void buffer_reset(struct buffer *buffer)
{
	buffer_truncate(buffer, 0);
}

static bool buffer_is_allowed(const struct buffer *buffer, size_t more)
{
	if (more > SIZE_MAX / 2 - buffer->length)
		return false;
	return buffer->maximum == 0 || buffer->length + more <= buffer->maximum;
}

/* Reserves space for that many more bytes and a NUL; -1: the buffer's maximum forbids it. */
static int buffer_reserve(struct buffer *buffer, size_t more)
{
	size_t wanted = buffer->length + more + 1;
	size_t capacity = buffer->capacity;

	if (!buffer_is_allowed(buffer, more))
		return -1;
	if (wanted <= capacity)
		return 0;
	if (capacity < BUFFER_START)
		capacity = BUFFER_START;
	while (capacity < wanted)
		capacity *= 2;
	if (buffer->capacity == 0)
		buffer->data = NULL;
	buffer->data = xrealloc(buffer->data, capacity);
	buffer->capacity = capacity;
	return 0;
}

int buffer_append(struct buffer *buffer, const void *bytes, size_t length)
{
	if (length == 0)
		return 0;
	if (buffer_reserve(buffer, length) < 0)
		return -1;
	memcpy(buffer->data + buffer->length, bytes, length);
	buffer->length += length;
	buffer->data[buffer->length] = '\0';
	return 0;
}

int buffer_append_string(struct buffer *buffer, const char *string)
{
	return buffer_append(buffer, string, strlen(string));
}

int buffer_append_char(struct buffer *buffer, char character)
{
	if (buffer_reserve(buffer, 1) < 0)
		return -1;
	buffer->data[buffer->length++] = character;
	buffer->data[buffer->length] = '\0';
	return 0;
}

int buffer_printf(struct buffer *buffer, const char *format, ...)
{
	va_list values;
	int result;

	va_start(values, format);
	result = buffer_vprintf(buffer, format, values);
	va_end(values);
	return result;
}

int buffer_vprintf(struct buffer *buffer, const char *format, va_list values)
{
	size_t room = buffer->capacity > 0 ? buffer->capacity - buffer->length : 0;
	va_list again;
	int length;

	/* Most texts fit into the free space: then this first vsnprintf() is the only one. */
	va_copy(again, values);
	length = vsnprintf(room > 0 ? buffer->data + buffer->length : NULL, room, format, values);
	if (length < 0 || buffer_reserve(buffer, (size_t)length) < 0) {
		if (room > 0)
			buffer->data[buffer->length] = '\0';
		va_end(again);
		return -1;
	}
	if ((size_t)length >= room)
		vsnprintf(buffer->data + buffer->length, (size_t)length + 1, format, again);
	va_end(again);
	buffer->length += (size_t)length;
	return 0;
}

void buffer_consume(struct buffer *buffer, size_t length)
{
	if (length >= buffer->length) {
		buffer_reset(buffer);
		return;
	}
	if (length == 0)
		return;
	buffer->length -= length;
	memmove(buffer->data, buffer->data + length, buffer->length + 1);
}

void buffer_truncate(struct buffer *buffer, size_t length)
{
	if (length > buffer->length || buffer->capacity == 0)
		return;
	buffer->length = length;
	buffer->data[length] = '\0';
}

char *buffer_take(struct buffer *buffer)
{
	char *bytes = buffer->capacity > 0 ? buffer->data : xstrdup("");

	buffer_init(buffer, buffer->maximum);
	return bytes;
}

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

void base64_encode(struct buffer *out, const void *bytes, size_t length)
{
	const unsigned char *data = bytes;

	for (size_t i = 0; i < length; i += 3) {
		size_t count = length - i < 3 ? length - i : 3;
		uint32_t group = (uint32_t)data[i] << 16;
		char text[4];

		if (count > 1)
			group |= (uint32_t)data[i + 1] << 8;
		if (count > 2)
			group |= data[i + 2];
		for (size_t digit = 0; digit < 4; digit++)
			text[digit] = digit <= count ? digits[group >> (18 - 6 * digit) & 63] : '=';
		buffer_append(out, text, sizeof(text));
	}
}

/* Decodes one group of four characters; -1: invalid. is_last: padding with = is allowed. */
static int decode_group(struct buffer *out, const char *text, bool is_last)
{
	size_t count = 3;
	uint32_t group = 0;
	char bytes[3];

	for (size_t i = 0; i < 4; i++) {
		const char *digit = text[i] ? strchr(digits, text[i]) : NULL;

		if (!digit && is_last && text[i] == '=' && i >= 2 && text[3] == '=') {
			count = count < i - 1 ? count : i - 1;
			group <<= 6;
			continue;
		}
		if (!digit || count < 3)
			return -1;
		group = group << 6 | (uint32_t)(digit - digits);
	}
	bytes[0] = (char)(group >> 16);
	bytes[1] = (char)(group >> 8);
	bytes[2] = (char)group;
	return buffer_append(out, bytes, count);
}

int base64_decode(struct buffer *out, const char *text, size_t length)
{
	if (length % 4)
		return -1;
	for (size_t i = 0; i < length; i += 4)
		if (decode_group(out, text + i, i + 4 == length) < 0)
			return -1;
	return 0;
}
