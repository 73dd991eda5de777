#include "base/text.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <utf8proc.h>

#include "banned.h"
#include "base/array.h"
#include "base/buffer.h"

#define TAB_COLUMNS 8
#define REPLACEMENT 0xfffd
#define ELLIPSIS "\xe2\x80\xa6"
#define HIGH_BITS UINT64_C(0x8080808080808080)

/* One UTF-8 form: mask and value of its lead byte, length in bytes, smallest code point. */
struct utf8_form {
	unsigned char mask;
	unsigned char lead;
	size_t length;
	int32_t first;
};

static const struct utf8_form utf8_forms[] = {
	{ 0xe0, 0xc0, 2, 0x80 },
	{ 0xf0, 0xe0, 3, 0x800 },
	{ 0xf8, 0xf0, 4, 0x10000 },
};

static bool is_codepoint(int32_t codepoint)
{
	return codepoint >= 0 && codepoint <= 0x10ffff &&
	       (codepoint < 0xd800 || codepoint > 0xdfff);
}

/*
 * Reads one code point from at most length bytes; returns the number of its bytes, 0: invalid
 * UTF-8. Reading stops at the first byte that cannot continue the character, so length may reach
 * beyond a NUL.
 */
static size_t text_decode(const char *bytes, size_t length, int32_t *codepoint)
{
	unsigned char lead = (unsigned char)bytes[0];

	if (lead < 0x80) {
		*codepoint = lead;
		return 1;
	}
	for (size_t i = 0; i < ARRAY_LENGTH(utf8_forms); i++) {
		const struct utf8_form *form = &utf8_forms[i];
		int32_t value = lead & ~form->mask & 0xff;

		if ((lead & form->mask) != form->lead)
			continue;
		if (form->length > length)
			return 0;
		for (size_t at = 1; at < form->length; at++) {
			unsigned char byte = (unsigned char)bytes[at];

			if ((byte & 0xc0) != 0x80)
				return 0;
			value = (value << 6) | (byte & 0x3f);
		}
		if (value < form->first || !is_codepoint(value))
			return 0;
		*codepoint = value;
		return form->length;
	}
	return 0;
}

/* Number of leading ASCII bytes; tests eight bytes at a time. */
static size_t skip_ascii(const char *bytes, size_t length)
{
	size_t at = 0;
	uint64_t eight;

	for (; at + sizeof(eight) <= length; at += sizeof(eight)) {
		memcpy(&eight, bytes + at, sizeof(eight));
		if (eight & HIGH_BITS)
			break;
	}
	while (at < length && (unsigned char)bytes[at] < 0x80)
		at++;
	return at;
}

bool text_is_utf8(const char *bytes, size_t length)
{
	size_t at = skip_ascii(bytes, length);

	while (at < length) {
		int32_t codepoint;
		size_t used = text_decode(bytes + at, length - at, &codepoint);

		if (used == 0)
			return false;
		at += used;
		if (at < length && (unsigned char)bytes[at] < 0x80)
			at += skip_ascii(bytes + at, length - at);
	}
	return true;
}

size_t text_unfinished(const char *bytes, size_t length)
{
	for (size_t back = 1; back <= 3 && back <= length; back++) {
		unsigned char byte = (unsigned char)bytes[length - back];

		if ((byte & 0xc0) == 0x80)
			continue;
		if (byte >= 0xf0)
			return back < 4 ? back : 0;
		if (byte >= 0xe0)
			return back < 3 ? back : 0;
		return byte >= 0xc0 && back < 2 ? back : 0;
	}
	return 0;
}

