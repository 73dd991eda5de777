#include "model/tensorheat.h"

#include <math.h>
#include <stdlib.h>

#include "banned.h"
#include "base/alloc.h"

static int64_t tensorheat_minimum(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static int64_t divide_up(int64_t a, int64_t b)
{
	return a / b + (a % b != 0);
}

/* Computes all members but the bins. */
static struct tensor_heat tensorheat_plan(const struct tensor_plane *plane,
					  const struct tensor *tensor, int row_maximum,
					  int column_maximum, int64_t column)
{
	struct tensor_heat heat = {
		.plane = *plane,
		.rows = tensor_plane_rows(plane, tensor),
		.columns = tensor_plane_columns(plane, tensor),
	};

	if (heat.rows < 1 || heat.columns < 1 || row_maximum < 1 || column_maximum < 1)
		return heat;
	heat.bin_rows = divide_up(heat.rows, row_maximum);
	heat.row_count = (int)divide_up(heat.rows, heat.bin_rows);
	heat.shown_columns =
		tensorheat_minimum(heat.columns, TENSOR_HEAT_ELEMENTS / heat.row_count);
	heat.first_column = column / heat.shown_columns * heat.shown_columns;
	heat.shown_columns =
		tensorheat_minimum(heat.shown_columns, heat.columns - heat.first_column);
	heat.bin_columns = divide_up(heat.shown_columns, column_maximum);
	heat.column_count = (int)divide_up(heat.shown_columns, heat.bin_columns);
	heat.read_rows = tensorheat_minimum(heat.bin_rows, TENSOR_HEAT_ELEMENTS / heat.row_count /
								   heat.shown_columns);
	if (heat.read_rows < 1)
		heat.read_rows = 1;
	return heat;
}

void tensor_heat_begin(struct tensor_heat *heat, const struct tensor_plane *plane,
		       const struct tensor *tensor, int row_maximum, int column_maximum,
		       int64_t column)
{
	*heat = tensorheat_plan(plane, tensor, row_maximum, column_maximum, column);
	heat->bins = xcalloc((size_t)heat->row_count * (size_t)heat->column_count + 1,
			     sizeof(*heat->bins));
}

void tensor_heat_clear(struct tensor_heat *heat)
{
	free(heat->bins);
	*heat = (struct tensor_heat){ .bins = NULL };
}

bool tensor_heat_is_of(const struct tensor_heat *heat, const struct tensor_plane *plane,
		       const struct tensor *tensor, int row_maximum, int column_maximum,
		       int64_t column)
{
	struct tensor_heat other =
		tensorheat_plan(plane, tensor, row_maximum, column_maximum, column);

	return heat->bins != NULL && tensor_plane_is_same(&heat->plane, plane) &&
	       heat->rows == other.rows && heat->columns == other.columns &&
	       heat->row_count == other.row_count && heat->column_count == other.column_count &&
	       heat->first_column == other.first_column;
}

static bool reads_all(const struct tensor_heat *heat)
{
	return heat->read_rows >= heat->bin_rows;
}

/*
 * Sizes of pages; a page is a slice that is read at once. If all rows are read, the plane is one
 * part; otherwise, each row of bins is a part of which only some rows are read.
 */
struct pages {
	int64_t columns;   /* columns of a page */
	int64_t across;	   /* pages side by side */
	int64_t rows;	   /* maximum rows of a page */
	int64_t part_rows; /* consecutive rows to read in one part */
	int64_t down;	   /* pages on top of each other in part_rows */
	int64_t parts;
};

static struct pages pages_of(const struct tensor_heat *heat)
{
	struct pages pages = {
		.columns = tensorheat_minimum(heat->shown_columns, TENSOR_CELLS_MAXIMUM),
		.part_rows = reads_all(heat) ? heat->rows : heat->read_rows,
		.parts = reads_all(heat) ? 1 : heat->row_count,
	};

	pages.across = divide_up(heat->shown_columns, pages.columns);
	pages.rows = tensorheat_minimum(pages.part_rows, TENSOR_CELLS_MAXIMUM / pages.columns);
	pages.down = divide_up(pages.part_rows, pages.rows);
	return pages;
}

/* Sets *first to the first row that is read in a part, and *end to the row after the last one. */
static void rows_of_part(const struct tensor_heat *heat, int64_t part, int64_t *first, int64_t *end)
{
	int64_t spare = heat->bin_rows - heat->read_rows;

	*first = 0;
	*end = heat->rows;
	if (reads_all(heat))
		return;
	*first = part * heat->bin_rows + spare / 2;
	/* The last part may have fewer rows. */
	if (*first + heat->read_rows > heat->rows)
		*first = heat->rows - heat->read_rows;
	if (*first < part * heat->bin_rows)
		*first = part * heat->bin_rows;
	*end = tensorheat_minimum(*first + heat->read_rows, heat->rows);
}

/* Computes a page's slice; false: the page has no rows, since the last part may be shorter. */
static bool page_at(const struct tensor_heat *heat, const struct pages *pages, int64_t page,
		    struct tensor_slice *slice)
{
	int64_t down = page / pages->across;
	int64_t last = heat->first_column + heat->shown_columns;
	struct tensor_place place;
	int64_t end;

	rows_of_part(heat, down / pages->down, &place.row, &end);
	place.row += down % pages->down * pages->rows;
	place.column = heat->first_column + page % pages->across * pages->columns;
	if (place.row >= end)
		return false;
	*slice = tensor_plane_slice(&heat->plane, &place,
				    tensorheat_minimum(pages->rows, end - place.row),
				    tensorheat_minimum(pages->columns, last - place.column));
	return true;
}

/*
 * Returns the first page from heat->page on that has rows, and sets *slice to that page; -1: none.
 */
static int64_t next_page(const struct tensor_heat *heat, struct tensor_slice *slice)
{
	struct pages pages;

	if (heat->row_count == 0)
		return -1;
	pages = pages_of(heat);
	for (int64_t page = heat->page; page < pages.parts * pages.down * pages.across; page++)
		if (page_at(heat, &pages, page, slice))
			return page;
	return -1;
}

bool tensor_heat_next(const struct tensor_heat *heat, struct tensor_slice *slice)
{
	return next_page(heat, slice) >= 0;
}

bool tensor_number_value(const struct tensor_number *number, double *value)
{
	switch (number->kind) {
	case TENSOR_NUMBER_UNKNOWN:
	case TENSOR_NUMBER_TEXT:
		return false;
	case TENSOR_NUMBER_REAL:
		*value = number->real;
		return true;
	case TENSOR_NUMBER_INTEGER:
	case TENSOR_NUMBER_BOOLEAN:
		*value = (double)number->integer;
		return true;
	case TENSOR_NUMBER_UNSIGNED:
		*value = (double)(uint64_t)number->integer;
		return true;
	case TENSOR_NUMBER_COMPLEX:
		*value = hypot(number->real, number->imaginary);
		return true;
	}
	return false;
}

static void add_number(struct tensor_heat *heat, int64_t row, int64_t column,
		       const struct tensor_number *number)
{
	int64_t bin_row = row / heat->bin_rows;
	int64_t bin_column = (column - heat->first_column) / heat->bin_columns;
	struct tensor_heat_bin *bin;
	double value;

	if (row < 0 || column < heat->first_column || bin_row >= heat->row_count ||
	    bin_column >= heat->column_count || !tensor_number_value(number, &value))
		return;
	bin = &heat->bins[bin_row * heat->column_count + bin_column];
	if (!isfinite(value)) {
		bin->odd_count++;
		return;
	}
	bin->sum += value;
	bin->count++;
}

void tensor_heat_add(struct tensor_heat *heat, const struct tensor_slice *slice)
{
	struct tensor_slice asked;

	for (size_t i = 0; i < slice->count; i++) {
		int64_t row = (int64_t)i / slice->column_count;
		int64_t column = (int64_t)i % slice->column_count;

		add_number(heat, slice->row + row, slice->column + column, &slice->numbers[i]);
	}
	heat->page = next_page(heat, &asked) + 1;
}

bool tensor_heat_range(const struct tensor_heat *heat, double *low, double *high)
{
	bool is_known = false;

	for (int i = 0; i < heat->row_count * heat->column_count; i++) {
		const struct tensor_heat_bin *bin = &heat->bins[i];
		double mean = bin->sum / (double)bin->count;

		if (bin->count == 0)
			continue;
		if (!is_known || mean < *low)
			*low = mean;
		if (!is_known || mean > *high)
			*high = mean;
		is_known = true;
	}
	return is_known;
}

int tensor_heat_step(double value, double low, double high, int count)
{
	/* Halve the limits: the difference of two large numbers may overflow. */
	double range = high / 2 - low / 2;
	double share = (value / 2 - low / 2) / range;

	if (!(range > 0) || !(share >= 0))
		return 0;
	if (share >= 1)
		return count - 1;
	return (int)(share * count);
}
