#include "ui/comparetable.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "base/alloc.h"
#include "base/array.h"
#include "base/buffer.h"
#include "base/text.h"
#include "model/answers.h"
#include "model/session.h"
#include "model/tensordiff.h"
#include "model/tensorformat.h"
#include "protocol/tensor.h"
#include "ui/pane.h"
#include "ui/view.h"

#define RANKS "ranks"
#define MARK_WIDTH 2
#define GAP 2
#define NOTE_MINIMUM 16
/* Each column except the note takes at most 1/SHARE of the width. */
#define SHARE 3

static void comparetable_append_ranks(struct buffer *out, const struct rankset *ranks)
{
	size_t count = rankset_count(ranks);

	rankset_append(out, ranks);
	if (count == 1)
		return;
	buffer_append_string(out, " (");
	text_count(out, count);
	buffer_append_char(out, ')');
}

static bool have_same_dtype(const struct tensor *a, const struct tensor *b)
{
	return a->dtype == b->dtype ||
	       (a->dtype != NULL && b->dtype != NULL && strcmp(a->dtype, b->dtype) == 0);
}

/* True if the shape differs from the majority's. Such a shape gets a "≠", which needs no colour. */
static bool has_other_shape(const struct comparetable *table, const struct tensor *tensor)
{
	return table->is_majority && !tensor_has_same_shape(tensor, table->reference->tensor);
}

static bool has_other_dtype(const struct comparetable *table, const struct tensor *tensor)
{
	return table->is_majority && !have_same_dtype(tensor, table->reference->tensor);
}

static void comparetable_append_shape(struct buffer *out, const struct comparetable *table,
				      const struct answer_class *class)
{
	const struct tensor *tensor = class->tensor;

	if (has_other_shape(table, tensor))
		buffer_append_string(out, "\u2260");
	tensortext_append_sizes(out, tensor->shape, tensor->dimension_count);
}

/* True if agree() holds for all tensors: the title then shows the common value. */
static bool all_agree(const struct comparetable *table,
		      bool (*agree)(const struct tensor *a, const struct tensor *b))
{
	const struct tensor *first = NULL;

	for (size_t i = 0; i < table->classes->count; i++) {
		const struct tensor *tensor = table->classes->items[i].tensor;

		if (tensor != NULL && first != NULL && !agree(first, tensor))
			return false;
		if (tensor != NULL)
			first = tensor;
	}
	return first != NULL;
}

static void comparetable_append_dtype(struct buffer *out, const struct comparetable *table,
				      const struct answer_class *class)
{
	const struct tensor *tensor = class->tensor;
	const char *dtype = tensor->dtype != NULL ? tensor->dtype : "?";

	if (table->has_one_dtype)
		return;
	if (has_other_dtype(table, tensor))
		buffer_append_string(out, "\u2260");
	text_escape(out, dtype, strlen(dtype));
}

static void append_norm(struct buffer *out, const struct comparetable *table,
			const struct answer_class *class)
{
	const struct tensor_statistics *of = &class->tensor->statistics;

	(void)table;
	if (!class->tensor->has_statistics)
		return;
	if (of->has_norm)
		tensor_text_append_real(out, of->norm, 5);
	else
		buffer_append_char(out, '?');
}

/* Four digits suffice: hash and difference tell apart classes that differ in later digits. */
static void comparetable_append_number(struct buffer *out, const struct tensor_number *number)
{
	tensor_text_append_short(out, number, 4);
}

static void append_minimum(struct buffer *out, const struct comparetable *table,
			   const struct answer_class *class)
{
	(void)table;
	if (class->tensor->has_statistics)
		comparetable_append_number(out, &class->tensor->statistics.minimum);
}

static void append_maximum(struct buffer *out, const struct comparetable *table,
			   const struct answer_class *class)
{
	(void)table;
	if (class->tensor->has_statistics)
		comparetable_append_number(out, &class->tensor->statistics.maximum);
}

static void comparetable_append_nan(struct buffer *out, const struct comparetable *table,
				    const struct answer_class *class)
{
	(void)table;
	if (class->tensor->has_statistics)
		text_count(out, (size_t)class->tensor->statistics.nan_count);
}