/* True for control characters and for characters that are invisible. */
static bool is_unsafe(int32_t codepoint)
{
	static const int32_t blanks[] = { 0x115f, 0x1160, 0x3164, 0xffa0 };

	if (codepoint < 0x80)
		return codepoint < 0x20 || codepoint == 0x7f;
	for (size_t i = 0; i < ARRAY_LENGTH(blanks); i++)
		if (codepoint == blanks[i])
			return true;
	switch (utf8proc_category(codepoint)) {
	case UTF8PROC_CATEGORY_CC:
	case UTF8PROC_CATEGORY_CF:
	case UTF8PROC_CATEGORY_CS:
	case UTF8PROC_CATEGORY_ZL:
	case UTF8PROC_CATEGORY_ZP:
		return true;
	default:
		return false;
	}
}

int text_codepoint_width(int32_t codepoint)
{
	int width;

	if (codepoint < 0x300)
		return codepoint > 0;
	if (is_unsafe(codepoint))
		return 1;
	width = utf8proc_charwidth(codepoint);
	return width > 2 ? 2 : width;
}

int text_width(const char *string)
{
	int width = 0;

	while (*string) {
		if ((unsigned char)*string < 0x80) {
			width++;
			string++;
		} else {
			width += text_codepoint_width(text_next(&string));
		}
	}
	return width;
}

int32_t text_next(const char **string)
{
	int32_t codepoint;
	size_t used;

	if (**string == '\0')
		return 0;
	used = text_decode(*string, 4, &codepoint);
	if (used == 0) {
		(*string)++;
		return REPLACEMENT;
	}
	*string += used;
	return codepoint;
}

size_t text_fit(const char *string, int width)
{
	const char *at = string;
	int used = 0;

	while (*at) {
		const char *next = at;

		used += text_codepoint_width(text_next(&next));
		if (used > width)
			break;
		at = next;
	}
	return (size_t)(at - string);
}

void text_put_codepoint(struct buffer *out, int32_t codepoint)
{
	utf8proc_uint8_t bytes[4];
	utf8proc_ssize_t length;

	if (!is_codepoint(codepoint))
		codepoint = REPLACEMENT;
	length = utf8proc_encode_char(codepoint, bytes);
	buffer_append(out, bytes, (size_t)length);
}

bool text_is_printable(int32_t codepoint)
{
	static const utf8proc_category_t hidden[] = {
		UTF8PROC_CATEGORY_CC, UTF8PROC_CATEGORY_CF, UTF8PROC_CATEGORY_CS,
		UTF8PROC_CATEGORY_CO, UTF8PROC_CATEGORY_CN, UTF8PROC_CATEGORY_ZL,
		UTF8PROC_CATEGORY_ZP, UTF8PROC_CATEGORY_ZS,
	};

	if (codepoint >= 0x20 && codepoint < 0x7f)
		return true;
	if (!is_codepoint(codepoint))
		return false;
	for (size_t i = 0; i < ARRAY_LENGTH(hidden); i++) {
		if (utf8proc_category(codepoint) == hidden[i])
			return false;
	}
	return true;
}

size_t text_plain_prefix(const char *bytes, size_t length)
{
	size_t at = 0;

	while (at < length) {
		unsigned char byte = (unsigned char)bytes[at];
		int32_t codepoint;
		size_t used = 1;

		if (byte < 0x80) {
			if (byte < 0x20 || byte == 0x7f)
				break;
		} else {
			used = text_decode(bytes + at, length - at, &codepoint);
			if (used == 0 || is_unsafe(codepoint))
				break;
		}
		at += used;
	}
	return at;
}

/* Appends the escape of the unsafe character at bytes; returns the character's length in bytes. */
static size_t escape_one(struct buffer *out, const char *bytes, size_t length)
{
	int32_t codepoint;
	size_t used = text_decode(bytes, length, &codepoint);

	if (used == 0) {
		buffer_printf(out, "<%02x>", (unsigned char)bytes[0]);
		return 1;
	}
	if (codepoint < 0x80) {
		buffer_append_char(out, '^');
		buffer_append_char(out, (char)(codepoint ^ 0x40));
	} else {
		/* At least four digits: <85> is a byte, <0085> a code point. */
		buffer_printf(out, "<%04" PRIx32 ">", (uint32_t)codepoint);
	}
	return used;
}

