#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "base/alloc.h"
#include "base/array.h"
#include "base/buffer.h"
#include "base/text.h"
#include "model/place.h"
#include "model/session.h"
#include "protocol/stack.h"
#include "ui/pane.h"

#define CURSOR_MARK 0x25b8 /* ▸ */
#define FUNCTION_MINIMUM 12
#define RUN_MINIMUM 3 /* longer runs of one function are folded */

static void pane_stack_append_part(struct buffer *out, const char *from)
{
	size_t length = strcspn(from, "/");

	if (length > 3 && memcmp(from + length - 3, ".py", 3) == 0)
		length -= 3;
	buffer_append(out, from, length);
}

/* Appends the package of a library frame ("torch"), or the native library. */
static void append_package(struct buffer *out, const struct frame *frame)
{
	static const char *const roots[] = { "/site-packages/", "/dist-packages/" };
	const char *file = frame->code->file;
	const char *at;

	if (frame->code->type == FRAME_NATIVE) {
		pane_stack_append_part(out, place_file_name(file));
		return;
	}
	for (size_t i = 0; i < ARRAY_LENGTH(roots); i++) {
		at = strstr(file, roots[i]);
		if (at != NULL) {
			pane_stack_append_part(out, at + strlen(roots[i]));
			return;
		}
	}
	at = strstr(file, "/lib/python");
	if (at != NULL)
		at = strchr(at + 5, '/');
	if (at != NULL)
		pane_stack_append_part(out, at + 1);
	else if (*file == '<')
		buffer_append_string(out, file);
	else
		pane_stack_append_part(out, place_file_name(file));
}

static bool is_same_package(const struct frame *a, const struct frame *b)
{
	struct buffer first = BUFFER_INIT;
	struct buffer second = BUFFER_INIT;
	bool is_same;

	if (a->code->type != b->code->type)
		return false;
	if (a->code->file == b->code->file)
		return true;
	append_package(&first, a);
	append_package(&second, b);
	is_same = strcmp(first.data, second.data) == 0;
	buffer_clear(&first);
	buffer_clear(&second);
	return is_same;
}

static bool pane_stack_is_same_function(const struct stack *stack, const struct stack_row *a,
					const struct stack_row *b)
{
	return a->is_user && b->is_user && stack->frames[a->at].code == stack->frames[b->at].code;
}

/*
 * Folds recursions: the first and last frame of a recursion stay, and the frames between become one
 * row.
 */
static size_t pane_stack_fold_runs(struct stack_row *rows, size_t count, const struct stack *stack)
{
	size_t kept = 0;
	size_t i = 0;

	while (i < count) {
		size_t end = i + 1;

		while (end < count && pane_stack_is_same_function(stack, &rows[i], &rows[end]))
			end++;
		if (end - i <= RUN_MINIMUM) {
			rows[kept++] = rows[i++];
			continue;
		}
		rows[kept++] = rows[i];
		rows[kept] = rows[i + 1];
		rows[kept++].count = (int)(end - i) - 2;
		rows[kept++] = rows[end - 1];
		i = end;
	}
	return kept;
}

struct stack_row *pane_stack_rows(const struct session *session, bool is_unfolded, size_t *count)
{
	const struct rank *rank = session_looked_at(session);
	const struct stack *stack = session_shown_stack(session, session_selected_thread(session));
	struct stack_row *rows = NULL;
	size_t capacity = 0;
	int depth = 0;

	*count = 0;
	for (size_t i = 0; stack != NULL && i < stack->frame_count; i++) {
		const struct frame *frame = &stack->frames[i];
		bool is_user = place_is_user(&rank->process, frame);
		bool is_python = frame->code->type == FRAME_PYTHON;
		struct stack_row *last = *count > 0 ? &rows[*count - 1] : NULL;
		int own_depth = is_python ? depth : -1;

		depth += is_python;
		if (last != NULL && !is_unfolded && !is_user && !last->is_user &&
		    is_same_package(&frame[-1], frame)) {
			last->count++;
			continue;
		}
		ARRAY_GROW(rows, *count, capacity);
		rows[(*count)++] = (struct stack_row){
			.at = (int)i,
			.depth = own_depth,
			.count = 1,
			.is_user = is_user,
		};
	}
	if (stack != NULL && !is_unfolded)
		*count = pane_stack_fold_runs(rows, *count, stack);
	return rows;
}

/* Returns the number of lines below the frames: dropped frames, other threads, children. */
static int extra_count(const struct rank *rank, const struct thread *thread)
{
	int count = (int)rank->child_count;

	if (thread != NULL && thread->sample.stack != NULL &&
	    thread->sample.stack->dropped_count > 0)
		count++;
	return count + (rank->thread_count > 1 ? 1 : 0);
}

int pane_stack_row_count(const struct session *session, const struct view *view)
{
	const struct rank *rank = session_looked_at(session);
	const struct thread *thread = session_selected_thread(session);
	size_t count;

	if (rank == NULL)
		return 1;
	free(pane_stack_rows(session, view->is_unfolded, &count));
	return (int)count + extra_count(rank, thread);
}

