/* What a debugger writes, onto the terminal of the console. */
#include "banned.h"

#include "tests/fuzz/fuzz.h"
#include "ui/terminal.h"

static void draw(const struct terminal *terminal, struct canvas *canvas, int back)
{
	int row;
	int column;

	canvas_reset(canvas, canvas->row_count, canvas->column_count);
	terminal_draw(canvas_window(canvas), terminal, back);
	terminal_cursor(terminal, &row, &column);
}

/* The first byte chooses a size, odd ones among them. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int rows = size > 0 ? 1 + data[0] % 16 * 3 : 1;
	int columns = size > 0 ? 1 + data[0] / 16 * 12 : 1;
	struct terminal *terminal = terminal_new(rows, columns);
	struct canvas canvas;
	size_t half = size / 2;

	canvas_init(&canvas, rows, columns);
	if (size > 1) {
		terminal_write(terminal, (const char *)data + 1, half);
		draw(terminal, &canvas, 0);
		terminal_write(terminal, (const char *)data + 1 + half, size - 1 - half);
	}
	draw(terminal, &canvas, 0);
	draw(terminal, &canvas, terminal_history(terminal));
	canvas_clear(&canvas);
	terminal_free(terminal);
	return 0;
}
