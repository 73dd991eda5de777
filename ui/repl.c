#include "ui/repl.h"

#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "base/alloc.h"
#include "base/array.h"
#include "base/buffer.h"
#include "base/error.h"
#include "base/json.h"
#include "base/text.h"
#include "engine/control.h"
#include "engine/engine.h"
#include "engine/request.h"
#include "model/answers.h"
#include "model/debug-state.h"
#include "model/session.h"
#include "ui/layout.h"
#include "ui/pane.h"
#include "ui/window.h"

#define TEXT_WIDTH_MINIMUM 8
/* Maximum number of rows of a value; the command `print` shows more. */
#define VALUE_ROWS 100

void repl_init(struct repl *repl)
{
	*repl = (struct repl){ .back = 0 };
	prompt_init(&repl->line);
	prompt_open(&repl->line, PROMPT_EVAL, "");
	codeblock_init(&repl->block);
}

void repl_clear(struct repl *repl)
{
	prompt_clear(&repl->line);
	codeblock_clear(&repl->block);
	free(repl->completed);
	repl->completed = NULL;
}

bool repl_enter(struct repl *repl)
{
	char *line = prompt_take(&repl->line);
	bool is_whole = codeblock_add(&repl->block, line);

	free(line);
	prompt_open(&repl->line, PROMPT_EVAL, "");
	repl->back = 0;
	return is_whole;
}

void repl_drop(struct repl *repl)
{
	prompt_open(&repl->line, PROMPT_EVAL, "");
	codeblock_clear(&repl->block);
}

const char *repl_prompt(const struct repl *repl)
{
	return repl->block.is_begun ? "... " : ">>> ";
}

/* Returns the byte offset of the last `count` characters of text. */
static size_t before_end(const char *text, json_int_t count)
{
	size_t at = strlen(text);

	while (count-- > 0 && at > 0) {
		at--;
		while (at > 0 && ((unsigned char)text[at] & 0xc0) == 0x80)
			at--;
	}
	return at;
}

static bool is_label(const char *label)
{
	return label && *label != '\0' && text_is_utf8(label, strlen(label)) &&
	       text_is_plain(label, strlen(label));
}

void repl_offer(struct repl *repl, const json_t *targets)
{
	struct candidates candidates = { .items = NULL };
	char *head = xstrndup(repl->line.text.data, repl->line.cursor);
	const json_t *target;
	size_t i;

	json_array_foreach(targets, i, target)
	{
		const char *label = json_get_string(target, "label", NULL);
		size_t start = before_end(head, json_get_integer(target, "length", 0));

		if (!is_label(label) || candidates.count == COMPLETE_MAXIMUM)
			continue;
		/* All candidates must replace the same part of the line. */
		if (candidates.count > 0 && start != candidates.start)
			continue;
		candidates.start = start;
		ARRAY_GROW(candidates.items, candidates.count, candidates.capacity);
		candidates.items[candidates.count++] = xstrdup(label);
	}
	if (repl->completed && strcmp(repl->completed, head) == 0)
		prompt_offer(&repl->line, &candidates);
	else
		candidates_clear(&candidates);
	free(head);
}

/* Returns the rank to which requests for completions are sent: the selected rank if it is focused,
 * else the first focused rank; NULL if there is none. */
static const struct rank *repl_find_asked(const struct session *session)
{
	const struct rank *rank = session_looked_at(session);

	if (rank != NULL && rank->process.rank >= 0 && !rank_is_gone(rank) &&
	    session_is_focused(session, rank))
		return rank;
	for (size_t i = 0; i < session->rank_count; i++) {
		rank = session->ranks[i];
		if (!rank_is_gone(rank) && session_is_focused(session, rank))
			return rank;
	}
	return NULL;
}

static int repl_count_characters(const char *text)
{
	int count = 0;

	for (; *text != '\0'; text++)
		count += ((unsigned char)*text & 0xc0) != 0x80;
	return count;
}

static void repl_ask(struct repl *repl, struct engine *engine, const struct rank *rank,
		     char *owned_head, request_done *done, void *data)
{
	const struct session *session = &engine->session;
	json_t *arguments = json_pack("{s:i, s:i}", "pid", (int)rank->process.pid, "column",
				      repl_count_characters(owned_head) + 1);

	if (debug_state_is_stopped(rank)) {
		json_object_set_new(arguments, "tid", json_integer(control_tid(session, rank)));
		json_object_set_new(arguments, "depth",
				    json_integer(control_print_depth(session, rank)));
	}
	json_set_text(arguments, "text", owned_head);
	free(repl->completed);
	repl->completed = owned_head;
	repl->completing = request_start(engine, rank->node, "completions", arguments, done, data);
}

