#include "ui/heat.h"

#include <string.h>

#include "banned.h"
#include "base/buffer.h"
#include "base/text.h"
#include "model/tensorformat.h"
#include "model/tensorheat.h"

#define SCALE_MAXIMUM 4
#define DIGITS 3
#define MARK_ODD 0x2717 /* ✗ */
#define FULL 0x2588	/* █ */

/* Characters from low to high; a value that was not read is a blank. */
static const char ramp[] = ".:-=+*#%@";
#define RAMP_COUNT ((int)sizeof(ramp) - 1)

int heat_rows(int row_count, bool has_colours)
{
	return has_colours ? 2 * row_count : row_count;
}

int heat_scale(const struct heat_picture *picture, struct window window)
{
	int rows = heat_rows(window.row_count, picture->has_colours);
	int scale = SCALE_MAXIMUM;

	while (scale > 1 && (picture->row_count * scale > rows ||
			     picture->column_count * scale > window.column_count))
		scale--;
	return scale;
}

/* Returns the value at a row and column of the picture, or HEAT_NOTHING outside the picture. */
static double value_at(const struct heat_picture *picture, int row, int column)
{
	if (row >= picture->row_count || column >= picture->column_count)
		return HEAT_NOTHING;
	return picture->values[row * picture->column_count + column];
}

static enum style heat_style_of(const struct heat_picture *picture, double value)
{
	return (enum style)(STYLE_HEAT_1 +
			    tensor_heat_step(value, picture->low, picture->high, STYLE_HEAT_COUNT));
}

static void put_halves(struct window window, int row, int column,
		       const struct heat_picture *picture, double upper, double lower)
{
	if (isnan(upper) || isnan(lower))
		window_put_character(window, row, column, STYLE_VALUE_NAN, MARK_ODD);
	else if (isinf(upper) && isinf(lower))
		window_put_character(window, row, column, STYLE_TEXT, ' ');
	else if (isinf(lower))
		window_put_character(window, row, column, heat_style_of(picture, upper), 0x2580);
	else if (isinf(upper))
		window_put_character(window, row, column, heat_style_of(picture, lower), 0x2584);
	else
		window_put_halves(window, row, column, heat_style_of(picture, upper),
				  heat_style_of(picture, lower));
}

static void put_letter(struct window window, int row, int column,
		       const struct heat_picture *picture, double value)
{
	if (isnan(value))
		window_put_character(window, row, column, STYLE_VALUE_NAN, MARK_ODD);
	else if (!isinf(value))
		window_put_character(
			window, row, column, STYLE_TEXT,
			ramp[tensor_heat_step(value, picture->low, picture->high, RAMP_COUNT)]);
}

void heat_put(struct window window, const struct heat_picture *picture)
{
	int scale = heat_scale(picture, window);

	for (int row = 0; row < window.row_count; row++) {
		for (int i = 0; i < window.column_count; i++) {
			int column = i / scale;

			if (picture->has_colours)
				put_halves(window, row, i, picture,
					   value_at(picture, 2 * row / scale, column),
					   value_at(picture, (2 * row + 1) / scale, column));
			else
				put_letter(window, row, i, picture,
					   value_at(picture, row / scale, column));
		}
	}
}

bool heat_find(const struct heat_picture *picture, struct window window, int row, int column,
	       int *value_row, int *value_column)
{
	int scale = heat_scale(picture, window);

	*value_row = heat_rows(row, picture->has_colours) / scale;
	*value_column = column / scale;
	return *value_row < picture->row_count && *value_column < picture->column_count;
}

int heat_put_legend(struct window window, int row, int column, int width,
		    const struct heat_picture *picture)
{
	int steps = picture->has_colours ? STYLE_HEAT_COUNT : RAMP_COUNT;
	struct buffer low = BUFFER_INIT;
	struct buffer high = BUFFER_INIT;
	int start = column;

	tensor_text_append_real(&low, picture->low, DIGITS);
	tensor_text_append_real(&high, picture->high, DIGITS);
	if (text_width(low.data) + text_width(high.data) + steps + 2 <= width) {
		column += window_put(window, row, column, width, STYLE_TEXT, low.data) + 1;
		for (int i = 0; i < steps; i++)
			window_put_character(window, row, column++,
					     picture->has_colours ? (enum style)(STYLE_HEAT_1 + i)
								  : STYLE_TEXT,
					     picture->has_colours ? FULL : ramp[i]);
		column += 1 + window_put(window, row, column + 1, width, STYLE_TEXT, high.data);
	}
	buffer_clear(&high);
	buffer_clear(&low);
	return column - start;
}
