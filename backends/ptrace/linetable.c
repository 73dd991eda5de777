#include "backends/ptrace/linetable.h"

#include <stdbool.h>

#include "banned.h"

#define NO_LINE (-128) /* 3.10: these instructions have no line */

/* Codes of a location entry, Include/internal/pycore_code.h. */
enum location {
	LOCATION_ONE_LINE = 10,
	LOCATION_NO_COLUMNS = 13,
	LOCATION_LONG = 14,
	LOCATION_NONE = 15,
};

struct cursor {
	const uint8_t *at;
	const uint8_t *end;
};

static int find_in_lnotab(const struct linetable *table, uint64_t offset)
{
	uint64_t address = 0;
	int64_t line = table->first_lineno;

	for (size_t i = 0; i + 1 < table->length; i += 2) {
		address += table->bytes[i];
		if (address > offset)
			break;
		line += (int8_t)table->bytes[i + 1];
	}
	return line > 0 ? (int)line : 0;
}

static int find_in_pairs(const struct linetable *table, uint64_t offset)
{
	uint64_t end = 0;
	int64_t line = table->first_lineno;

	for (size_t i = 0; i + 1 < table->length; i += 2) {
		int delta = (int8_t)table->bytes[i + 1];
		end += table->bytes[i];
		if (delta != NO_LINE)
			line += delta;
		if (offset < end)
			return delta == NO_LINE || line < 0 ? 0 : (int)line;
	}
	return 0;
}

static uint32_t read_number(struct cursor *cursor)
{
	uint32_t value = 0;
	uint8_t byte = 0x40;

	for (unsigned shift = 0; byte & 0x40 && cursor->at < cursor->end;
	     shift += 6) {
		byte = *cursor->at++;
		if (shift < 32)
			value |= (uint32_t)(byte & 0x3f) << shift;
	}
	return value;
}

static int64_t read_signed(struct cursor *cursor)
{
	uint32_t value = read_number(cursor);

	return value & 1 ? -(int64_t)(value >> 1) : (int64_t)(value >> 1);
}

static void skip_bytes(struct cursor *cursor, size_t count)
{
	if ((size_t)(cursor->end - cursor->at) < count)
		count = (size_t)(cursor->end - cursor->at);
	cursor->at += count;
}

/* Reads what follows an entry's first byte; gives how many lines it adds. */
static int64_t read_location(struct cursor *cursor, int code)
{
	int64_t delta = 0;

	if (code == LOCATION_NONE)
		return 0;
	if (code == LOCATION_LONG || code == LOCATION_NO_COLUMNS)
		delta = read_signed(cursor);
	if (code == LOCATION_LONG)
		for (int i = 0; i < 3; i++)
			read_number(cursor);
	if (code < LOCATION_ONE_LINE)
		skip_bytes(cursor, 1);
	if (code >= LOCATION_ONE_LINE && code < LOCATION_NO_COLUMNS) {
		skip_bytes(cursor, 2);
		delta = code - LOCATION_ONE_LINE;
	}
	return delta;
}

static int find_in_locations(const struct linetable *table, uint64_t offset)
{
	struct cursor cursor = { table->bytes, table->bytes + table->length };
	uint64_t end = 0;
	int64_t line = table->first_lineno;

	while (cursor.at < cursor.end) {
		uint8_t first = *cursor.at++;
		int code = first >> 3 & 15;
		line += read_location(&cursor, code);
		end += ((first & 7u) + 1) * 2;
		if (offset < end)
			return code == LOCATION_NONE || line < 0 ||
					       line > INT32_MAX
				       ? 0
				       : (int)line;
	}
	return 0;
}

int linetable_find(const struct linetable *table, int minor, uint64_t offset)
{
	if (minor >= 11)
		return find_in_locations(table, offset);
	if (minor == 10)
		return find_in_pairs(table, offset);
	return find_in_lnotab(table, offset);
}
