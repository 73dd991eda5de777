/*
 * theme: how each style looks. A theme file has one style a line:
 *
 *	STYLE [COLOUR[/COLOUR]] [on COLOUR[/COLOUR]] [bold] [dim] [italic]
 *	      [underline] [reverse]
 *
 * A colour is `default`, a number from 0 to 255 or one of the eight names
 * (`red`, `bright-red` …). The one behind the slash is for terminals of 16
 * colours. `#` begins a comment. Attributes alone remain where there is no
 * colour.
 */
#ifndef UI_THEME_H
#define UI_THEME_H

#include "ui/style.h"

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
int theme_parse(struct theme *theme, const char *text, const char *file,
		struct error *error);
/*
 * Finds and reads a theme by name: in $PROBETUI_THEMES, beside the program
 * (a build tree) or where it was installed.
 */
int theme_load(struct theme *theme, const char *name, struct error *error);

#endif
