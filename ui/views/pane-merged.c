#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "base/alloc.h"
#include "base/array.h"
#include "base/buffer.h"
#include "base/error.h"
#include "base/map.h"
#include "base/text.h"
#include "engine/engine.h"
#include "engine/format.h"
#include "model/place.h"
#include "model/session.h"
#include "model/source.h"
#include "protocol/stack.h"
#include "ui/app.h"
#include "ui/commands.h"
#include "ui/list.h"
#include "ui/pane.h"
#include "ui/view-type.h"

#define OUTLIER_MARK 0x25c6 /* ◆ */
#define SET_WIDTH 15
#define SOURCE_ROWS 4
#define RUN_MINIMUM 2 /* minimum number of folded rows of a recursion */
#define NARROW 50     /* below this number of columns lines are shown without files */

/* A branch of the tree whose rows are being added. */
struct branch {
	const struct stacktree_node *node;
	uint64_t key;
	size_t children_left;
	int run; /* number of consecutive frames of one function, including this frame */
	bool is_folded;
};

struct branch_list {
	struct branch *items;
	size_t count;
	size_t capacity;
};

static uint64_t pane_merged_key_of(const struct stacktree_node *node, uint64_t parent)
{
	char line[16];

	snprintf(line, sizeof(line), "%d", node->frame.lineno);
	return hash_text(
		hash_text(hash_text(parent, node->frame.code->func), node->frame.code->file), line);
}

/*
 * Adds the branch of the node in the next row; returns NULL if the row is hidden. Rows come in
 * drawing order: the children of a node follow the node.
 */
static struct branch *pane_merged_enter(struct branch_list *open, const struct stacktree_node *node,
					const struct view *view)
{
	struct branch branch = { .node = node, .key = HASH_START, .run = 1 };
	bool is_hidden = false;

	while (open->count > 0 && open->items[open->count - 1].children_left == 0)
		open->count--;
	if (open->count > 0) {
		struct branch *above = &open->items[open->count - 1];

		above->children_left--;
		is_hidden = above->is_folded;
		branch.key = above->key;
		if (above->node->child_count == 1 && above->node->frame.code == node->frame.code)
			branch.run = above->run + 1;
	}
	branch.key = pane_merged_key_of(node, branch.key);
	branch.children_left = node->child_count;
	branch.is_folded = is_hidden ||
			   (node->child_count > 0 && key_set_has(&view->merged.folded, branch.key));
	ARRAY_GROW(open->items, open->count, open->capacity);
	open->items[open->count] = branch;
	open->count++;
	return is_hidden ? NULL : &open->items[open->count - 1];
}

/* Fills merged->rows with the visible rows: rows below a folded branch are left out. */
static void keep_visible(struct merged *merged, const struct stacktree_row *rows, size_t count,
			 const struct view *view)
{
	struct branch_list open = { .items = NULL };

	merged->rows = xcalloc(count + 1, sizeof(*merged->rows));
	for (size_t i = 0; i < count; i++) {
		const struct branch *branch = pane_merged_enter(&open, rows[i].node, view);
		struct merged_row *row;

		if (branch == NULL)
			continue;
		row = &merged->rows[merged->row_count++];
		row->tree = rows[i];
		row->key = branch->key;
		row->run = branch->run;
		row->is_folded = branch->is_folded;
	}
	free(open.items);
}

/* Returns the last row of the recursion whose second row is i. */
static size_t end_of_run(const struct merged *merged, size_t i)
{
	while (i + 1 < merged->row_count && merged->rows[i + 1].run > 2)
		i++;
	return i;
}

/*
 * Folds recursions: the first and last row of a recursion stay, and the rows between become one
 * row.
 */
static void pane_merged_fold_runs(struct merged *merged, const struct view *view)
{
	size_t kept = 0;

	for (size_t i = 0; i < merged->row_count; i++) {
		struct merged_row *row = &merged->rows[kept++];
		size_t last = i;

		*row = merged->rows[i];
		if (row->run == 2)
			last = end_of_run(merged, i);
		if (last < i + RUN_MINIMUM || key_set_has(&view->merged.opened_runs, row->key))
			continue;
		row->fold_count = last - i;
		i = last - 1;
	}
	merged->row_count = kept;
}

