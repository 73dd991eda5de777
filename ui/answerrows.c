#include "ui/answerrows.h"

#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "base/alloc.h"
#include "base/array.h"
#include "base/buffer.h"
#include "base/text.h"
#include "model/session.h"
#include "ui/view.h"

static void answerrows_add_row(struct answer_rows *rows, size_t *capacity, size_t class, int line)
{
	ARRAY_GROW(rows->items, rows->count, *capacity);
	rows->items[rows->count++] = (struct answer_row){ class, line };
}

void answer_rows_make(struct answer_rows *rows, const struct session *session)
{
	size_t capacity = 0;

	*rows = (struct answer_rows){ .items = NULL };
	answer_classes_make(&rows->classes, &session->answers);
	for (size_t i = 0; i < rows->classes.count; i++) {
		const struct answer_class *class = &rows->classes.items[i];
		const char *text = class->text;
		int line = 0;

		answerrows_add_row(rows, &capacity, i, line);
		if (class->tensor != NULL)
			continue;
		while ((text = strchr(text, '\n')) != NULL) {
			text++;
			answerrows_add_row(rows, &capacity, i, ++line);
		}
	}
	if (rankset_count(&rows->classes.waiting) > 0)
		answerrows_add_row(rows, &capacity, rows->classes.count, 0);
}

void answer_rows_clear(struct answer_rows *rows)
{
	answer_classes_clear(&rows->classes);
	free(rows->items);
	*rows = (struct answer_rows){ .items = NULL };
}

const struct answer_class *answer_rows_class(const struct answer_rows *rows, size_t row)
{
	size_t class = rows->items[row].class;

	return class < rows->classes.count ? &rows->classes.items[class] : NULL;
}

const struct rankset *answer_rows_ranks(const struct answer_rows *rows, size_t row)
{
	const struct answer_class *class = answer_rows_class(rows, row);

	return class != NULL ? &class->ranks : &rows->classes.waiting;
}

int answer_rows_cursor(const struct answer_rows *rows, const struct view *view)
{
	int last = (int)rows->count - 1;

	return view->cursors[VIEW_COMPARE] < last ? view->cursors[VIEW_COMPARE] : last;
}

void answer_rows_append(struct buffer *out, const struct answer_rows *rows, size_t row)
{
	const struct answer_class *class = answer_rows_class(rows, row);
	const char *text;

	if (class == NULL) {
		buffer_append_string(out, "\u2026");
		return;
	}
	text = class->text;
	for (int i = 0; i < rows->items[row].line; i++)
		text = strchr(text, '\n') + 1;
	text_append_line(out, text, strcspn(text, "\n"));
}
