#include "ui/mouse-target.h"

#include <stdlib.h>

#include "banned.h"
#include "base/alloc.h"
#include "base/array.h"
#include "ui/window.h"

void mouse_target_list_clear(struct mouse_target_list *list)
{
	free(list->items);
	*list = (struct mouse_target_list){ .items = NULL };
}

static void mouse_target_add(struct mouse_target_list *list, struct window part,
			     struct mouse_target hit)
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
		enum mouse_target_kind kind, int value)
{
	mouse_target_add(&window.canvas->hits,
			 window_part(window, row, column, row_count, column_count),
			 (struct mouse_target){ .kind = kind, .value = value });
}

void window_hit_key(struct window window, int column, int column_count, const char *static_line)
{
	mouse_target_add(&window.canvas->hits, window_part(window, 0, column, 1, column_count),
			 (struct mouse_target){ .kind = MOUSE_TARGET_KEY, .line = static_line });
}

const struct mouse_target *mouse_target_list_find(const struct mouse_target_list *list, int row,
						  int column, unsigned kinds)
{
	for (size_t i = list->count; i > 0; i--) {
		const struct mouse_target *hit = &list->items[i - 1];

		if ((hit->kind & kinds) != 0 && row >= hit->row &&
		    row < hit->row + hit->row_count && column >= hit->column &&
		    column < hit->column + hit->column_count)
			return hit;
	}
	return NULL;
}