/* Returns the innermost row of the first outlier's user frames; 0 if there is no outlier. */
static int first_cursor(const struct merged *merged)
{
	int cursor = 0;

	for (size_t i = 0; i < merged->row_count; i++) {
		const struct stacktree_node *node = merged->rows[i].tree.node;

		if (node->is_outlier && node->is_user)
			cursor = (int)i;
		else if (cursor > 0)
			break;
	}
	return cursor;
}

void merged_make(struct merged *merged, const struct session *session, const struct view *view)
{
	struct stacktree_row *rows;
	size_t count;

	*merged = (struct merged){ .root = NULL };
	merged->root = stacktree_new(session, view->merged.granularity);
	rows = stacktree_rows(merged->root, &count);
	keep_visible(merged, rows, count, view);
	free(rows);
	pane_merged_fold_runs(merged, view);
	merged->cursor = view->cursors[VIEW_MERGED];
	if (merged->cursor < 0)
		merged->cursor = first_cursor(merged);
	if (merged->cursor >= (int)merged->row_count)
		merged->cursor = (int)merged->row_count - 1;
}

void merged_clear(struct merged *merged)
{
	free(merged->rows);
	stacktree_free(merged->root);
	*merged = (struct merged){ .root = NULL };
}

/*
 * Returns the first rank of a row. Sets *depth to the depth of the row's frame in this rank, or to
 * -1 if the rank's stack no longer has the frame.
 */
static int rank_of(const struct session *session, const struct stacktree_node *node, int *depth)
{
	int number = rankset_first(&node->ranks);
	const struct rank *rank = session_find_rank(session, number);
	const struct thread *main = rank != NULL ? rank_main_thread(rank) : NULL;
	const struct stack *stack = main != NULL ? main->sample.stack : NULL;

	*depth = -1;
	for (size_t i = 0; stack != NULL && i < stack->frame_count; i++) {
		const struct frame *frame = &stack->frames[i];

		if (strcmp(frame->code->func, node->frame.code->func) != 0 ||
		    strcmp(frame->code->file, node->frame.code->file) != 0)
			continue;
		if (node->frame.lineno > 0 && frame->lineno != node->frame.lineno)
			continue;
		*depth = (int)i;
		break;
	}
	return number;
}

static int pane_merged_count_width(const struct merged *merged)
{
	size_t most = 0;
	int width = 2;

	for (size_t i = 0; i < merged->row_count; i++)
		if (merged->rows[i].tree.node->rank_count > most)
			most = merged->rows[i].tree.node->rank_count;
	for (; most >= 100; most /= 10)
		width++;
	return width + (width > 3);
}

static void append_node_place(struct buffer *out, const struct stacktree_node *node,
			      enum stacktree_granularity granularity, bool is_short)
{
	bool is_native = node->frame.code->type == FRAME_NATIVE;

	/* If rows are grouped by line, a row without a line has ranks at different lines. */
	if (node->frame.lineno > 0 && is_short)
		buffer_printf(out, ":%d", node->frame.lineno);
	else if (node->frame.lineno > 0)
		place_append(out, &node->frame);
	else if (granularity != STACKTREE_LINE || (is_native && !is_short))
		buffer_append_string(out, place_file_name(node->frame.code->file));
}

/*
 * Returns the columns for the location: all columns that the function's name leaves, but at least
 * half of room.
 */
static int place_room(int room, const struct stacktree_node *node)
{
	int left = room - text_width(node->frame.code->func) - 1;

	return left > room / 2 ? left : room / 2;
}

static void pane_merged_append_name(struct buffer *out, const struct merged_row *row)
{
	const char *function = row->tree.node->frame.code->func;

	if (row->fold_count > 0) {
		buffer_append_string(out, "\u2026 ");
		text_count(out, row->fold_count);
		buffer_printf(out, " more of %s", function);
	} else {
		buffer_printf(out, "%s%s", function, row->is_folded ? " \u2026" : "");
	}
}

