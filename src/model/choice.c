#include "model/choice.h"

#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "base/alloc.h"
#include "base/array.h"
#include "base/error.h"

static void display_clear(struct display *display)
{
	free(display->expression);
	free(display->value);
	free(display->error);
}

void displays_clear(struct displays *displays)
{
	for (size_t i = 0; i < displays->count; i++)
		display_clear(&displays->items[i]);
	free(displays->items);
	*displays = (struct displays){ .items = NULL };
}

int displays_add(struct displays *displays, const char *expression, struct error *error)
{
	struct display *added;

	if (displays->count >= DISPLAYS_MAXIMUM)
		return error_set(
			error,
			"too many displayed expressions (%d): use `undisplay ID` to remove one",
			DISPLAYS_MAXIMUM);
	ARRAY_GROW(displays->items, displays->count, displays->capacity);
	added = &displays->items[displays->count++];
	*added = (struct display){
		.id = ++displays->last_id,
		.expression = xstrdup(expression),
	};
	return added->id;
}

bool displays_remove(struct displays *displays, int id)
{
	struct display *items = displays->items;

	for (size_t i = 0; i < displays->count; i++) {
		if (items[i].id != id)
			continue;
		display_clear(&items[i]);
		displays->count--;
		memmove(items + i, items + i + 1, (displays->count - i) * sizeof(*items));
		return true;
	}
	return false;
}

struct display *displays_find(struct displays *displays, int id)
{
	for (size_t i = 0; i < displays->count; i++)
		if (displays->items[i].id == id)
			return &displays->items[i];
	return NULL;
}

void display_answer(struct display *display, const char *value, const char *error)
{
	display->has_changed = display->value && value && strcmp(display->value, value) != 0;
	free(display->value);
	free(display->error);
	display->value = xstrdup_or_null(value);
	display->error = xstrdup_or_null(error);
}
