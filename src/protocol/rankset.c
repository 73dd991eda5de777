#include "protocol/rankset.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "base/array.h"
#include "base/buffer.h"
#include "base/error.h"
#include "base/text.h"

void rankset_clear(struct rankset *set)
{
	free(set->ranges);
	*set = (struct rankset)RANKSET_INIT;
}

/* Appends a range or joins it to the set's last range, whose first rank must not be above first. */
static void rankset_push(struct rankset *set, int first, int last)
{
	struct rank_range *end;

	if (set->range_count > 0) {
		end = &set->ranges[set->range_count - 1];
		if (first <= end->last + 1) {
			if (last > end->last)
				end->last = last;
			return;
		}
	}
	ARRAY_GROW(set->ranges, set->range_count, set->capacity);
	set->ranges[set->range_count++] = (struct rank_range){ first, last };
}

/* Index of the first range whose last rank is at least rank; range_count: no such range. */
static size_t find_range(const struct rankset *set, int rank)
{
	size_t low = 0;
	size_t high = set->range_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (set->ranges[middle].last < rank)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

void rankset_add(struct rankset *set, int rank)
{
	rankset_add_range(set, rank, rank);
}

/* Moves the ranges from index `from` on to index `to`, in order to insert or drop ranges. */
static void shift(struct rankset *set, size_t from, size_t to)
{
	memmove(&set->ranges[to], &set->ranges[from],
		(set->range_count - from) * sizeof(*set->ranges));
	set->range_count = set->range_count - from + to;
}

void rankset_add_range(struct rankset *set, int first, int last)
{
	size_t begin;
	size_t end;

	if (first < 0)
		first = 0;
	if (last > RANKSET_MAXIMUM)
		last = RANKSET_MAXIMUM;
	if (first > last)
		return;
	begin = find_range(set, first - 1);
	if (begin == set->range_count) {
		rankset_push(set, first, last);
		return;
	}
	/* The ranges begin to end - 1 overlap or touch the new range: all become one range. */
	for (end = begin; end < set->range_count; end++) {
		if (set->ranges[end].first > last + 1)
			break;
		if (set->ranges[end].first < first)
			first = set->ranges[end].first;
		if (set->ranges[end].last > last)
			last = set->ranges[end].last;
	}
	if (begin == end)
		ARRAY_GROW(set->ranges, set->range_count, set->capacity);
	shift(set, end, begin + 1);
	set->ranges[begin] = (struct rank_range){ first, last };
}

void rankset_remove(struct rankset *set, int rank)
{
	size_t i = find_range(set, rank);
	struct rank_range range;

	if (!rankset_contains(set, rank))
		return;
	range = set->ranges[i];
	if (range.first == range.last) {
		shift(set, i + 1, i);
	} else if (rank == range.first) {
		set->ranges[i].first++;
	} else if (rank == range.last) {
		set->ranges[i].last--;
	} else {
		ARRAY_GROW(set->ranges, set->range_count, set->capacity);
		shift(set, i, i + 1);
		set->ranges[i].first = range.first;
		set->ranges[i].last = rank - 1;
		set->ranges[i + 1].first = rank + 1;
	}
}

void rankset_copy(struct rankset *to, const struct rankset *from)
{
	if (to == from)
		return;
	to->range_count = 0;
	if (from->range_count == 0)
		return;
	to->ranges = array_grow(to->ranges, from->range_count, &to->capacity, sizeof(*to->ranges));
	memcpy(to->ranges, from->ranges, from->range_count * sizeof(*to->ranges));
	to->range_count = from->range_count;
}

bool rankset_contains(const struct rankset *set, int rank)
{
	size_t i = find_range(set, rank);

	return i < set->range_count && set->ranges[i].first <= rank;
}

bool rankset_is_equal(const struct rankset *a, const struct rankset *b)
{
	if (a->range_count != b->range_count)
		return false;
	return a->range_count == 0 ||
	       memcmp(a->ranges, b->ranges, a->range_count * sizeof(*a->ranges)) == 0;
}

size_t rankset_count(const struct rankset *set)
{
	size_t count = 0;

	for (size_t i = 0; i < set->range_count; i++)
		count += (size_t)(set->ranges[i].last - set->ranges[i].first) + 1;
	return count;
}

int rankset_first(const struct rankset *set)
{
	return set->range_count > 0 ? set->ranges[0].first : -1;
}

int rankset_next(const struct rankset *set, int rank)
{
	size_t i;

	if (rank >= RANKSET_MAXIMUM)
		return -1;
	i = find_range(set, rank + 1);
	if (i == set->range_count)
		return -1;
	return set->ranges[i].first > rank + 1 ? set->ranges[i].first : rank + 1;
}

void rankset_unite(struct rankset *set, const struct rankset *more)
{
	struct rankset sum = RANKSET_INIT;
	size_t a = 0;
	size_t b = 0;

	while (a < set->range_count || b < more->range_count) {
		struct rank_range next;

		if (b == more->range_count ||
		    (a < set->range_count && set->ranges[a].first <= more->ranges[b].first))
			next = set->ranges[a++];
		else
			next = more->ranges[b++];
		rankset_push(&sum, next.first, next.last);
	}
	rankset_clear(set);
	*set = sum;
}

void rankset_subtract(struct rankset *set, const struct rankset *less)
{
	struct rankset rest = RANKSET_INIT;
	size_t b = 0;

	for (size_t a = 0; a < set->range_count; a++) {
		struct rank_range left = set->ranges[a];

		while (b < less->range_count && less->ranges[b].last < left.first)
			b++;
		for (size_t i = b; i < less->range_count && less->ranges[i].first <= left.last;
		     i++) {
			if (less->ranges[i].first > left.first)
				rankset_push(&rest, left.first, less->ranges[i].first - 1);
			left.first = less->ranges[i].last + 1;
		}
		if (left.first <= left.last)
			rankset_push(&rest, left.first, left.last);
	}
	rankset_clear(set);
	*set = rest;
}

void rankset_intersect(struct rankset *set, const struct rankset *other)
{
	struct rankset alone = RANKSET_INIT;

	rankset_copy(&alone, set);
	rankset_subtract(&alone, other);
	rankset_subtract(set, &alone);
	rankset_clear(&alone);
}

/* Reads a rank and moves *at behind its digits; -1 and *error: no digits, or out of bounds. */
static int rankset_parse_number(const char **at, struct error *error)
{
	const char *start = *at;
	int number = 0;

	if (*start < '0' || *start > '9')
		return error_set(error, "expected a rank number");
	for (; **at >= '0' && **at <= '9'; (*at)++) {
		if (number <= RANKSET_MAXIMUM)
			number = number * 10 + (**at - '0');
	}
	if (number <= RANKSET_MAXIMUM)
		return number;
	error_set(error, "%.*s%s is too large: rank numbers go up to %d",
		  (int)(*at - start < 20 ? *at - start : 20), start,
		  *at - start > 20 ? "\u2026" : "", RANKSET_MAXIMUM);
	*at = start;
	return -1;
}

/* Adds every step-th rank from first to last; -1 and *error: too many ranks. */
static int add_steps(struct rankset *set, int first, int last, int step, struct error *error)
{
	struct rankset named = RANKSET_INIT;

	if (step == 1 || first == last) {
		rankset_add_range(set, first, last);
		return 0;
	}
	if ((last - first) / step >= RANKSET_STEPS)
		return error_set(error, "%d-%d/%d has more than %d ranks", first, last, step,
				 RANKSET_STEPS);
	for (int rank = first; rank <= last; rank += step)
		rankset_push(&named, rank, rank);
	rankset_unite(set, &named);
	rankset_clear(&named);
	return 0;
}

/*
 * Reads the end of a range ("-7" or "-63/8") if *at points to one. Returns 0, also if no end is
 * there; -1 and *error: the end is invalid.
 */
static int parse_end(const char **at, int *last, int *step, struct error *error)
{
	if (**at != '-')
		return 0;
	(*at)++;
	*last = rankset_parse_number(at, error);
	if (*last < 0 || **at != '/')
		return *last < 0 ? -1 : 0;
	(*at)++;
	*step = rankset_parse_number(at, error);
	if (*step == 0)
		error_set(error, "the step must be at least 1");
	return *step > 0 ? 0 : -1;
}

int rankset_parse_range(struct rankset *set, const char **at, struct error *error)
{
	const char *start = *at;
	int first = rankset_parse_number(at, error);
	int last = first;
	int step = 1;

	if (first < 0 || parse_end(at, &last, &step, error) < 0)
		return -1;
	if (first <= last && add_steps(set, first, last, step, error) == 0)
		return 0;
	*at = start;
	if (last < first)
		error_set(error, "%d-%d is reversed: write %d-%d", first, last, last, first);
	return -1;
}

int rankset_parse(struct rankset *set, const char *text, struct error *error)
{
	struct rankset named = RANKSET_INIT;
	const char *at = text;
	int result = rankset_parse_range(&named, &at, error);

	while (result == 0 && *at == ',') {
		at++;
		result = rankset_parse_range(&named, &at, error);
	}
	if (result == 0 && *at != '\0')
		result = error_set(error, "expected a comma between rank numbers");
	if (result < 0)
		error_prefix(error, "'%.40s', column %d", text, (int)(at - text) + 1);
	else
		rankset_unite(set, &named);
	rankset_clear(&named);
	return result;
}

void rankset_append_named(struct buffer *out, const struct rankset *set)
{
	buffer_append_string(out, rankset_count(set) == 1 ? "rank " : "ranks ");
	rankset_append(out, set);
}

void rankset_append_counted(struct buffer *out, const struct rankset *set)
{
	rankset_append(out, set);
	buffer_append_string(out, " (");
	text_count(out, rankset_count(set));
	buffer_append_char(out, ')');
}

void rankset_append(struct buffer *out, const struct rankset *set)
{
	for (size_t i = 0; i < set->range_count; i++) {
		const struct rank_range *range = &set->ranges[i];

		if (i > 0)
			buffer_append_char(out, ',');
		buffer_printf(out, "%d", range->first);
		if (range->last > range->first)
			buffer_printf(out, "-%d", range->last);
	}
}
