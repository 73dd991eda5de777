/*
 * theme: how each style looks. A theme file has one style a line:
 *
 *	STYLE [COLOUR[/COLOUR]] [on COLOUR[/COLOUR]] [bold] [dim] [italic]
 *	      [underline] [reverse]
 *
 * A colour is `default`, a number from 0 to 255 or one of the eight names
 * (`red`, `bright-red` …). The one behind the slash is for terminals of 16
 * colours; where there are 8, a bright one is the plain one in bold. `#`
 * begins a comment. Attributes alone remain where there is no colour.
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
	int rich;  /* of 256; -1 the terminal's default */
	int plain; /* of 16 */
};

struct look {
	struct colour foreground;
	struct colour background;
	int attributes;
};

struct theme {
	struct look looks[STYLE_COUNT];
};

/* Everything in the terminal's own colours. */
void theme_init(struct theme *theme);
/* Reads a theme file's text; file is its name, for sentences. */
int theme_parse(struct theme *theme, const char *text, const char *file, struct error *error);
/* What a terminal is told for a cell; colours: -1 its default. */
struct shown_look {
	int foreground;
	int background;
	int attributes;
};

/* On a terminal of so many colours: 256 or more, 16, 8; less is none. */
struct shown_look theme_show(const struct theme *theme, enum style style, int emphasis,
			     int colour_count);
/* The same of a cell, which may have two styles. */
struct shown_look theme_show_cell(const struct theme *theme, const struct cell *cell,
				  int colour_count);
/* Each of the styles of areas has a colour there. */
bool theme_has_heat(const struct theme *theme, int colour_count);

/*
 * Finds and reads a theme by name: among the user's own
 * (probetui/themes in $XDG_CONFIG_HOME or ~/.config), in $PROBETUI_THEMES,
 * beside the program (a build tree) and where it was installed.
 */
int theme_load(struct theme *theme, const char *name, struct error *error);
/* The names of all themes in these folders, in order; *count of them. */
char **theme_names(size_t *count);
void theme_names_free(char **names, size_t count);

#endif
