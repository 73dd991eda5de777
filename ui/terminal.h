/*
 * terminal: a terminal for what a debugger writes: bytes in, cells out. Over
 * libvterm (0.1 to 0.3), whose header no other file of the program includes.
 *
 * The bytes are anybody's: sequence.h says which of them count. It has one
 * size: who wants another one makes a new terminal and writes to it again.
 */
#ifndef UI_TERMINAL_H
#define UI_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>

#include "ui/window.h"

/* Lines that have left it at the top; older ones are forgotten. */
#define TERMINAL_HISTORY 2000

struct terminal;

/* A size too small to be one is made larger. */
struct terminal *terminal_new(int row_count, int column_count);
void terminal_free(struct terminal *terminal);
/*
 * The receiver of what the terminal sends by itself: answers to queries ("where
 * is your cursor?"); NULL: none, and the bytes are lost.
 */
void terminal_set_answer(struct terminal *terminal,
			 void (*answer)(const char *bytes, size_t length, void *data), void *data);
/*
 * What a key, by its name (input.h), sends to a program there is said as an
 * answer is. Nothing for a key that no program knows.
 */
void terminal_type(struct terminal *terminal, const char *key);
void terminal_write(struct terminal *terminal, const char *bytes, size_t length);
/* It is not the one that terminal_new would make of these. */
bool terminal_has_other_size(const struct terminal *terminal, int row_count, int column_count);
/* How many lines of the past there are above the screen. */
int terminal_history(const struct terminal *terminal);
/* Draws it as it was scrolled back so many lines; 0: the screen. */
void terminal_draw(struct window window, const struct terminal *terminal, int back);
/* Of the screen; row -1: it is hidden. */
void terminal_cursor(const struct terminal *terminal, int *row, int *column);

#endif
