/*
 * theme: the look of each style. A theme file defines one style in each line:
 *
 * 	STYLE [COLOUR[/COLOUR]] [on COLOUR[/COLOUR]] [bold] [dim] [italic]
 * 	      [underline] [reverse]
 *
 * A colour is `default`, a number from 0 to 255, or one of the eight colour names, also with
 * `bright-` before it (`red`, `bright-red` …). The colour after the slash is for terminals of 16
 * colours; on terminals of 8 colours, a bright colour is drawn as the plain colour in bold. `#`
 * begins a comment. On terminals without colours, only attributes are used.
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
	int rich;  /* colour of 256; -1: the terminal's default */
	int plain; /* colour of 16; -1: the terminal's default */
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
/*
 * Parses the text of a theme file; file is the name for errors. Returns 0; -1 and *error: theme is
 * unchanged.
 */
int theme_parse(struct theme *theme, const char *text, const char *file, struct error *error);
/* How a cell is shown on a terminal; a colour of -1 is the terminal's default. */
struct shown_look {
	int foreground;
	int background;
	int attributes;
};

/*
 * Returns how text of the style is shown on a terminal with colour_count colours; 256 or more, 16
 * and 8 are distinguished, fewer means no colours.
 */
struct shown_look theme_show(const struct theme *theme, enum style style, int emphasis,
			     int colour_count);
/* Like theme_show(), for a cell, which may have two styles. */
struct shown_look theme_show_cell(const struct theme *theme, const struct cell *cell,
				  int colour_count);
/* True if each heat style has a colour on a terminal with colour_count colours. */
bool theme_has_heat(const struct theme *theme, int colour_count);

/*
 * Finds and reads a theme by name: in the user's folder (probetui/themes in $XDG_CONFIG_HOME or
 * ~/.config), else in $PROBETUI_THEMES, else beside the program (a build tree), else in the
 * installed folder. Returns 0; -1 and *error: the theme cannot be read.
 */
int theme_load(struct theme *theme, const char *name, struct error *error);
/*
 * Returns the sorted names of all themes in these folders, and sets *count; call
 * theme_names_free().
 */
char **theme_names(size_t *count);
void theme_names_free(char **names, size_t count);

#endif
