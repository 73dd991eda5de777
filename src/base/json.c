/*
 * json: a JSON writer of our own, for speed; jansson does the parsing. Every message is written
 * here, many times a second. jansson's writer keeps a table of parents to find loops (our values
 * are trees) and looks every key up again; this writer walks the value once and appends to the
 * buffer.
 */
#include "base/json.h"

#include <limits.h>
#include <inttypes.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "base/buffer.h"
#include "base/error.h"
#include "base/text.h"

#define HEX_DIGITS_MAXIMUM 16

int64_t json_get_integer(const json_t *object, const char *key, int64_t fallback)
{
	const json_t *value = json_object_get(object, key);

	return json_is_integer(value) ? json_integer_value(value) : fallback;
}

int json_get_count(const json_t *object, const char *key)
{
	int64_t value = json_get_integer(object, key, 0);

	return value >= 0 && value <= INT_MAX ? (int)value : 0;
}

double json_get_real(const json_t *object, const char *key, double fallback)
{
	const json_t *value = json_object_get(object, key);

	return json_is_number(value) ? json_number_value(value) : fallback;
}

json_t *json_integers(const int64_t *integers, size_t count)
{
	json_t *array = json_array();

	for (size_t i = 0; i < count; i++)
		json_array_append_new(array, json_integer(integers[i]));
	return array;
}

int json_read_integers(int64_t *integers, size_t maximum, const json_t *array)
{
	size_t count = json_array_size(array);

	if (!json_is_array(array) || count > maximum)
		return -1;
	for (size_t i = 0; i < count; i++) {
		const json_t *item = json_array_get(array, i);

		if (!json_is_integer(item))
			return -1;
		integers[i] = json_integer_value(item);
	}
	return (int)count;
}

bool json_get_boolean(const json_t *object, const char *key, bool fallback)
{
	const json_t *value = json_object_get(object, key);

	return json_is_boolean(value) ? json_is_true(value) : fallback;
}

const char *json_get_string(const json_t *object, const char *key, const char *fallback)
{
	const json_t *value = json_object_get(object, key);

	return json_is_string(value) ? json_string_value(value) : fallback;
}

static int hex_digit(char digit)
{
	if (digit >= '0' && digit <= '9')
		return digit - '0';
	if (digit >= 'a' && digit <= 'f')
		return digit - 'a' + 10;
	if (digit >= 'A' && digit <= 'F')
		return digit - 'A' + 10;
	return -1;
}

uint64_t json_get_hex(const json_t *object, const char *key)
{
	const char *text = json_get_string(object, key, "");
	size_t length = strlen(text);
	uint64_t value = 0;

	if (length < 3 || length > 2 + HEX_DIGITS_MAXIMUM || text[0] != '0' || text[1] != 'x')
		return 0;
	for (size_t i = 2; i < length; i++) {
		int digit = hex_digit(text[i]);

		if (digit < 0)
			return 0;
		value = (value << 4) | (uint64_t)digit;
	}
	return value;
}

void json_set_hex(json_t *object, const char *key, uint64_t value)
{
	char text[2 + HEX_DIGITS_MAXIMUM + 1];

	snprintf(text, sizeof(text), "0x%" PRIx64, value);
	json_object_set_new(object, key, json_string(text));
}

void json_set_text(json_t *object, const char *key, const char *text)
{
	json_object_set_new(object, key, json_text(text));
}

json_t *json_text(const char *text)
{
	struct buffer repaired = BUFFER_INIT;
	json_t *value;

	if (!text)
		return json_null();
	if (text_is_utf8(text, strlen(text)))
		return json_string_nocheck(text);
	while (*text)
		text_put_codepoint(&repaired, text_next(&text));
	value = json_string_nocheck(repaired.data);
	buffer_clear(&repaired);
	return value;
}

static void append_escape(struct buffer *out, unsigned char byte)
{
	static const struct {
		char byte;
		char letter;
	} letters[] = {
		{ '"', '"' },  { '\\', '\\' }, { '\n', 'n' }, { '\t', 't' },
		{ '\r', 'r' }, { '\b', 'b' },  { '\f', 'f' },
	};

	for (size_t i = 0; i < sizeof(letters) / sizeof(letters[0]); i++) {
		if (letters[i].byte == (char)byte) {
			char pair[] = { '\\', letters[i].letter };

			buffer_append(out, pair, sizeof(pair));
			return;
		}
	}
	buffer_printf(out, "\\u%04x", byte);
}

