#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "base/array.h"
#include "base/buffer.h"
#include "base/text.h"
#include "model/session.h"
#include "ui/pane.h"

#define NOT_EQUAL_MARK 0x2260 /* ≠ */
#define VALUES_IN_LINE 24     /* columns for values that are listed one by one */

/* A name, and its variables in the frames of both sides. */
struct local_difference {
	const char *name;
	const struct variable *a; /* variable in this frame; NULL: the name is not in this frame */
	const struct variable *b[DIFF_RANKS_MAXIMUM];
	size_t b_count;
	char op; /* '=' equal, '~' different, '-' only in a, '+' only in b */
};

struct differences {
	struct local_difference *items;
	size_t count;
	size_t capacity;
};

static const struct variables *frame_variables(const struct session *session,
					       const struct rank *rank, int depth)
{
	const struct thread *main = rank != NULL ? rank_main_thread(rank) : NULL;

	if (main == NULL)
		return NULL;
	return session_find_variables(session, rank->node, rank->process.pid, main->sample.tid,
				      depth, 0, 0);
}

static const struct variable *find_variable(const struct variables *variables, const char *name)
{
	for (size_t i = 0; variables != NULL && i < variables->list.count; i++)
		if (strcmp(variables->list.items[i].name, name) == 0)
			return &variables->list.items[i];
	return NULL;
}

static bool is_bound(const struct variable *variable)
{
	return variable != NULL &&
	       (variable->value == NULL || strcmp(variable->value, "unbound") != 0);
}

static const char *pane_diff_locals_value_of(const struct variable *variable)
{
	return variable->value != NULL ? variable->value : "?";
}

/* Appends a value without " at 0x7f…": equal objects have different addresses in each process. */
static void pane_diff_locals_append_value(struct buffer *out, const struct variable *variable)
{
	const char *value = pane_diff_locals_value_of(variable);
	const char *at;

	while ((at = strstr(value, " at 0x")) != NULL) {
		buffer_append(out, value, (size_t)(at - value));
		value = at + 6 + strspn(at + 6, "0123456789abcdef");
	}
	buffer_append_string(out, value);
}

static bool pane_diff_locals_is_same_value(const struct variable *a, const struct variable *b)
{
	struct buffer first = BUFFER_INIT;
	struct buffer second = BUFFER_INIT;
	bool is_same;

	pane_diff_locals_append_value(&first, a);
	pane_diff_locals_append_value(&second, b);
	is_same = strcmp(first.data, second.data) == 0;
	buffer_clear(&first);
	buffer_clear(&second);
	return is_same;
}

static char pane_diff_locals_compare(const struct local_difference *difference)
{
	bool is_here = is_bound(difference->a);
	bool is_there = false;

	for (size_t i = 0; i < difference->b_count; i++)
		is_there |= is_bound(difference->b[i]);
	if (is_here != is_there)
		return is_here ? '-' : '+';
	if (!is_here)
		return '=';
	for (size_t i = 0; i < difference->b_count; i++)
		if (!is_bound(difference->b[i]) ||
		    !pane_diff_locals_is_same_value(difference->a, difference->b[i]))
			return '~';
	return '=';
}

static void add_name(struct differences *all, const struct session *session,
		     const struct diff_sides *sides, const char *name, int a_depth, int b_depth)
{
	struct local_difference *difference;

	for (size_t i = 0; i < all->count; i++)
		if (strcmp(all->items[i].name, name) == 0)
			return;
	ARRAY_GROW(all->items, all->count, all->capacity);
	difference = &all->items[all->count++];
	*difference = (struct local_difference){ .name = name };
	difference->a = find_variable(frame_variables(session, sides->a, a_depth), name);
	for (size_t i = 0; i < DIFF_RANKS_MAXIMUM; i++) {
		const struct rank *rank = diff_other(session, sides, i);
		const struct variables *there = frame_variables(session, rank, b_depth);

		if (rank == NULL)
			break;
		if (there == NULL || there->error != NULL)
			continue;
		difference->b[difference->b_count++] = find_variable(there, name);
	}
	difference->op = pane_diff_locals_compare(difference);
}

static void pane_diff_locals_add_names(struct differences *all, const struct session *session,
				       const struct diff_sides *sides, const struct variables *from,
				       int a_depth, int b_depth)
{
	for (size_t i = 0; from != NULL && i < from->list.count; i++)
		add_name(all, session, sides, from->list.items[i].name, a_depth, b_depth);
}

static size_t distinct_count(const struct local_difference *difference)
{
	size_t count = 0;

	for (size_t i = 0; i < difference->b_count; i++) {
		size_t j = 0;

		if (!is_bound(difference->b[i]))
			continue;
		while (j < i &&
		       (!is_bound(difference->b[j]) ||
			!pane_diff_locals_is_same_value(difference->b[j], difference->b[i])))
			j++;
		count += j == i;
	}
	return count;
}

static bool pane_diff_locals_parse_number(const char *text, double *number)
{
	char *end;

	errno = 0;
	*number = strtod(text, &end);
	return end != text && *end == '\0' && errno == 0 && *number == *number;
}

