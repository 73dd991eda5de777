#include "ui/cells.h"

#include <stdlib.h>

#include "banned.h"
#include "base/alloc.h"
#include "base/array.h"
#include "base/buffer.h"
#include "base/text.h"
#include "model/session.h"
#include "ui/ranklist.h"
#include "ui/view.h"

#define NUMBER_WIDTH 6 /* columns of the number of a line's first rank, and a blank */
#define NAME_MAXIMUM 24
#define ACROSS_MINIMUM 8
#define ACROSS_MAXIMUM 64
#define GAP 2 /* columns between groups */
#define LEGEND_MAXIMUM 8

/* The ranks of a line: a power of two, so that ranks with equal remainders are in one column. */
static int choose_across(int room)
{
	int across = ACROSS_MINIMUM;

	while (across * 2 <= room && across < ACROSS_MAXIMUM)
		across *= 2;
	return across;
}

static int cells_name_width(const struct ranklist *list, const struct session *session,
			    const struct view *view, int column_count)
{
	struct buffer name = BUFFER_INIT;
	int most = column_count / 4;
	int width = 0;

	if (most > NAME_MAXIMUM)
		most = NAME_MAXIMUM;
	for (size_t i = 0; i < list->group_count; i++) {
		int own;

		buffer_reset(&name);
		ranklist_append_group(&name, list, session, view, &list->groups[i]);
		own = text_width(name.data);
		if (own > width)
			width = own;
	}
	buffer_clear(&name);
	return (width < most ? width : most) + 1;
}

static void add_label(struct cells *cells, size_t *capacity, int line, int column, size_t at)
{
	ARRAY_GROW(cells->labels, cells->label_count, *capacity);
	cells->labels[cells->label_count++] =
		(struct cell_label){ .line = line, .column = column, .at = at };
}

/* Places count ranks, beginning at a line; returns the count of lines. */
static int place_run(struct cells *cells, size_t first, size_t count, int line, int column)
{
	size_t across = (size_t)cells->across;

	for (size_t i = 0; i < count; i++)
		cells->places[first + i] = (struct cell_place){
			.line = line + (int)(i / across),
			.column = column + cells->label_width + (int)(i % across),
		};
	return (int)((count + across - 1) / across);
}

static void place_all(struct cells *cells, const struct ranklist *list)
{
	size_t across = (size_t)cells->across;
	size_t capacity = 0;

	cells->line_count = place_run(cells, 0, list->rank_count, 0, 0);
	for (int line = 0; line < cells->line_count; line++)
		add_label(cells, &capacity, line, 0, (size_t)line * across);
}

static void place_folded(struct cells *cells, const struct ranklist_group *group, int line,
			 int column)
{
	for (size_t i = 0; i < group->count; i++)
		cells->places[group->first + i] = (struct cell_place){
			.line = line,
			.column = column,
			.is_folded = true,
		};
}

static void place_groups(struct cells *cells, const struct ranklist *list, int column_count)
{
	size_t widest = 1;
	size_t capacity = 0;
	int beside = 1; /* count of groups side by side */
	int block = 0;

	for (size_t i = 0; i < list->group_count; i++)
		if (list->groups[i].count > widest)
			widest = list->groups[i].count;
	if (widest <= (size_t)cells->across) {
		block = cells->label_width + (int)widest + GAP;
		beside = (column_count + GAP) / block;
	}
	if (beside < 1)
		beside = 1;
	for (size_t i = 0; i < list->group_count; i++) {
		const struct ranklist_group *group = &list->groups[i];
		int slot = (int)(i % (size_t)beside);
		int line = cells->line_count;
		int lines = 1;

		add_label(cells, &capacity, line, slot * block, group->first);
		if (group->is_folded)
			place_folded(cells, group, line, slot * block);
		else
			lines = place_run(cells, group->first, group->count, line, slot * block);
		if (slot + 1 == beside || i + 1 == list->group_count)
			cells->line_count += lines;
	}
}

void cells_make(struct cells *cells, const struct ranklist *list, const struct session *session,
		const struct view *view, int column_count)
{
	*cells = (struct cells){ .label_width = NUMBER_WIDTH };
	if (list->group_count > 0)
		cells->label_width = cells_name_width(list, session, view, column_count);
	cells->across = choose_across(column_count - cells->label_width - 1);
	cells->places = xcalloc(list->rank_count + 1, sizeof(*cells->places));
	if (list->group_count > 0)
		place_groups(cells, list, column_count);
	else
		place_all(cells, list);
}

void cells_clear(struct cells *cells)
{
	free(cells->places);
	free(cells->labels);
	*cells = (struct cells){ .places = NULL };
}

int cells_legend_rows(const struct session *session, const struct view *view, int row_count)
{
	size_t classes = session->verdict.class_count;
	int most = view->order.is_legend_whole ? row_count / 2 : LEGEND_MAXIMUM;

	if (most > row_count / 2)
		most = row_count / 2;
	if (classes > (size_t)most)
		return most > 1 ? most : 0;
	return (int)classes;
}