int repl_tab(struct repl *repl, struct engine *engine, int by, request_done *done, void *data,
	     struct error *error)
{
	const struct rank *rank = repl_find_asked(&engine->session);
	char *head = xstrndup(repl->line.text.data, repl->line.cursor);
	int result = 0;

	if (repl->line.candidates.count > 0) {
		prompt_cycle(&repl->line, by);
	} else if (head[strspn(head, " ")] == '\0') {
		/* Inserts blanks up to the next multiple of four, as an editor does. */
		for (size_t i = repl->line.cursor % 4; i < 4; i++)
			prompt_key(&repl->line, "Space");
	} else if (!session_controls(&engine->session, rank)) {
		result = error_set(error, "no live rank to complete names in");
	} else if (repl->completing == NULL) {
		repl_ask(repl, engine, rank, head, done, data);
		return 0;
	}
	free(head);
	return result;
}

static struct repl_row *repl_add_row(struct repl_rows *rows, int column, char *owned_head,
				     enum style head_style, enum style style)
{
	struct repl_row *row;

	ARRAY_GROW(rows->items, rows->count, rows->capacity);
	row = &rows->items[rows->count++];
	*row = (struct repl_row){
		.head = owned_head,
		.head_style = head_style,
		.style = style,
		.column = column,
	};
	return row;
}

/* Adds a line in as many rows as the width needs; only the first row has the head. */
static void repl_add_line(struct repl_rows *rows, const struct repl_row *like, const char *line,
			  size_t length, int width)
{
	struct buffer text = BUFFER_INIT;
	const char *head = like->head;
	const char *at;

	width -= like->column;
	if (width < TEXT_WIDTH_MINIMUM)
		width = TEXT_WIDTH_MINIMUM;
	text_append_line(&text, line, length);
	at = text.data;
	do {
		size_t fits = like->is_sentence ? window_words_fit(at, width) : text_fit(at, width);
		struct repl_row *row = repl_add_row(rows, like->column, xstrdup(head),
						    like->head_style, like->style);

		row->text = xstrndup(at, fits);
		at += fits > 0 ? fits : strlen(at);
		if (like->is_sentence)
			at += strspn(at, " ");
		head = "";
	} while (*at != '\0');
	buffer_clear(&text);
}

/*
 * Adds the lines of text, at most VALUE_ROWS rows; `later` is the head of all lines but the first.
 */
static void repl_add_text(struct repl_rows *rows, struct repl_row like, const char *text,
			  const char *later, int width)
{
	size_t first = rows->count;

	while (text && rows->count - first < VALUE_ROWS) {
		size_t length = strcspn(text, "\n");
		bool is_last = text[length] == '\0' || text[length + 1] == '\0';

		repl_add_line(rows, &like, text, length, width);
		like.head = (char *)later;
		text = is_last ? NULL : text + length + 1;
	}
}

static void add_code(struct repl_rows *rows, const char *code, int width)
{
	struct repl_row like = {
		.head = (char *)">>> ",
		.head_style = STYLE_HINT_KEY,
		.style = STYLE_TEXT,
		.column = 4,
	};

	repl_add_text(rows, like, code, "... ", width);
}

static void repl_append_head(struct buffer *out, const struct rankset *ranks, int ranks_width)
{
	struct buffer set = BUFFER_INIT;

	rankset_append(&set, ranks);
	text_cut(out, set.data, ranks_width);
	buffer_clear(&set);
}

static char *make_head(const struct rankset *ranks, int32_t mark, int ranks_width)
{
	struct buffer out = BUFFER_INIT;
	struct buffer count = BUFFER_INIT;
	int used;

	text_put_codepoint(&out, mark);
	buffer_append_char(&out, ' ');
	repl_append_head(&out, ranks, ranks_width);
	used = text_width(out.data);
	text_count(&count, rankset_count(ranks));
	buffer_printf(&out, "%*s (%s)", ranks_width + 2 - used, "", count.data);
	buffer_clear(&count);
	return buffer_take(&out);
}