void text_escape(struct buffer *out, const char *bytes, size_t length)
{
	while (length > 0) {
		size_t plain = text_plain_prefix(bytes, length);

		buffer_append(out, bytes, plain);
		bytes += plain;
		length -= plain;
		if (length > 0) {
			size_t used = escape_one(out, bytes, length);

			bytes += used;
			length -= used;
		}
	}
}

void text_append_line(struct buffer *out, const char *bytes, size_t length)
{
	int column = 0;

	while (length > 0) {
		const char *tab = memchr(bytes, '\t', length);
		size_t part = tab ? (size_t)(tab - bytes) : length;
		size_t before = out->length;

		text_escape(out, bytes, part);
		column += text_width(out->data + before);
		if (!tab)
			return;
		do {
			buffer_append_char(out, ' ');
			column++;
		} while (column % TAB_COLUMNS != 0);
		bytes += part + 1;
		length -= part + 1;
	}
}

bool text_is_plain(const char *bytes, size_t length)
{
	return text_plain_prefix(bytes, length) == length;
}

void text_cut(struct buffer *out, const char *string, int width)
{
	size_t length = strlen(string);

	if (width <= 0)
		return;
	/* No character has more columns than bytes, so short strings always fit. */
	if (length <= (size_t)width || text_fit(string, width) == length) {
		buffer_append(out, string, length);
		return;
	}
	buffer_append(out, string, text_fit(string, width - 1));
	buffer_append_string(out, ELLIPSIS);
}

/* Returns the longest end of string (length bytes) that has at most width columns. */
static const char *fit_end(const char *string, size_t length, int width)
{
	const char *end = string + length;
	const char *at = string;
	int left = 0;

	while (at < end)
		left += text_codepoint_width(text_next(&at));
	for (at = string; left > width;)
		left -= text_codepoint_width(text_next(&at));
	/* Combining marks without a base character would combine with the "…". */
	while (at < end) {
		const char *next = at;

		if (text_codepoint_width(text_next(&next)) > 0)
			break;
		at = next;
	}
	return at;
}

void text_cut_path(struct buffer *out, const char *path, int width)
{
	const char *slash = strrchr(path, '/');
	const char *tail;
	int spare;
	int head;

	if (!slash || text_width(path) <= width) {
		text_cut(out, path, width);
		return;
	}
	spare = width - 1 - text_width(slash);
	if (spare < 0) {
		text_cut(out, slash + 1, width);
		return;
	}
	/* Folders near the file name, more informative than those near the root, get more room. */
	head = spare / 2;
	tail = fit_end(path, (size_t)(slash - path), spare - head);
	buffer_append(out, path, text_fit(path, head));
	buffer_append_string(out, ELLIPSIS);
	buffer_append_string(out, tail);
}

void text_count(struct buffer *out, uint64_t count)
{
	char digits[24];
	int length = snprintf(digits, sizeof(digits), "%" PRIu64, count);

	for (int i = 0; i < length; i++) {
		if (i > 0 && (length - i) % 3 == 0)
			buffer_append_char(out, ',');
		buffer_append_char(out, digits[i]);
	}
}

void text_size(struct buffer *out, uint64_t bytes)
{
	static const char *const units[] = { "B", "KB", "MB", "GB", "TB", "PB", "EB" };
	double size = (double)bytes;
	size_t unit = 0;

	/* A number that rounds to 1,000 is shown in the next unit. */
	while (size >= 999.5 && unit + 1 < ARRAY_LENGTH(units)) {
		size /= 1024;
		unit++;
	}
	buffer_printf(out, "%.*f %s", unit > 0 && size < 9.95 ? 1 : 0, size, units[unit]);
}

int32_t text_codepoint_lower(int32_t codepoint)
{
	return utf8proc_tolower(codepoint);
}

