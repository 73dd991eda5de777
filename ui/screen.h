/*
 * screen: the terminal, through curses. Only screen.c and input.c use curses.
 *
 * There is only one screen at a time, because curses has only one. When the program ends, even by a
 * fatal signal, the terminal is restored to its state before screen_open().
 */
#ifndef UI_SCREEN_H
#define UI_SCREEN_H

#include <stdbool.h>
#include <stddef.h>

struct canvas;
struct error;
struct theme;

struct screen;

/* Returns 0 if screen_open() can use the terminal; -1 and *error otherwise. */
int screen_check(struct error *error);
/* Takes over the terminal. NULL and *error: there is no usable terminal. */
struct screen *screen_open(bool has_no_color, struct error *error);
/* Restores the terminal and frees the screen; NULL is fine. */
void screen_close(struct screen *screen);
/* Returns the descriptor to watch for keys. */
int screen_fd(const struct screen *screen);
/* True if the locale's encoding is UTF-8. */
bool screen_is_utf8(const struct screen *screen);
/* True if colours are used: the terminal's type has colours, and has_no_color was false. */
bool screen_has_colour(const struct screen *screen);
/* True if the terminal can show any two heat colours in a cell. */
bool screen_has_heat(const struct screen *screen);
void screen_size(const struct screen *screen, int *row_count, int *column_count);
/* Asks the terminal for its size after SIGWINCH. */
void screen_resize(struct screen *screen);
/*
 * Turns mouse reports of buttons and wheel on or off. Motion is never reported, so that Shift and
 * drag still selects text.
 */
void screen_set_mouse(struct screen *screen, bool is_on);
void screen_set_theme(struct screen *screen, const struct theme *theme);
/* Shows the canvas; sends only changed rows. Returns false if no row has changed. */
bool screen_draw(struct screen *screen, const struct canvas *canvas);
/* Forgets the terminal's contents, so that the next draw sends all rows. */
void screen_redraw(struct screen *screen);
/*
 * Writes bytes to the terminal that are not part of the canvas, such as the sequence for the
 * clipboard.
 */
void screen_write(struct screen *screen, const char *bytes, size_t length);
/*
 * Give the terminal to another program, and take it back (its size may have changed), respectively.
 * Draw and read nothing in between.
 */
void screen_leave(struct screen *screen);
void screen_return(struct screen *screen);
/* Gives the terminal back, stops the process, and takes the terminal again after SIGCONT. */
void screen_suspend(struct screen *screen);

#endif
