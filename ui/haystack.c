#include "ui/haystack.h"

#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "base/alloc.h"
#include "base/text.h"
#include "engine/engine.h"
#include "model/displays.h"
#include "model/place.h"
#include "model/source.h"
#include "protocol/stack.h"
#include "protocol/variable.h"
#include "ui/app.h"
#include "ui/commands-private.h"
#include "ui/pane.h"
#include "ui/pane-breakpoints.h"
#include "ui/ranklist.h"
#include "ui/view-type.h"

void haystack_end_line(struct haystack *haystack)
{
	text_escape(&haystack->text, haystack->line.data, strlen(haystack->line.data));
	buffer_append_char(&haystack->text, '\n');
	buffer_reset(&haystack->line);
	haystack->count++;
}

static void collect_source(struct haystack *haystack, const struct app *app)
{
	const struct session *session = &app->engine->session;
	const struct source *source = selected_source(session);

	for (size_t i = 1; source != NULL && i <= source->line_count; i++) {
		buffer_append_string(&haystack->line, source_line(source, (int)i));
		haystack_end_line(haystack);
	}
	if (source == NULL)
		return;
	haystack->at = pane_source_line(session, &app->view) - 1;
}

/* The ranks as the grid has them, each with all that its row says. */
static void collect_ranks(struct haystack *haystack, const struct app *app)
{
	const struct session *session = &app->engine->session;
	struct ranklist list;

	ranklist_make(&list, session, &app->view);
	for (size_t i = 0; i < list.rank_count; i++) {
		for (int column = 0; column < COLUMN_COUNT; column++) {
			column_append(&haystack->line, session, &app->view, list.ranks[i],
				      (enum column)column);
			buffer_append_char(&haystack->line, ' ');
		}
		haystack_end_line(haystack);
	}
	haystack->at = list.at > 0 ? list.at : 0;
	ranklist_clear(&list);
}

static void collect_stack(struct haystack *haystack, const struct app *app)
{
	const struct session *session = &app->engine->session;
	const struct thread *thread = session_selected_thread(session);
	const struct stack *stack = thread != NULL ? thread->sample.stack : NULL;

	for (size_t i = 0; stack != NULL && i < stack->frame_count; i++) {
		buffer_printf(&haystack->line, "%s ", stack->frames[i].code->func);
		place_append(&haystack->line, &stack->frames[i]);
		haystack_end_line(haystack);
	}
	haystack->at = session_selected_depth(session);
}

static void collect_locals(struct haystack *haystack, const struct app *app)
{
	const struct session *session = &app->engine->session;
	struct locals_frame frame = locals_frame_selected(session);
	size_t count;
	struct locals_row *rows = pane_locals_rows(session, &app->view, &frame, &count);

	for (size_t i = 0; i < count; i++) {
		const struct variable *variable = rows[i].variable;

		if (variable != NULL)
			buffer_printf(&haystack->line, "%s %s", variable->name,
				      variable->value != NULL ? variable->value : "");
		else if (rows[i].display != NULL)
			buffer_append_string(&haystack->line, rows[i].display->expression);
		else if (rows[i].text != NULL)
			buffer_append(&haystack->line, rows[i].text, strcspn(rows[i].text, "\n"));
		haystack_end_line(haystack);
	}
	haystack->at = app->view.locals_cursor;
	free(rows);
}

void home_add_rows(struct haystack *haystack, const struct app *app)
{
	switch (app->view.pane) {
	case PANE_GRID:
		collect_ranks(haystack, app);
		break;
	case PANE_SOURCE:
		collect_source(haystack, app);
		break;
	case PANE_STACK:
		collect_stack(haystack, app);
		break;
	case PANE_LOCALS:
		collect_locals(haystack, app);
		break;
	case PANE_BREAKPOINTS:
		breakpoint_list_add_rows(haystack, app);
		break;
	case PANE_COUNT:
		break;
	}
}

void haystack_take_text(struct haystack *haystack, int at)
{
	for (size_t i = 0; i < haystack->text.length; i++)
		haystack->count += haystack->text.data[i] == '\n';
	haystack->at = at;
}

void haystack_init(struct haystack *haystack, const struct app *app)
{
	const struct view_type *type = view_type_shown(&app->engine->session, &app->view);

	*haystack = (struct haystack){ .text = BUFFER_INIT, .line = BUFFER_INIT };
	if (type->add_rows != NULL)
		type->add_rows(haystack, app);
}

void haystack_clear(struct haystack *haystack)
{
	buffer_clear(&haystack->line);
	buffer_clear(&haystack->text);
	*haystack = (struct haystack){ .text = BUFFER_INIT, .line = BUFFER_INIT };
}

/* The start of each line of text; its newlines become NULs. */
static char **split_lines(struct buffer *text, int count)
{
	char **lines = xcalloc((size_t)count + 1, sizeof(*lines));
	char *at = text->data;

	for (int i = 0; i < count; i++) {
		size_t length = strcspn(at, "\n");

		lines[i] = at;
		at[length] = '\0';
		at += length + 1;
	}
	return lines;
}

static struct found find_line(char *const *lines, int count, int at, const char *needle,
			      int direction)
{
	struct found found = { .line = -1 };

	for (int i = 1; i <= count && found.line < 0; i++) {
		int index = (at + direction * i) % count;

		if (index < 0)
			index += count;
		if (strstr(lines[index], needle) != NULL)
			found.line = index;
	}
	for (int i = 0; i < count && found.line >= 0; i++) {
		if (strstr(lines[i], needle) == NULL)
			continue;
		found.count++;
		if (i <= found.line)
			found.number++;
	}
	return found;
}

struct found haystack_find(const struct haystack *haystack, const char *needle, int direction)
{
	int count = haystack->count;
	/* A scroll may be beyond the end, to stay there. */
	int at = haystack->at < count ? haystack->at : count - 1;
	struct buffer text = BUFFER_INIT;
	struct found found;
	char **lines;

	if (text_has_capital(needle))
		buffer_append(&text, haystack->text.data, haystack->text.length);
	else
		text_lower(&text, haystack->text.data);
	lines = split_lines(&text, count);
	found = find_line(lines, count, at, needle, direction);
	free(lines);
	buffer_clear(&text);
	return found;
}
