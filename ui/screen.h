/*
 * screen: the terminal, through curses. With input.c the only file that knows
 * curses.
 *
 * There is one screen at a time (curses has one). Whatever ends the program,
 * a fatal signal included, the terminal is as it was before screen_open().
 */
#ifndef UI_SCREEN_H
#define UI_SCREEN_H

#include <stdbool.h>
#include <stddef.h>

struct canvas;
struct error;
struct theme;

struct screen;

/* -1 and a sentence where screen_open() would refuse the terminal. */
int screen_check(struct error *error);
/* Takes the terminal over. NULL and a sentence when there is none. */
struct screen *screen_open(bool has_no_color, struct error *error);
/* Gives it back; NULL is fine. */
void screen_close(struct screen *screen);
/* The descriptor to watch for keys. */
int screen_fd(const struct screen *screen);
/* False where the locale's characters are not UTF-8. */
bool screen_is_utf8(const struct screen *screen);
/* False where NO_COLOR or the terminal's type allow none. */
bool screen_has_colour(const struct screen *screen);
/* Two colours of any of the styles of areas fit into a cell. */
bool screen_has_heat(const struct screen *screen);
void screen_size(const struct screen *screen, int *row_count, int *column_count);
/* Asks the terminal for its size after SIGWINCH. */
void screen_resize(struct screen *screen);
/*
 * Whether the terminal tells of buttons and wheel. Motion is never asked
 * for, so Shift and drag selects text as ever.
 */
void screen_set_mouse(struct screen *screen, bool is_on);
void screen_set_theme(struct screen *screen, const struct theme *theme);
/*
 * Shows the canvas; rows that did not change cost nothing. False when none
 * changed.
 */
bool screen_draw(struct screen *screen, const struct canvas *canvas);
/* Forgets what is on the terminal: the next draw sends all. */
void screen_redraw(struct screen *screen);
/* Writes bytes that are no picture, such as what fills a clipboard. */
void screen_write(struct screen *screen, const char *bytes, size_t length);
/*
 * Gives the terminal back for a while, and takes it again: it may have
 * another size then. Nothing is drawn or read between the two.
 */
void screen_leave(struct screen *screen);
void screen_return(struct screen *screen);
/* Leaves, stops the program, and returns after SIGCONT. */
void screen_suspend(struct screen *screen);

#endif