static void json_append_string(struct buffer *out, const char *bytes, size_t length)
{
	size_t done = 0;

	buffer_append_char(out, '"');
	for (size_t at = 0; at < length; at++) {
		unsigned char byte = (unsigned char)bytes[at];

		if (byte >= 0x20 && byte != '"' && byte != '\\')
			continue;
		buffer_append(out, bytes + done, at - done);
		append_escape(out, byte);
		done = at + 1;
	}
	buffer_append(out, bytes + done, length - done);
	buffer_append_char(out, '"');
}

static void json_append_integer(struct buffer *out, json_int_t value)
{
	char digits[24];
	size_t at = sizeof(digits);
	uint64_t left = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;

	do {
		digits[--at] = (char)('0' + left % 10);
		left /= 10;
	} while (left > 0);
	if (value < 0)
		digits[--at] = '-';
	buffer_append(out, digits + at, sizeof(digits) - at);
}

/* Appends 15 digits, or 17 if 15 do not read back as the same number; null for NaN and infinity. */
static void json_append_real(struct buffer *out, double value)
{
	const char *point = localeconv()->decimal_point;
	size_t point_length = strlen(point);
	char digits[40];
	char *found;

	if (!isfinite(value)) {
		buffer_append_string(out, "null");
		return;
	}
	snprintf(digits, sizeof(digits), "%.15g", value);
	if (strtod(digits, NULL) != value)
		snprintf(digits, sizeof(digits), "%.17g", value);
	found = strstr(digits, point);
	if (found) {
		buffer_append(out, digits, (size_t)(found - digits));
		buffer_append_char(out, '.');
		buffer_append_string(out, found + point_length);
		return;
	}
	buffer_append_string(out, digits);
	if (!strchr(digits, 'e'))
		buffer_append_string(out, ".0");
}

static void append_array(struct buffer *out, const json_t *array)
{
	size_t count = json_array_size(array);

	buffer_append_char(out, '[');
	for (size_t i = 0; i < count; i++) {
		if (i > 0)
			buffer_append_char(out, ',');
		json_append(out, json_array_get(array, i));
	}
	buffer_append_char(out, ']');
}

static void append_object(struct buffer *out, const json_t *object)
{
	/* The iteration does not change the object, but jansson's iterators take no const. */
	json_t *walked = (json_t *)object;
	void *place = json_object_iter(walked);
	bool is_first = true;

	buffer_append_char(out, '{');
	for (; place; place = json_object_iter_next(walked, place)) {
		const char *key = json_object_iter_key(place);

		if (!is_first)
			buffer_append_char(out, ',');
		is_first = false;
		json_append_string(out, key, strlen(key));
		buffer_append_char(out, ':');
		json_append(out, json_object_iter_value(place));
	}
	buffer_append_char(out, '}');
}

void json_append(struct buffer *out, const json_t *value)
{
	if (!value) {
		buffer_append_string(out, "null");
		return;
	}
	switch (json_typeof(value)) {
	case JSON_OBJECT:
		append_object(out, value);
		break;
	case JSON_ARRAY:
		append_array(out, value);
		break;
	case JSON_STRING:
		json_append_string(out, json_string_value(value), json_string_length(value));
		break;
	case JSON_INTEGER:
		json_append_integer(out, json_integer_value(value));
		break;
	case JSON_REAL:
		json_append_real(out, json_real_value(value));
		break;
	case JSON_TRUE:
		buffer_append_string(out, "true");
		break;
	case JSON_FALSE:
		buffer_append_string(out, "false");
		break;
	case JSON_NULL:
		buffer_append_string(out, "null");
		break;
	}
}

json_t *json_parse(const char *bytes, size_t length, struct error *error)
{
	json_error_t cause;
	json_t *value = json_loadb(bytes, length, JSON_DECODE_ANY, &cause);
	struct buffer reason = BUFFER_INIT;

	if (value)
		return value;
	/* jansson's reason quotes the parsed text, which comes from outside: escape the reason. */
	text_escape(&reason, cause.text, strlen(cause.text));
	error_set(error, "invalid JSON at byte %d: %s", cause.position, reason.data);
	buffer_clear(&reason);
	return NULL;
}