static bool is_torn(const struct session *session, const struct stacktree_node *node)
{
	for (int number = rankset_first(&node->ranks); number >= 0;
	     number = rankset_next(&node->ranks, number)) {
		const struct rank *rank = session_find_rank(session, number);

		if (rank != NULL && rank_is_torn(rank))
			return true;
	}
	return false;
}

struct drawing {
	const struct merged *merged;
	const struct session *session;
	const struct view *view;
	int number_width;
};

static void pane_merged_put_row(struct window window, int at, int number, const void *data)
{
	const struct drawing *drawing = data;
	const struct merged_row *row = &drawing->merged->rows[number];
	int number_width = drawing->number_width;
	const struct stacktree_node *node = row->tree.node;
	struct buffer text = BUFFER_INIT;
	enum style style = node->is_user ? STYLE_FRAME_USER : STYLE_FRAME_LIBRARY;
	int width = window.column_count - 1;
	int set_width = width >= 60 ? SET_WIDTH : width / 4;
	int column = 1 + number_width;
	int used;

	if (node->frame.code->type == FRAME_NATIVE)
		style = STYLE_FRAME_NATIVE;
	if (node->is_outlier)
		style = STYLE_OUTLIER;
	text_count(&text, node->rank_count);
	window_put_right(window, at, column, number_width, style, text.data);
	column += 2;
	buffer_reset(&text);
	rankset_append(&text, &node->ranks);
	window_put(window, at, column, set_width - 1, style, text.data);
	column += set_width;
	if (node->is_outlier)
		window_put_character(window, at, column, style, OUTLIER_MARK);
	column++;
	column += window_put(window, at, column, width / 3, STYLE_BORDER, row->tree.prefix);
	buffer_reset(&text);
	if (row->fold_count == 0)
		append_node_place(&text, node, drawing->view->merged.granularity, width < NARROW);
	used = window_put_path(window, at, width, place_room(width - column, node), style,
			       text.data);
	if (is_torn(drawing->session, node))
		column += window_put(window, at, column, 1, STYLE_WARNING, "~");
	buffer_reset(&text);
	pane_merged_append_name(&text, row);
	window_put(window, at, column, width - used - 1 - column, style, text.data);
	buffer_clear(&text);
}

void pane_merged_tree(struct window window, const struct session *session, const struct view *view,
		      const struct merged *merged, bool has_cursor)
{
	struct drawing drawing = { merged, session, view, pane_merged_count_width(merged) };
	struct list list = {
		.count = (int)merged->row_count,
		.cursor = has_cursor ? merged->cursor : -1,
		.has_mark = true,
		.hit = has_cursor ? MOUSE_TARGET_LIST : MOUSE_TARGET_MERGED,
		.put_row = pane_merged_put_row,
	};

	if (merged->row_count == 0) {
		window_put_paragraph(window, 0, 1, window.row_count, STYLE_DIM,
				     stacktree_is_last(session)
					     ? "all ranks have exited, and no stack was read before"
					     : "no stack read yet");
		return;
	}
	list_put(window, &list, &drawing);
}

static const char *const granularity_names[] = {
	[STACKTREE_LINE] = "by line",
	[STACKTREE_FUNCTION] = "by function",
	[STACKTREE_FILE] = "by file",
};

/* Draws source and locals of the frame under the cursor. */
static void put_detail(struct window window, const struct session *session, const struct view *view,
		       const struct stacktree_node *node, int number, int depth)
{
	const struct rank *rank = session_find_rank(session, number);
	struct locals_frame frame = { rank, rank_main_thread(rank), depth };
	const struct source *source =
		session_find_source(session, rank->node, rank->process.pid, node->frame.code->file);
	const char *problem = pane_source_problem(session, rank, source);
	int rows = window.row_count > SOURCE_ROWS + 2 ? SOURCE_ROWS : window.row_count;
	int line = node->frame.lineno;

	if (line == 0 && depth >= 0)
		line = rank_main_thread(rank)->sample.stack->frames[depth].lineno;
	if (problem != NULL)
		window_put(window, 0, 1, window.column_count - 1, STYLE_DIM, problem);
	else
		pane_source_lines(window_part(window, 0, 0, rows, window.column_count), source,
				  line, line > 3 ? line - 2 : 1);
	if (depth < 0)
		return;
	/* Show the locals pane of the home view for the frame under the cursor. */
	pane_locals(window_part(window, rows + 1, 0, window.row_count, window.column_count),
		    session, view, &frame, false);
}

