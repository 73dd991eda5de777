#include "base/base64.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "banned.h"
#include "base/buffer.h"

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

/* Decodes one group of four characters; -1: invalid. is_last: the group may end in =. */
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
