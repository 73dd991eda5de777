/*
 * theme: the look of each style. A theme file defines one style in each line:
 *
 *	STYLE [COLOUR[/COLOUR]] [on COLOUR[/COLOUR]] [bold] [dim] [italic]
 *	      [underline] [reverse]
 *
 * A colour is `default`, a number from 0 to 255 or one of the eight names (`red`, `bright-red` …).
 * The colour behind the slash is for terminals of 16 colours; with 8 colours, a bright colour is
 * drawn as the plain colour in bold. `#` begins a comment. Without colours, only attributes remain.
 */
#ifndef UI_THEME_H
#define UI_THEME_H

#include <stdbool.h>
#include <stddef.h>

#include "ui/style.h"

struct cell;
struct error;

enum attribute {
	ATTRIBUTE_BOLD = 1,
	ATTRIBUTE_DIM = 2,
	ATTRIBUTE_ITALIC = 4,
	ATTRIBUTE_UNDERLINE = 8,
	ATTRIBUTE_REVERSE = 16,
};

struct colour {
	int rich;  /* one of 256; -1: the terminal's default */
	int plain; /* one of 16; -1: the terminal's default */
};

struct look {
	struct colour foreground;
	struct colour background;
	int attributes;
};

struct theme {
	struct look looks[STYLE_COUNT];
};

/* Sets all styles to the terminal's default colours. */
void theme_init(struct theme *theme);
/* Parses the text of a theme file; file: name for errors. -1 and an error: theme is unchanged. */
int theme_parse(struct theme *theme, const char *text, const char *file, struct error *error);
/* The look of a cell on a terminal; colour -1: the terminal's default. */
struct shown_look {
	int foreground;
	int background;
	int attributes;
};

/* Returns the look on a terminal of so many colours: 256 or more, 16, 8; fewer: no colours. */
struct shown_look theme_show(const struct theme *theme, enum style style, int emphasis,
			     int colour_count);
/* The same for a cell, which may have two styles. */
struct shown_look theme_show_cell(const struct theme *theme, const struct cell *cell,
				  int colour_count);
/* True: each heat style has a colour on such a terminal. */
bool theme_has_heat(const struct theme *theme, int colour_count);

/*
 * Finds and reads a theme by name: in the user's folder (probetui/themes in $XDG_CONFIG_HOME or
 * ~/.config), in $PROBETUI_THEMES, beside the program (a build tree), where it was installed. -1
 * and an error: the theme cannot be read.
 */
int theme_load(struct theme *theme, const char *name, struct error *error);
/* Returns the sorted names of all themes in these folders, and *count; theme_names_free() them. */
char **theme_names(size_t *count);
void theme_names_free(char **names, size_t count);

#endif