/* Appends "0.113 … 0.131". Returns false if a value is not a number. */
static bool pane_diff_locals_append_range(struct buffer *out,
					  const struct local_difference *difference)
{
	const char *lowest = NULL;
	const char *highest = NULL;
	double low = 0;
	double high = 0;

	for (size_t i = 0; i < difference->b_count; i++) {
		double number;

		if (!is_bound(difference->b[i]))
			continue;
		if (!pane_diff_locals_parse_number(pane_diff_locals_value_of(difference->b[i]),
						   &number))
			return false;
		if (lowest == NULL || number < low) {
			lowest = pane_diff_locals_value_of(difference->b[i]);
			low = number;
		}
		if (highest == NULL || number > high) {
			highest = pane_diff_locals_value_of(difference->b[i]);
			high = number;
		}
	}
	if (lowest == NULL)
		return false;
	buffer_printf(out, "%s \u2026 %s ", lowest, highest);
	return true;
}

static bool append_one_by_one(struct buffer *out, const struct local_difference *difference)
{
	size_t start = out->length;

	for (size_t i = 0; i < difference->b_count; i++) {
		if (!is_bound(difference->b[i]) || text_width(out->data + start) > VALUES_IN_LINE) {
			buffer_truncate(out, start);
			return false;
		}
		buffer_printf(out, "%s%s", i > 0 ? " " : "",
			      pane_diff_locals_value_of(difference->b[i]));
	}
	if (text_width(out->data + start) <= VALUES_IN_LINE)
		return true;
	buffer_truncate(out, start);
	return false;
}

/* Appends the values of the other side in one line. */
static void pane_diff_locals_append_values(struct buffer *out,
					   const struct local_difference *difference)
{
	size_t distinct = distinct_count(difference);
	size_t first = 0;

	while (first < difference->b_count && !is_bound(difference->b[first]))
		first++;
	if (first == difference->b_count) {
		buffer_append_string(out, difference->b_count > 0 ? "unbound" : "reading");
		return;
	}
	if (difference->b_count == 1) {
		pane_diff_locals_append_value(out, difference->b[first]);
		return;
	}
	if (distinct == 1) {
		pane_diff_locals_append_value(out, difference->b[first]);
		buffer_printf(out, " (%zu)", difference->b_count);
		return;
	}
	if (append_one_by_one(out, difference))
		return;
	pane_diff_locals_append_range(out, difference);
	buffer_printf(out, "(%zu values)", distinct);
}

static void put_side(struct window window, int row, const struct local_difference *difference,
		     char op, int width, const char *value)
{
	enum style style = diff_style(op);
	int32_t mark = (unsigned char)op;

	if (op == '=')
		mark = ' ';
	else if (op == '~')
		mark = NOT_EQUAL_MARK;
	window_put_character(window, row, 0, style, mark);
	window_put(window, row, 2, width, style, difference->name);
	window_put(window, row, 2 + width + 2, window.column_count - width - 4, style, value);
}

static void put_difference(struct window left, struct window right, int row,
			   const struct local_difference *difference, int width)
{
	struct buffer here = BUFFER_INIT;
	struct buffer there = BUFFER_INIT;
	bool is_one_sided = difference->op == '-' || difference->op == '+';

	if (difference->a != NULL)
		pane_diff_locals_append_value(&here, difference->a);
	else
		buffer_append_string(&here, "unbound");
	pane_diff_locals_append_values(&there, difference);
	/* Marks as in a diff of lines: '-' for this side, '+' for the other. */
	put_side(left, row, difference, is_one_sided ? '-' : difference->op, width, here.data);
	put_side(right, row, difference, is_one_sided ? '+' : difference->op, width, there.data);
	buffer_clear(&there);
	buffer_clear(&here);
}

/* Draws the differences; leaves out names with equal values if there is no room for all names. */
static void pane_diff_locals_put_all(struct window left, struct window right,
				     const struct differences *all)
{
	bool has_room = all->count <= (size_t)left.row_count;
	int width = 1;
	int row = 0;

	for (size_t i = 0; i < all->count; i++)
		if (text_width(all->items[i].name) > width)
			width = text_width(all->items[i].name);
	if (width > left.column_count / 2)
		width = left.column_count / 2;
	for (size_t i = 0; i < all->count; i++)
		if (has_room || all->items[i].op != '=')
			put_difference(left, right, row++, &all->items[i], width);
}

void pane_diff_locals(struct window left, struct window right, const struct session *session,
		      const struct diff_sides *sides, int a_depth, int b_depth)
{
	const struct variables *here = frame_variables(session, sides->a, a_depth);
	struct differences all = { .items = NULL };
	const char *waiting = rank_unread_reason(session, sides->a);

	if (here == NULL || here->error != NULL) {
		if (waiting == NULL)
			waiting = "reading variables";
		window_put_paragraph(left, 0, 2, left.row_count, STYLE_DIM,
				     here != NULL ? here->error : waiting);
		return;
	}
	pane_diff_locals_add_names(&all, session, sides, here, a_depth, b_depth);
	for (size_t i = 0; i < DIFF_RANKS_MAXIMUM; i++) {
		const struct rank *rank = diff_other(session, sides, i);

		if (rank == NULL)
			break;
		pane_diff_locals_add_names(&all, session, sides,
					   frame_variables(session, rank, b_depth), a_depth,
					   b_depth);
	}
	pane_diff_locals_put_all(left, right, &all);
	free(all.items);
}