/* Appends the state of native frames (key N), or the progress of reading symbols. */
static void pane_merged_append_native(struct buffer *out, const struct session *session)
{
	if (session->choice.shows_native && session_append_progress(out, session))
		return;
	buffer_append_string(out, session->choice.shows_native ? "N native on" : "N native off");
}

static int tree_rows(const struct merged *merged, int rows)
{
	int wanted = merged->row_count > 0 ? (int)merged->row_count : 2;
	/* The detail below needs a border, four lines and two locals. */
	int most = rows > 16 ? rows - 10 : rows / 2;

	if (rows < 10)
		return rows;
	return wanted < most ? wanted : most;
}

/* Appends the range of rows that pane_merged_tree() shows. */
static void pane_merged_append_range(struct buffer *out, const struct merged *merged, int rows,
				     int width)
{
	struct buffer range = BUFFER_INIT;
	int first = list_first(merged->cursor, rows);

	pane_append_range(&range, first, rows, (int)merged->row_count);
	if (range.length > 0 && text_width(out->data) + 3 + text_width(range.data) <= width)
		buffer_printf(out, " \u00b7 %s", range.data);
	buffer_clear(&range);
}

static void pane_merged_draw(const struct scene *scene)
{
	struct window window = scene->body;
	const struct session *session = scene->session;
	const struct view *view = scene->view;
	struct window inner = pane_frame(window);
	int rows = inner.row_count;
	int columns = inner.column_count;
	struct buffer title = BUFFER_INIT;
	struct buffer native = BUFFER_INIT;
	struct merged merged;
	const struct stacktree_node *node;
	int depth;
	int number;
	int upper;

	merged_make(&merged, session, view);
	upper = tree_rows(&merged, rows);
	buffer_printf(&title, "Merged stacks \u00b7 %s \u00b7 %s",
		      stacktree_is_last(session) ? "last sample" : "main threads",
		      granularity_names[view->merged.granularity]);
	pane_merged_append_native(&native, session);
	pane_merged_append_range(&title, &merged, upper, columns);
	if (text_width(title.data) + text_width(native.data) + 3 > columns)
		buffer_reset(&native);
	if (pane_has_frame(window.row_count))
		pane_title(window, 0, 1, columns, true, title.data, native.data);
	pane_merged_tree(window_part(inner, 0, 0, upper, columns), session, view, &merged, true);
	if (upper < rows && merged.row_count > 0) {
		node = merged.rows[merged.cursor].tree.node;
		number = rank_of(session, node, &depth);
		buffer_reset(&title);
		buffer_printf(&title, "Rank %d \u00b7 %s", number, node->frame.code->func);
		window_horizontal(window, upper + 1, 0, columns + 2, STYLE_BORDER);
		pane_title(window, upper + 1, 1, columns, false, title.data, NULL);
		put_detail(window_part(window, upper + 2, 1, rows - upper - 1, columns), session,
			   view, node, number, depth);
	}
	merged_clear(&merged);
	buffer_clear(&native);
	buffer_clear(&title);
}

static void pane_merged_add_rows(struct search_text *lines, const struct app *app)
{
	struct merged merged;

	merged_make(&merged, &app->engine->session, &app->view);
	for (size_t i = 0; i < merged.row_count; i++) {
		const struct frame *frame = &merged.rows[i].tree.node->frame;

		buffer_printf(&lines->line, "%s %s", frame->code->func, frame->code->file);
		search_text_end_line(lines);
	}
	lines->at = merged.cursor;
	merged_clear(&merged);
}

/* The tree uses the upper half, so a page is half of the view. */
static void pane_merged_move_cursor(struct app *app, const struct layout *layout, enum move move)
{
	if (move != MOVE_LEFT && move != MOVE_RIGHT)
		list_move(app, view_page(layout) / 2, move);
}