/* Appends the count of infinities, if any tensor in the table has one. */
static void append_infinite(struct buffer *out, const struct comparetable *table,
			    const struct answer_class *class)
{
	if (table->has_infinite && class->tensor->has_statistics)
		text_count(out, (size_t)class->tensor->statistics.infinity_count);
}

static bool is_any_infinite(const struct answer_classes *classes)
{
	for (size_t i = 0; i < classes->count; i++) {
		const struct tensor *tensor = classes->items[i].tensor;

		if (tensor != NULL && tensor->has_statistics &&
		    tensor->statistics.infinity_count > 0)
			return true;
	}
	return false;
}

static void comparetable_append_hash(struct buffer *out, const struct comparetable *table,
				     const struct answer_class *class)
{
	(void)table;
	if (class->tensor->has_hash)
		buffer_printf(out, "%04" PRIx32 "\u2026", class->tensor->hash >> 16);
}

static void comparetable_append_word(struct buffer *out, const char *word)
{
	if (out->length > 0)
		buffer_append_string(out, ", ");
	buffer_append_string(out, word);
}

/* Appends remarks in words: unread, equal, sampled, masked, torn. */
static void append_note(struct buffer *out, const struct comparetable *table,
			const struct answer_class *class)
{
	const struct tensor *tensor = class->tensor;
	struct buffer share = BUFFER_INIT;

	(void)table;
	if (tensor->unread != NULL)
		comparetable_append_word(out, tensor->unread);
	else if (class->merged > 1)
		comparetable_append_word(out, "within the tolerance");
	else if (rankset_count(&class->ranks) > 1 && class->is_sure)
		comparetable_append_word(out, "equal");
	if (tensor->has_statistics && tensor->share < 1) {
		buffer_printf(&share, "a sample of %.2g %%", tensor->share * 100);
		comparetable_append_word(out, share.data);
	}
	if (tensor->has_statistics && tensor->has_mask) {
		buffer_reset(&share);
		tensortext_append_masked(&share, &tensor->statistics);
		comparetable_append_word(out, share.data);
	}
	if (tensor->is_torn)
		comparetable_append_word(out, "changed while read");
	buffer_clear(&share);
}

struct table_column {
	const char *name;
	int rank; /* order of removal: the highest goes first; 0: never removed */
	bool is_right;
	bool of_elements;
	void (*append)(struct buffer *out, const struct comparetable *table,
		       const struct answer_class *class);
};

static const struct table_column columns[COMPARETABLE_COLUMNS] = {
	{ "dtype", 2, false, false, comparetable_append_dtype },
	{ "shape", 3, false, false, comparetable_append_shape },
	{ "norm", 4, false, true, append_norm },
	{ "min", 6, false, true, append_minimum },
	{ "max", 6, false, true, append_maximum },
	{ "nan", 0, true, true, comparetable_append_nan },
	{ "inf", 5, true, true, append_infinite },
	{ "hash", 1, false, true, comparetable_append_hash },
};

bool comparetable_is_wanted(const struct answer_classes *classes)
{
	for (size_t i = 0; i < classes->count; i++)
		if (classes->items[i].tensor != NULL)
			return true;
	return false;
}

/* Returns the width of the column's widest cell, or 0 if all cells are empty: such a column is not
 * shown. */
static int natural_width(const struct comparetable *table, size_t at)
{
	struct buffer text = BUFFER_INIT;
	int width = 0;

	for (size_t i = 0; i < table->classes->count; i++) {
		const struct answer_class *class = &table->classes->items[i];

		if (class->tensor == NULL)
			continue;
		buffer_reset(&text);
		columns[at].append(&text, table, class);
		if (text_width(text.data) > width)
			width = text_width(text.data);
	}
	buffer_clear(&text);
	if (width > 0 && width < text_width(columns[at].name))
		width = text_width(columns[at].name);
	return width;
}

static int ranks_width(const struct answer_classes *classes, int maximum)
{
	struct buffer text = BUFFER_INIT;
	int width = text_width(RANKS);

	comparetable_append_ranks(&text, &classes->waiting);
	if (rankset_count(&classes->waiting) > 0 && text_width(text.data) > width)
		width = text_width(text.data);
	for (size_t i = 0; i < classes->count; i++) {
		buffer_reset(&text);
		comparetable_append_ranks(&text, &classes->items[i].ranks);
		if (text_width(text.data) > width)
			width = text_width(text.data);
	}
	buffer_clear(&text);
	return width < maximum ? width : maximum;
}

