/*
 * terminal: a terminal emulator for the output of debuggers: bytes in, cells out. Uses libvterm
 * (0.1 to 0.3), whose header no other file of the program includes.
 *
 * The bytes are untrusted; sequence.h filters them. The size is fixed: for another size, make a new
 * terminal and write the bytes again.
 */
#ifndef UI_TERMINAL_H
#define UI_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>

#include "ui/window.h"

/* Maximum number of lines that are kept after they were scrolled off the screen's top. */
#define TERMINAL_HISTORY 2000

struct terminal;

/* Makes a terminal; a size that is too small or too large is limited. */
struct terminal *terminal_new(int row_count, int column_count);
void terminal_free(struct terminal *terminal);
/*
 * Sets the function that receives the bytes that the terminal sends: replies to queries ("where is
 * your cursor?") and keys (terminal_type()). answer NULL: the bytes are dropped.
 */
void terminal_set_answer(struct terminal *terminal,
			 void (*answer)(const char *bytes, size_t length, void *data), void *data);
/*
 * Passes the bytes of a key, given by its name (input.h), to the function of terminal_set_answer().
 * Passes nothing for a key that has no bytes in a terminal.
 */
void terminal_type(struct terminal *terminal, const char *key);
void terminal_write(struct terminal *terminal, const char *bytes, size_t length);
/* True if terminal_new(row_count, column_count) would make a terminal of another size. */
bool terminal_has_other_size(const struct terminal *terminal, int row_count, int column_count);
/* Returns the number of lines that are kept above the screen. */
int terminal_history(const struct terminal *terminal);
/* Draws the terminal, scrolled back by `back` lines; back 0: not scrolled. */
void terminal_draw(struct window window, const struct terminal *terminal, int back);
/* Sets *row and *column to the cursor's place on the screen; *row -1: the cursor is hidden. */
void terminal_cursor(const struct terminal *terminal, int *row, int *column);

#endif