void text_lower(struct buffer *out, const char *string)
{
	while (*string != '\0') {
		unsigned char byte = (unsigned char)*string;

		if (byte >= 0x80)
			text_put_codepoint(out, utf8proc_tolower(text_next(&string)));
		else
			buffer_append_char(out, (char)tolower((unsigned char)*string++));
	}
}

bool text_has_capital(const char *string)
{
	while (*string != '\0') {
		int32_t codepoint = text_next(&string);

		if (utf8proc_tolower(codepoint) != codepoint)
			return true;
	}
	return false;
}

/* An age of at least this many seconds is shown in this unit, which sign and word name. */
struct age_unit {
	double seconds;
	const char *sign;
	const char *word;
};

static const struct age_unit age_units[] = {
	{ 365 * 86400.0, "y", "y" }, { 86400, "d", "d" }, { 3600, "h", "h" },
	{ 60, "m", "min" },	     { 1, "s", "s" },
};

static const struct age_unit *find_age_unit(double seconds)
{
	const struct age_unit *last = &age_units[ARRAY_LENGTH(age_units) - 1];

	for (const struct age_unit *unit = age_units; unit < last; unit++)
		if (seconds >= unit->seconds)
			return unit;
	return last;
}

/* Limits an age to 0 to 999 years; NaN becomes 0. */
static double bound_age(double seconds)
{
	if (!(seconds > 0))
		return 0;
	return seconds < 999 * 365 * 86400.0 ? seconds : 999 * 365 * 86400.0;
}

void text_age(struct buffer *out, double seconds)
{
	double age = bound_age(seconds);
	const struct age_unit *unit = find_age_unit(age);

	buffer_printf(out, "%d%s", (int)(age / unit->seconds), unit->sign);
}

void text_duration(struct buffer *out, double seconds)
{
	double age = bound_age(seconds);
	const struct age_unit *unit = find_age_unit(age);

	if (age >= 0.05 && age < 0.95)
		buffer_printf(out, "0.%d s", (int)(age * 10 + 0.5));
	else if (age < 1)
		buffer_printf(out, "%d s", (int)(age + 0.5));
	else
		buffer_printf(out, "%d %s", (int)(age / unit->seconds), unit->word);
}

void text_clock(struct buffer *out, double seconds)
{
	long whole = (long)bound_age(seconds);

	if (whole >= 3600)
		buffer_printf(out, "%ld:%02ld:%02ld", whole / 3600, whole / 60 % 60, whole % 60);
	else
		buffer_printf(out, "%ld:%02ld", whole / 60, whole % 60);
}

double text_seconds(const char *text)
{
	static const struct {
		const char *name;
		double seconds;
	} units[] = { { "", 1 }, { "s", 1 }, { "m", 60 }, { "min", 60 }, { "h", 3600 } };
	char *end;
	double number = strtod(text, &end);

	for (size_t i = 0; i < ARRAY_LENGTH(units) && end != text; i++)
		if (strcmp(end, units[i].name) == 0)
			return number * units[i].seconds;
	return NAN;
}

#define ESCAPE 0x1b
#define BELL 0x07

size_t text_sequence(const char *bytes, size_t length)
{
	size_t i = 2;

	if (length < 2 || bytes[0] != ESCAPE)
		return 0;
	if (bytes[1] == '[') {
		while (i < length && (unsigned char)bytes[i] >= 0x20 &&
		       (unsigned char)bytes[i] <= 0x3f)
			i++;
		return i < length && (unsigned char)bytes[i] >= 0x40 ? i + 1 : 0;
	}
	if (bytes[1] != ']')
		return 0;
	while (i < length && bytes[i] != BELL && bytes[i] != ESCAPE)
		i++;
	if (i < length && bytes[i] == BELL)
		return i + 1;
	return i + 1 < length && bytes[i + 1] == '\\' ? i + 2 : 0;
}