static int whole_width(const struct comparetable *table)
{
	int width = MARK_WIDTH + table->ranks_width + GAP;

	for (size_t i = 0; i < COMPARETABLE_COLUMNS; i++)
		if (table->widths[i] > 0)
			width += table->widths[i] + GAP;
	return width - GAP;
}

/* Removes the columns of the highest `rank`. Returns false if only columns that must stay are
 * left. */
static bool leave_out(struct comparetable *table)
{
	int highest = 0;

	for (size_t i = 0; i < COMPARETABLE_COLUMNS; i++)
		if (table->widths[i] > 0 && columns[i].rank > highest)
			highest = columns[i].rank;
	for (size_t i = 0; highest > 0 && i < COMPARETABLE_COLUMNS; i++)
		if (columns[i].rank == highest)
			table->widths[i] = 0;
	return highest > 0;
}

void comparetable_make(struct comparetable *table, const struct answer_classes *classes,
		       int column_count)
{
	*table = (struct comparetable){ .classes = classes };
	table->reference = answer_classes_reference(classes);
	table->is_majority =
		table->reference != NULL && table->reference == answer_classes_majority(classes);
	/* Computed here once; otherwise each row would compare all classes again. */
	table->has_one_dtype = all_agree(table, have_same_dtype);
	table->has_infinite = is_any_infinite(classes);
	table->ranks_width = ranks_width(classes, column_count / SHARE);
	for (size_t i = 0; i < COMPARETABLE_COLUMNS; i++) {
		int width = natural_width(table, i);

		table->widths[i] = width > column_count / SHARE ? column_count / SHARE : width;
	}
	while (whole_width(table) > column_count && leave_out(table))
		;
}

void comparetable_put_head(struct window window, int row, const struct comparetable *table)
{
	int column = comparetable_text_column(table);

	window_put(window, row, MARK_WIDTH, table->ranks_width, STYLE_DIM, RANKS);
	for (size_t i = 0; i < COMPARETABLE_COLUMNS; i++) {
		int width = table->widths[i];

		if (width == 0)
			continue;
		if (columns[i].is_right)
			window_put_right(window, row, column + width, width, STYLE_DIM,
					 columns[i].name);
		else
			window_put(window, row, column, width, STYLE_DIM, columns[i].name);
		column += width + GAP;
	}
}

/* Chooses the cell's style: NaN, or a shape or dtype other than the majority's. */
static enum style comparetable_style_of(const struct comparetable *table,
					const struct answer_class *class, size_t at)
{
	const struct tensor *tensor = class->tensor;

	if (columns[at].append == comparetable_append_nan && tensor->statistics.nan_count > 0)
		return STYLE_VALUE_NAN;
	if ((columns[at].append == comparetable_append_shape && has_other_shape(table, tensor)) ||
	    (columns[at].append == comparetable_append_dtype && has_other_dtype(table, tensor)))
		return STYLE_DIFF_ONLY;
	return answer_style(class);
}

void comparetable_put_ranks(struct window window, int row, const struct comparetable *table,
			    const struct answer_class *class)
{
	struct buffer text = BUFFER_INIT;

	comparetable_append_ranks(&text, class != NULL ? &class->ranks : &table->classes->waiting);
	window_put_character(window, row, 0, answer_style(class), answer_mark(class));
	window_put(window, row, MARK_WIDTH, table->ranks_width, answer_style(class), text.data);
	buffer_clear(&text);
}

/* Draws the note only if NOTE_MINIMUM columns or the whole note fit. */
static void put_note(struct window window, int row, int column, const struct comparetable *table,
		     const struct answer_class *class)
{
	int width = window.column_count - column;
	struct buffer text = BUFFER_INIT;

	append_note(&text, table, class);
	if (width >= NOTE_MINIMUM || text_width(text.data) <= width)
		window_put(window, row, column, width, STYLE_DIM, text.data);
	buffer_clear(&text);
}