/* Returns the width of the widest set of ranks, at most a third of the pane's width. */
static int find_ranks_width(const struct answer_classes *classes, int width)
{
	struct buffer text = BUFFER_INIT;
	int widest = 1;

	for (size_t i = 0; i <= classes->count; i++) {
		buffer_reset(&text);
		rankset_append(&text,
			       i < classes->count ? &classes->items[i].ranks : &classes->waiting);
		if (text_width(text.data) > widest)
			widest = text_width(text.data);
	}
	buffer_clear(&text);
	return widest > width / 3 ? width / 3 : widest;
}

static void repl_add_class(struct repl_rows *rows, const struct answer_class *class,
			   int ranks_width, const struct repl *repl, int width)
{
	enum style style = answer_style(class);
	char *head = make_head(&class->ranks, answer_mark(class), ranks_width);
	struct repl_row like = {
		.head = head,
		.head_style = style == STYLE_TEXT ? STYLE_DIM : style,
		.style = style,
		.column = text_width(head) + 2,
		.is_sentence = class->is_failure && !class->is_raised,
	};
	struct buffer note = BUFFER_INIT;
	size_t first = rows->count;

	repl_add_text(rows, like, class->text, "", width);
	answer_class_append_deviation(&note, class);
	if (note.length > 0)
		rows->items[first].note = buffer_take(&note);
	if (class->is_raised && class->first->traceback && repl->shows_tracebacks) {
		like = (struct repl_row){
			.head = (char *)"",
			.style = STYLE_DIM,
			.column = 4,
		};
		repl_add_text(rows, like, class->first->traceback, "", width);
	}
	free(head);
	buffer_clear(&note);
}

static void add_answers(struct repl_rows *rows, const struct answers *answers,
			const struct repl *repl, int width)
{
	struct answer_classes classes;
	int ranks_width;

	add_code(rows, answers->question, width);
	answer_classes_make(&classes, answers);
	ranks_width = find_ranks_width(&classes, width);
	for (size_t i = 0; i < classes.count; i++)
		repl_add_class(rows, &classes.items[i], ranks_width, repl, width);
	if (rankset_count(&classes.waiting) > 0) {
		char *head = make_head(&classes.waiting, ' ', ranks_width);
		struct repl_row *row =
			repl_add_row(rows, text_width(head) + 2, head, STYLE_DIM, STYLE_DIM);

		row->text = xstrdup("\u2026");
	}
	answer_classes_clear(&classes);
}

/* Reverses the rows from `first` on, so that the newest row comes first. */
static void repl_reverse(struct repl_rows *rows, size_t first)
{
	size_t last = rows->count;

	while (first + 1 < last) {
		struct repl_row row = rows->items[first];

		rows->items[first++] = rows->items[--last];
		rows->items[last] = row;
	}
}

void repl_rows_make(struct repl_rows *rows, const struct session *session, const struct repl *repl,
		    int width, size_t wanted)
{
	const struct eval_history *eval_history = &session->eval_history;

	*rows = (struct repl_rows){ .items = NULL };
	if (repl->block.is_begun)
		add_code(rows, repl->block.text.data, width);
	repl_reverse(rows, 0);
	for (size_t i = eval_history->count; i-- > 0 && rows->count < wanted;) {
		size_t first = rows->count;

		add_answers(rows, &eval_history->items[i], repl, width);
		repl_reverse(rows, first);
	}
}

void repl_rows_clear(struct repl_rows *rows)
{
	for (size_t i = 0; i < rows->count; i++) {
		free(rows->items[i].head);
		free(rows->items[i].text);
		free(rows->items[i].note);
	}
	free(rows->items);
	*rows = (struct repl_rows){ .items = NULL };
}

int repl_hidden_rows(const struct session *session, const struct view *view)
{
	struct repl_rows rows;
	struct layout layout;
	int frame;
	int hidden;

	layout_make(&layout, session, view);
	frame = pane_has_frame(layout.body.row_count) ? 2 : 0;
	repl_rows_make(&rows, session, &view->repl, layout.body.column_count - frame, SIZE_MAX);
	hidden = (int)rows.count - (layout.body.row_count - frame - 1);
	repl_rows_clear(&rows);
	return hidden > 0 ? hidden : 0;
}