static void pane_merged_copy(struct buffer *out, const struct app *app)
{
	struct stacktree_node *root =
		stacktree_new(&app->engine->session, app->view.merged.granularity);

	format_text_tree(out, root, app->view.is_ascii);
	stacktree_free(root);
}

static struct file_place pane_merged_place(const struct app *app)
{
	const struct session *session = &app->engine->session;
	struct file_place found = { .rank = NULL };
	struct merged merged;
	int depth;

	merged_make(&merged, session, &app->view);
	if (merged.row_count > 0) {
		const struct frame *frame = &merged.rows[merged.cursor].tree.node->frame;

		found.rank = session_find_rank(
			session, rank_of(session, merged.rows[merged.cursor].tree.node, &depth));
		found.file = frame->code->file;
		found.line = frame->lineno;
	}
	merged_clear(&merged);
	return found;
}

static void pane_merged_want(struct app *app, bool is_open)
{
	const struct session *session = &app->engine->session;
	struct merged merged;
	const struct rank *rank;
	const struct thread *main;
	int depth;

	if (!is_open)
		return;
	merged_make(&merged, session, &app->view);
	if (merged.row_count > 0) {
		rank = session_find_rank(
			session, rank_of(session, merged.rows[merged.cursor].tree.node, &depth));
		main = rank != NULL ? rank_main_thread(rank) : NULL;
		if (main != NULL)
			want_frame(app, rank, main->sample.tid, main->sample.stack, depth);
	}
	merged_clear(&merged);
}

static int pane_merged_toggle(struct app *app, struct error *error)
{
	struct session *session = &app->engine->session;
	struct merged merged;
	int result = -1;

	merged_make(&merged, session, &app->view);
	if (merged.row_count > 0) {
		focus_these(session, &merged.rows[merged.cursor].tree.node->ranks);
		result = 0;
	}
	merged_clear(&merged);
	return result < 0 ? error_set(error, "no branch under the cursor") : 0;
}

static int expand(struct app *app, struct error *error)
{
	const struct merged_row *row;
	struct key_set *set;
	struct merged merged;

	(void)error;
	merged_make(&merged, &app->engine->session, &app->view);
	if (merged.row_count > 0) {
		row = &merged.rows[merged.cursor];
		/* Enter on the second row of an opened recursion folds it again. */
		set = row->fold_count > 0 || row->run == 2 ? &app->view.merged.opened_runs
							   : &app->view.merged.folded;
		app->view.cursors[VIEW_MERGED] = merged.cursor;
		if (key_set_has(set, row->key))
			key_set_remove(set, row->key);
		else
			key_set_add_page(set, row->key);
	}
	merged_clear(&merged);
	return 0;
}

void open_branch(struct app *app)
{
	struct session *session = &app->engine->session;
	struct merged merged;
	int depth;
	int rank;

	merged_make(&merged, session, &app->view);
	if (merged.row_count > 0) {
		rank = rank_of(session, merged.rows[merged.cursor].tree.node, &depth);
		session->choice.selection = (struct selection){ .rank = rank, .depth = depth };
		session->revision++;
		view_open(&app->view, VIEW_HOME);
		app->view.pane = PANE_SOURCE;
	}
	merged_clear(&merged);
}

static int pane_merged_open_row(struct command_context *context, struct error *error)
{
	(void)error;
	open_branch(command_app(context));
	return 0;
}

static const struct hint hints[] = {
	{ { "open", NULL }, "source" },
	{ { "expand", NULL }, "fold" },
	{ { "toggle", NULL }, "focus these" },
	{ { "granularity", NULL }, "granularity" },
	{ { "prompt search", NULL }, "find" },
	{ { "back", NULL }, "back" },
	{ .label = NULL },
};

const struct view_type view_merged = {
	.copied = "merged stacks",
	.hints = hints,
	.draw = pane_merged_draw,
	.want = pane_merged_want,
	.add_rows = pane_merged_add_rows,
	.move = pane_merged_move_cursor,
	.copy = pane_merged_copy,
	.place = pane_merged_place,
	.open = pane_merged_open_row,
	.expand = expand,
	.toggle = pane_merged_toggle,
};
