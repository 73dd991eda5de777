#include "ui/tensorscreen.h"

#include <math.h>

#include "banned.h"
#include "model/session.h"
#include "ui/pane.h"
#include "ui/view.h"
#include "ui/views/pane-tensor.h"

#define HEADER_ROWS_MINIMUM 12 /* minimum rows inside the frame for a header of several rows */
#define CELL_MINIMUM 5
#define CELL_MAXIMUM 40
#define UNKNOWN_WIDTH 10

const char *const tensor_mode_names[TENSOR_MODE_COUNT] = {
	[TENSOR_NUMBERS] = "numbers",
	[TENSOR_HEAT] = "heat map",
	[TENSOR_HISTOGRAM] = "histogram",
};

void tensor_choice_init(struct tensor_choice *choice)
{
	*choice = (struct tensor_choice){
		.format = { .precision = TENSOR_PRECISION },
	};
	tensor_plane_init(&choice->plane);
}

static int64_t tensorscreen_keep(int64_t at, int64_t least, int64_t most)
{
	if (at > most)
		at = most;
	return at < least ? least : at;
}

static int tensorscreen_digits_of(int64_t number)
{
	int digits = 1;

	for (; number > 9; number /= 10)
		digits++;
	return digits;
}

static void widen_by(double *largest, const struct tensor_number *number)
{
	double value;

	if (tensor_number_value(number, &value) && isfinite(value) && fabs(value) > *largest)
		*largest = fabs(value);
}

/*
 * Returns the largest known absolute value: of minimum and maximum, or of the received elements if
 * these are not known.
 */
static double largest_of(const struct tensorview *known)
{
	double largest = 0;

	if (known->tensor.has_statistics) {
		widen_by(&largest, &known->tensor.statistics.minimum);
		widen_by(&largest, &known->tensor.statistics.maximum);
		if (largest > 0)
			return largest;
	}
	for (size_t i = 0; i < known->slice.count; i++)
		widen_by(&largest, &known->slice.numbers[i]);
	return largest;
}

static int wider(int width, const struct tensor_number *number, struct tensor_format format)
{
	int other = tensor_text_width(number, format);

	return other > width ? other : width;
}

/* Returns the columns of a cell: the widest number among the received elements, the minimum, the
 * maximum and the column indices. */
static int cell_width(const struct tensorview *known, const struct tensor_screen *screen)
{
	const struct tensor_statistics *statistics = &known->tensor.statistics;
	int width = tensorscreen_digits_of(screen->columns - 1);

	if (width < CELL_MINIMUM - 1)
		width = CELL_MINIMUM - 1;
	if (known->tensor.has_statistics) {
		width = wider(width, &statistics->minimum, screen->format);
		width = wider(width, &statistics->maximum, screen->format);
	}
	for (size_t i = 0; i < known->slice.count; i++)
		width = wider(width, &known->slice.numbers[i], screen->format);
	if (!known->tensor.has_statistics && known->slice.count == 0)
		width = UNKNOWN_WIDTH;
	return (width < CELL_MAXIMUM ? width : CELL_MAXIMUM) + 1;
}

/* Returns the first shown row or column, so that the cursor is visible. */
static int64_t scroll(int64_t first, int64_t cursor, int64_t count, int shown)
{
	first = tensorscreen_keep(first, cursor - shown + 1, cursor);
	return tensorscreen_keep(first, 0, count > shown ? count - shown : 0);
}

static void place_numbers(struct tensor_screen *screen, const struct tensorview *known)
{
	int room;

	screen->label_width = tensorscreen_digits_of(screen->rows - 1);
	if (screen->label_width < 3)
		screen->label_width = 3;
	screen->label_width++;
	screen->cell_width = cell_width(known, screen);
	room = (screen->column_count - screen->label_width) / screen->cell_width;
	screen->shown_columns = (int)tensorscreen_keep(room, 1, screen->columns);
	screen->shown_rows = (int)tensorscreen_keep(screen->row_count, 0, screen->rows);
	if (screen->columns < 1)
		screen->shown_columns = 0;
	screen->first.row =
		scroll(screen->first.row, screen->cursor.row, screen->rows, screen->shown_rows);
	screen->first.column = scroll(screen->first.column, screen->cursor.column, screen->columns,
				      screen->shown_columns);
}

void tensor_screen_make(struct tensor_screen *screen, const struct session *session,
			const struct view *view, int row_count, int column_count)
{
	const struct tensorview *known = &session->tensorview;
	const struct tensor_choice *choice = &view->tensor;
	int rows = row_count;

	*screen = (struct tensor_screen){
		.has_frame = pane_has_frame(row_count),
		.column_count = column_count,
		.plane = choice->plane,
		.cursor = choice->cursor,
		.first = choice->first,
	};
	if (screen->has_frame) {
		rows -= 2;
		screen->column_count -= 2;
	}
	screen->header_rows = pane_tensor_header_rows(session, view, screen->column_count,
						      rows >= HEADER_ROWS_MINIMUM ? rows / 3 : 1);
	if (screen->header_rows > rows - 2)
		screen->header_rows = rows > 2 ? rows - 2 : 0;
	rows -= screen->header_rows + 1;
	screen->has_head = rows > 1;
	screen->row_count = rows > 1 ? rows - 1 : rows;
	if (screen->row_count < 0)
		screen->row_count = 0;
	if (!known->has_tensor)
		return;
	screen->format = tensor_format_resolve(choice->format, largest_of(known));
	tensor_plane_fit(&screen->plane, &known->tensor);
	screen->rows = tensor_plane_rows(&screen->plane, &known->tensor);
	screen->columns = tensor_plane_columns(&screen->plane, &known->tensor);
	screen->cursor.row = tensorscreen_keep(screen->cursor.row, 0, screen->rows - 1);
	screen->cursor.column = tensorscreen_keep(screen->cursor.column, 0, screen->columns - 1);
	place_numbers(screen, known);
}

void tensor_screen_map(const struct tensor_screen *screen, const struct view *view,
		       int *row_maximum, int *column_maximum)
{
	/* A row above the map and a column to the left of the map show the place of the cursor. */
	int rows = screen->row_count - 1;

	*row_maximum = rows > 0 ? (view->has_heat ? 2 * rows : rows) : 0;
	*column_maximum = screen->column_count > 1 ? screen->column_count - 1 : 0;
}

int tensor_bins_joined(int count, int rows)
{
	int joined = 1;

	if (rows < 1)
		return count;
	while (joined < count && (count % joined != 0 || count / joined > rows))
		joined++;
	return joined;
}