void comparetable_put_row(struct window window, int row, const struct comparetable *table,
			  const struct answer_class *class)
{
	struct buffer text = BUFFER_INIT;
	int column = comparetable_text_column(table);

	for (size_t i = 0; i < COMPARETABLE_COLUMNS; i++) {
		int width = table->widths[i];

		if (width == 0)
			continue;
		/* For an unread tensor the note takes the place of the columns of elements. */
		if (class->tensor->unread != NULL && columns[i].of_elements)
			break;
		buffer_reset(&text);
		columns[i].append(&text, table, class);
		if (columns[i].is_right)
			window_put_right(window, row, column + width, width,
					 comparetable_style_of(table, class, i), text.data);
		else
			window_put(window, row, column, width,
				   comparetable_style_of(table, class, i), text.data);
		column += width + GAP;
	}
	put_note(window, row, column, table, class);
	buffer_clear(&text);
}

int comparetable_text_column(const struct comparetable *table)
{
	return MARK_WIDTH + table->ranks_width + GAP;
}

void comparetable_append_title(struct buffer *out, const struct comparetable *table)
{
	const struct tensor *first = NULL;

	for (size_t i = 0; first == NULL && i < table->classes->count; i++)
		first = table->classes->items[i].tensor;
	if (first == NULL)
		return;
	if (table->has_one_dtype && first->dtype != NULL)
		text_escape(out, first->dtype, strlen(first->dtype));
	if (!all_agree(table, tensor_has_same_shape))
		return;
	if (out->length > 0)
		buffer_append_char(out, ' ');
	tensortext_append_sizes(out, first->shape, first->dimension_count);
}

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

static const char *dtype_of(const struct tensor *tensor)
{
	return tensor->dtype != NULL ? tensor->dtype : "?";
}

/* Appends how shape and dtype differ. Returns false if both are equal, so that the elements must be
 * compared. */
static bool differencetext_append_kind(struct buffer *out, const struct tensor *one,
				       const struct tensor *other)
{
	bool same = tensor_has_same_shape(one, other);

	if (!same) {
		buffer_append_string(out, "shape ");
		tensortext_append_sizes(out, one->shape, one->dimension_count);
		buffer_append_string(out, ", not ");
		tensortext_append_sizes(out, other->shape, other->dimension_count);
	}
	if (strcmp(dtype_of(one), dtype_of(other)) == 0)
		return !same;
	buffer_append_string(out, same ? "dtype " : ", dtype ");
	text_escape(out, dtype_of(one), strlen(dtype_of(one)));
	buffer_append_string(out, ", not ");
	text_escape(out, dtype_of(other), strlen(dtype_of(other)));
	return true;
}

void differencetext_append_found(struct buffer *out, const struct difference *difference)
{
	switch (difference->state) {
	case DIFFERENCE_READING:
		buffer_append_string(out, "reading both tensors");
		if (difference->total <= 0)
			break;
		buffer_append_string(out, ", ");
		text_size(out, (uint64_t)difference->done);
		buffer_append_string(out, " of ");
		text_size(out, (uint64_t)difference->total);
		break;
	case DIFFERENCE_DONE:
		tensordiff_append(out, &difference->found);
		break;
	case DIFFERENCE_FAILED:
		buffer_append_string(out, difference->error != NULL ? difference->error
								    : "not compared");
		break;
	}
}

static void differencetext_append_names(struct buffer *out, const struct answer_class *class,
					const struct answer_class *other, bool is_majority)
{
	rankset_append_named(out, &class->ranks);
	buffer_append_string(out, " against ");
	if (is_majority)
		buffer_append_string(out, "the majority");
	else
		rankset_append_named(out, &other->ranks);
	buffer_append_string(out, ": ");
}

void differencetext_append(struct buffer *out, const struct answers *answers,
			   const struct answer_classes *classes, const struct answer_class *class)
{
	const struct difference *difference;
	const struct answer_class *other;

	other = answer_classes_reference(classes);
	if (class->tensor == NULL || other == NULL || other == class)
		return;
	differencetext_append_names(out, class, other, other == answer_classes_majority(classes));
	difference = difference_of(answers, class, other);
	if (differencetext_append_kind(out, class->tensor, other->tensor))
		return;
	if (difference != NULL)
		differencetext_append_found(out, difference);
	else if (class->tensor->unread != NULL)
		buffer_append_string(out, class->tensor->unread);
	else if (other->tensor->unread != NULL)
		buffer_append_string(out, other->tensor->unread);
	else
		buffer_append_string(out, "press Enter to compare the elements");
}
