/* pane-tensor-heat: a plane of a tensor as a heat map; each cell is the mean of its elements. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "banned.h"
#include "base/alloc.h"
#include "base/buffer.h"
#include "base/text.h"
#include "model/session.h"
#include "ui/heat.h"
#include "ui/mouse-target.h"
#include "ui/view.h"
#include "ui/views/pane-tensor.h"

#define MARK_RIGHT 0x25b8 /* ▸ */
#define MARK_DOWN 0x25bc  /* ▼ */

static double *pane_tensor_heat_values_of(const struct tensor_heat *heat)
{
	size_t count = (size_t)heat->row_count * (size_t)heat->column_count;
	double *values = xcalloc(count + 1, sizeof(*values));

	for (size_t i = 0; i < count; i++) {
		const struct tensor_heat_bin *bin = &heat->bins[i];

		if (bin->odd_count > 0)
			values[i] = NAN;
		else if (bin->count == 0)
			values[i] = HEAT_NOTHING;
		else
			values[i] = bin->sum / (double)bin->count;
	}
	return values;
}

/* Appends "mean of each 52×37, 9 in 158 rows read". */
static void append_parts(struct buffer *out, const struct tensor_heat *heat)
{
	if (heat->bin_rows * heat->bin_columns > 1) {
		buffer_append_string(out, "mean of each ");
		text_count(out, (uint64_t)heat->bin_rows);
		buffer_append_string(out, "\u00d7");
		text_count(out, (uint64_t)heat->bin_columns);
	}
	if (heat->read_rows < heat->bin_rows) {
		buffer_printf(out, ", %" PRId64 " in ", heat->read_rows);
		text_count(out, (uint64_t)heat->bin_rows);
		buffer_append_string(out, " rows read");
	}
	if (heat->shown_columns < heat->columns) {
		buffer_append_string(out, "; columns ");
		text_count(out, (uint64_t)heat->first_column);
		buffer_append_char(out, '-');
		text_count(out, (uint64_t)(heat->first_column + heat->shown_columns - 1));
		buffer_append_string(out, " of ");
		text_count(out, (uint64_t)heat->columns);
	}
}

static void pane_tensor_heat_put_head(struct window window, const struct tensor_heat *heat,
				      const struct heat_picture *picture)
{
	struct buffer text = BUFFER_INIT;
	int used = heat_put_legend(window, 0, 1, window.column_count - 1, picture);

	append_parts(&text, heat);
	if (text.length > 0)
		window_put(window, 0, used + 4, window.column_count - used - 4, STYLE_DIM,
			   text.data);
	buffer_clear(&text);
}

/* Draws arrows in the first row and column that point at the element under the cursor. */
static void pane_tensor_heat_put_cursor(struct window window, const struct tensor_screen *screen,
					const struct tensor_heat *heat,
					const struct heat_picture *picture)
{
	struct window map =
		window_part(window, 1, 1, window.row_count - 1, window.column_count - 1);
	int scale = heat_scale(picture, map);
	int64_t column = (screen->cursor.column - heat->first_column) / heat->bin_columns * scale;
	int64_t row = screen->cursor.row / heat->bin_rows * scale;

	if (picture->has_colours)
		row /= 2;
	window_put_character(window, 0, 1 + (int)column, STYLE_TITLE_FOCUSED, MARK_DOWN);
	window_put_character(window, 1 + (int)row, 0, STYLE_TITLE_FOCUSED, MARK_RIGHT);
}

static void note_hits(struct window map, const struct heat_picture *picture)
{
	int value_row;
	int value_column;

	for (int row = 0; row < map.row_count; row++)
		for (int column = 0; column < map.column_count; column++)
			if (heat_find(picture, map, row, column, &value_row, &value_column))
				window_hit(map, row, column, 1, 1, MOUSE_TARGET_ELEMENT,
					   value_row * picture->column_count + value_column);
}

void pane_tensor_heat(struct window window, const struct session *session, const struct view *view,
		      const struct tensor_screen *screen)
{
	const struct tensorview *known = &session->tensorview;
	/* The first map is shown while it is being read. */
	const struct tensor_heat *heat =
		known->heat.bins != NULL ? &known->heat : &known->next_heat;
	struct window body = window;
	struct heat_picture picture;
	double *values;

	if (heat->bins == NULL || heat->row_count == 0) {
		window_put(window, 0, 1, window.column_count, STYLE_DIM, "Reading the elements.");
		return;
	}
	values = pane_tensor_heat_values_of(heat);
	picture = (struct heat_picture){
		.values = values,
		.row_count = heat->row_count,
		.column_count = heat->column_count,
		.low = NAN,
		.high = NAN,
		.has_colours = view->has_heat,
	};
	tensor_heat_range(heat, &picture.low, &picture.high);
	if (screen->has_head) {
		pane_tensor_heat_put_head(window, heat, &picture);
		body = window_part(window, 1, 0, window.row_count - 1, window.column_count);
	}
	if (body.row_count > 1) {
		struct window map =
			window_part(body, 1, 1, body.row_count - 1, body.column_count - 1);

		heat_put(map, &picture);
		pane_tensor_heat_put_cursor(body, screen, heat, &picture);
		note_hits(map, &picture);
	}
	free(values);
}
