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

/* Lines kept after they have left the screen at its top; older lines are dropped. */
#define TERMINAL_HISTORY 2000

struct terminal;

/* Makes a terminal; a size that is too small or too large is corrected. */
struct terminal *terminal_new(int row_count, int column_count);
void terminal_free(struct terminal *terminal);
/*
 * Sets the receiver of bytes that the terminal sends by itself: replies to queries ("where is your
 * cursor?"). NULL: the bytes are dropped.
 */
void terminal_set_answer(struct terminal *terminal,
			 void (*answer)(const char *bytes, size_t length, void *data), void *data);
/*
 * Sends the bytes of a key, by its name (input.h), to the receiver of replies. Sends nothing for a
 * key that programs do not know.
 */
void terminal_type(struct terminal *terminal, const char *key);
void terminal_write(struct terminal *terminal, const char *bytes, size_t length);
/* True: terminal_new() would make a terminal of another size from these numbers. */
bool terminal_has_other_size(const struct terminal *terminal, int row_count, int column_count);
/* Returns the count of lines that are kept above the screen. */
int terminal_history(const struct terminal *terminal);
/* Draws the terminal scrolled back by `back` lines; 0: the screen. */
void terminal_draw(struct window window, const struct terminal *terminal, int back);
/* Writes the cursor's place on the screen; row -1: the cursor is hidden. */
void terminal_cursor(const struct terminal *terminal, int *row, int *column);

#endif
