#include "backends/cpython/line-table.h"

#include "banned.h"

#define NO_LINE (-128) /* 3.10: line delta of instructions that have no line */

/* Codes of a location entry, Include/internal/pycore_code.h. */
enum location {
	LOCATION_ONE_LINE = 10,
	LOCATION_NO_COLUMNS = 13,
	LOCATION_LONG = 14,
	LOCATION_NONE = 15,
};

/* Takes the next byte of the table; 0 at the table's end. */
static uint8_t take_byte(struct line_table_walk *walk)
{
	if (walk->at >= walk->table->length)
		return 0;
	return walk->table->bytes[walk->at++];
}

static uint32_t line_table_take_number(struct line_table_walk *walk)
{
	uint32_t value = 0;
	uint8_t byte = 0x40;

	for (unsigned shift = 0; byte & 0x40 && walk->at < walk->table->length; shift += 6) {
		byte = take_byte(walk);
		if (shift < 32)
			value |= (uint32_t)(byte & 0x3f) << shift;
	}
	return value;
}

static int64_t take_signed(struct line_table_walk *walk)
{
	uint32_t value = line_table_take_number(walk);

	return value & 1 ? -(int64_t)(value >> 1) : (int64_t)(value >> 1);
}

/*
 * A pair with line delta 0 only extends the entry, see lnotab_notes.txt. False: no entry is left.
 */
static bool next_of_lnotab(struct line_table_walk *walk)
{
	while (walk->at + 1 < walk->table->length) {
		walk->end += take_byte(walk);
		if (walk->table->bytes[walk->at])
			return true;
		walk->at++;
	}
	walk->end = UINT64_MAX;
	return !walk->is_over;
}

static bool next_of_pairs(struct line_table_walk *walk, bool *has_line)
{
	if (walk->at + 1 >= walk->table->length)
		return false;
	walk->end += take_byte(walk);
	int delta = (int8_t)take_byte(walk);
	*has_line = delta != NO_LINE;
	if (*has_line)
		walk->line += delta;
	return true;
}

/* Reads the rest of an entry behind its first byte; returns the number of lines to add. */
static int64_t take_location(struct line_table_walk *walk, int code)
{
	int64_t delta = 0;

	if (code == LOCATION_NONE)
		return 0;
	if (code == LOCATION_LONG || code == LOCATION_NO_COLUMNS)
		delta = take_signed(walk);
	if (code == LOCATION_LONG)
		for (int i = 0; i < 3; i++)
			line_table_take_number(walk);
	if (code < LOCATION_ONE_LINE)
		take_byte(walk);
	if (code >= LOCATION_ONE_LINE && code < LOCATION_NO_COLUMNS) {
		take_byte(walk);
		take_byte(walk);
		delta = code - LOCATION_ONE_LINE;
	}
	return delta;
}

static bool next_of_locations(struct line_table_walk *walk, bool *has_line)
{
	if (walk->at >= walk->table->length)
		return false;
	uint8_t first = take_byte(walk);
	int code = first >> 3 & 15;
	walk->line += take_location(walk, code);
	walk->end += ((first & 7u) + 1) * 2;
	*has_line = code != LOCATION_NONE;
	return true;
}

void line_table_begin(struct line_table_walk *walk, const struct line_table *table, int minor)
{
	*walk = (struct line_table_walk){
		.table = table,
		.minor = minor,
		.line = table->first_lineno,
	};
}

bool line_table_next(struct line_table_walk *walk, struct line_table_entry *entry)
{
	uint64_t start = walk->end;
	int64_t line = walk->line;
	bool has_line = true;
	bool is_there;

	if (walk->minor >= 11)
		is_there = next_of_locations(walk, &has_line);
	else if (walk->minor == 10)
		is_there = next_of_pairs(walk, &has_line);
	else
		is_there = next_of_lnotab(walk);
	if (!is_there)
		return false;
	if (walk->minor >= 10)
		line = walk->line;
	else if (walk->end != UINT64_MAX)
		walk->line += (int8_t)take_byte(walk);
	else
		walk->is_over = true;
	entry->start = start;
	entry->end = walk->end;
	entry->line = has_line && line >= 0 && line <= INT32_MAX ? (int)line : -1;
	return true;
}

int line_table_find(const struct line_table *table, int minor, uint64_t offset)
{
	struct line_table_walk walk;
	struct line_table_entry entry;

	line_table_begin(&walk, table, minor);
	while (line_table_next(&walk, &entry))
		if (offset < entry.end || entry.end == UINT64_MAX)
			return entry.line > 0 ? entry.line : 0;
	return 0;
}