/* Returns the style of a frame. The last stack of an exited process is dim. */
static enum style pane_stack_style_of(const struct rank *rank, const struct frame *frame,
				      const struct stack_row *row)
{
	if (rank->state == RANK_EXITED)
		return STYLE_VALUE_STALE;
	if (frame->code->type == FRAME_NATIVE)
		return STYLE_FRAME_NATIVE;
	return row->is_user ? STYLE_FRAME_USER : STYLE_FRAME_LIBRARY;
}

static void put_fold(struct window window, int row, const struct frame *frame,
		     const struct stack_row *fold, enum style style)
{
	struct buffer text = BUFFER_INIT;

	buffer_append_string(&text, "\u2026 ");
	text_count(&text, (uint64_t)fold->count);
	if (fold->is_user) {
		buffer_printf(&text, " more of %s", frame->code->func);
	} else {
		buffer_append_string(&text, " frames in ");
		append_package(&text, frame);
	}
	window_put(window, row, 2, window.column_count - 3, style, text.data);
	buffer_clear(&text);
}

static void pane_stack_put_frame(struct window window, int row, const struct frame *frame,
				 enum style style)
{
	struct buffer place = BUFFER_INIT;
	int width = window.column_count - 1;
	int wanted = text_width(frame->code->func);
	int room;
	int used;

	if (frame->code->type != FRAME_NATIVE && wanted > FUNCTION_MINIMUM && wanted > width / 2)
		wanted = width / 2;
	room = width - 2 - wanted - 1;
	place_append(&place, frame);
	/*
	 * For native frames the C++ name is more useful than the library, which is left out rather
	 * than cut.
	 */
	if (frame->code->type == FRAME_NATIVE && room < text_width(place.data))
		room = 0;
	used = window_put_path(window, row, width, room, style, place.data);
	window_put(window, row, 2, width - 2 - used - 1, style, frame->code->func);
	buffer_clear(&place);
}

static void append_child(struct buffer *out, const struct rank *child)
{
	const struct frame *frame = rank_top_frame(child);

	buffer_printf(out, "%s %d  ", child->process.role != NULL ? child->process.role : "child",
		      (int)child->process.pid);
	rank_append_activity(out, child);
	if (frame != NULL) {
		buffer_append_string(out, "  ");
		place_append(out, frame);
	}
}

static int put_extras(struct window window, int row, const struct rank *rank,
		      const struct thread *thread)
{
	struct buffer text = BUFFER_INIT;

	if (thread != NULL && thread->sample.stack != NULL &&
	    thread->sample.stack->dropped_count > 0) {
		buffer_append_string(&text, "\u2026 ");
		text_count(&text, thread->sample.stack->dropped_count);
		buffer_append_string(&text, " outer frames omitted");
		window_put(window, row++, 2, window.column_count - 2, STYLE_DIM, text.data);
		buffer_reset(&text);
	}
	if (rank->thread_count > 1) {
		text_count(&text, rank->thread_count - 1);
		buffer_append_string(&text,
				     rank->thread_count == 2 ? " more thread" : " more threads");
		window_put(window, row++, 2, window.column_count - 2, STYLE_DIM, text.data);
	}
	for (size_t i = 0; i < rank->child_count; i++) {
		bool is_odd = rank->children[i]->is_outlier;

		buffer_reset(&text);
		append_child(&text, rank->children[i]);
		window_put(window, row++, 2, window.column_count - 2,
			   is_odd ? STYLE_OUTLIER : STYLE_DIM, text.data);
	}
	buffer_clear(&text);
	return row;
}

void pane_stack(struct window window, const struct session *session, const struct view *view)
{
	const struct rank *rank = session_looked_at(session);
	const struct thread *thread = session_selected_thread(session);
	int depth = session_selected_depth(session);
	const struct stack *stack;
	int rows = window.row_count;
	struct stack_row *stack_rows;
	size_t count;
	int cursor = -1;
	int first = 0;

	if (rank == NULL)
		return;
	stack = session_shown_stack(session, thread);
	stack_rows = pane_stack_rows(session, view->is_unfolded, &count);
	for (size_t i = 0; i < count; i++)
		if (stack_rows[i].depth >= 0 && depth >= stack_rows[i].depth &&
		    depth < stack_rows[i].depth + stack_rows[i].count)
			cursor = (int)i;
	if (cursor >= rows)
		first = cursor - rows + 1;
	for (int i = first; i < (int)count && i - first < rows; i++) {
		const struct frame *frame = &stack->frames[stack_rows[i].at];

		enum style style = pane_stack_style_of(rank, frame, &stack_rows[i]);

		if (stack_rows[i].count > 1)
			put_fold(window, i - first, frame, &stack_rows[i], style);
		else
			pane_stack_put_frame(window, i - first, frame, style);
		if (stack_rows[i].depth >= 0)
			window_hit(window, i - first, 0, 1, window.column_count, MOUSE_TARGET_FRAME,
				   stack_rows[i].depth);
		if (i == cursor)
			window_put_character(window, i - first, 0, STYLE_TITLE_FOCUSED,
					     CURSOR_MARK);
	}
	put_extras(window, (int)count - first, rank, thread);
	free(stack_rows);
}
