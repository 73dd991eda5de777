#include "ui/hit.h"

#include <stdlib.h>

#include "banned.h"
#include "base/alloc.h"
#include "base/array.h"
#include "ui/window.h"

void hit_list_clear(struct hit_list *list)
{
	free(list->items);
	*list = (struct hit_list){ .items = NULL };
}

static void add(struct hit_list *list, struct window part, struct hit hit)
{
	if (part.row_count <= 0 || part.column_count <= 0)
		return;
	hit.row = part.row;
	hit.column = part.column;
	hit.row_count = part.row_count;
	hit.column_count = part.column_count;
	ARRAY_GROW(list->items, list->count, list->capacity);
	list->items[list->count++] = hit;
}

void window_hit(struct window window, int row, int column, int row_count, int column_count,
		enum hit_kind kind, int value)
{
	add(&window.canvas->hits, window_part(window, row, column, row_count, column_count),
	    (struct hit){ .kind = kind, .value = value });
}

void window_hit_key(struct window window, int column, int column_count, const char *static_line)
{
	add(&window.canvas->hits, window_part(window, 0, column, 1, column_count),
	    (struct hit){ .kind = HIT_KEY, .line = static_line });
}

const struct hit *hit_list_find(const struct hit_list *list, int row, int column, unsigned kinds)
{
	for (size_t i = list->count; i > 0; i--) {
		const struct hit *hit = &list->items[i - 1];

		if ((hit->kind & kinds) != 0 && row >= hit->row &&
		    row < hit->row + hit->row_count && column >= hit->column &&
		    column < hit->column + hit->column_count)
			return hit;
	}
	return NULL;
}
