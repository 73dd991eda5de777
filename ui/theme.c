#include "ui/theme.h"

#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "base/alloc.h"
#include "base/array.h"
#include "base/error.h"
#include "ui/canvas.h"

#define BRIGHT 8

static const char *const colour_names[] = {
	"black",	"red",		 "green",	"yellow",	  "blue",
	"magenta",	"cyan",		 "white",	"bright-black",	  "bright-red",
	"bright-green", "bright-yellow", "bright-blue", "bright-magenta", "bright-cyan",
	"bright-white",
};

struct attribute_name {
	const char *name;
	enum attribute attribute;
};

static const struct attribute_name attribute_names[] = {
	{ "bold", ATTRIBUTE_BOLD },	  { "dim", ATTRIBUTE_DIM },
	{ "italic", ATTRIBUTE_ITALIC },	  { "underline", ATTRIBUTE_UNDERLINE },
	{ "reverse", ATTRIBUTE_REVERSE },
};

void theme_init(struct theme *theme)
{
	for (int i = 0; i < STYLE_COUNT; i++)
		theme->looks[i] = (struct look){
			.foreground = { -1, -1 },
			.background = { -1, -1 },
		};
}

static bool parse_one_colour(const char *word, int *colour)
{
	char *end;
	long number;

	if (strcmp(word, "default") == 0) {
		*colour = -1;
		return true;
	}
	for (size_t i = 0; i < ARRAY_LENGTH(colour_names); i++) {
		if (strcmp(word, colour_names[i]) == 0) {
			*colour = (int)i;
			return true;
		}
	}
	if (word[0] < '0' || word[0] > '9')
		return false;
	number = strtol(word, &end, 10);
	if (*end != '\0' || number > 255)
		return false;
	*colour = (int)number;
	return true;
}

static bool parse_colour(char *word, struct colour *colour)
{
	char *slash = strchr(word, '/');

	if (slash == NULL) {
		if (!parse_one_colour(word, &colour->rich))
			return false;
		/* Without a second colour, the first colour is used if it is one of the 16. */
		colour->plain = colour->rich < 16 ? colour->rich : -1;
		return true;
	}
	*slash = '\0';
	return parse_one_colour(word, &colour->rich) &&
	       parse_one_colour(slash + 1, &colour->plain) && colour->plain < 16;
}

static int theme_find_attribute(const char *word)
{
	for (size_t i = 0; i < ARRAY_LENGTH(attribute_names); i++)
		if (strcmp(word, attribute_names[i].name) == 0)
			return (int)attribute_names[i].attribute;
	return 0;
}

static int parse_look(struct look *look, char *words, const char *where, struct error *error)
{
	struct colour *colour = &look->foreground;
	char *state = NULL;

	for (char *word = strtok_r(words, " \t", &state); word != NULL;
	     word = strtok_r(NULL, " \t", &state)) {
		int attribute = theme_find_attribute(word);

		if (attribute != 0)
			look->attributes |= attribute;
		else if (strcmp(word, "on") == 0)
			colour = &look->background;
		else if (!parse_colour(word, colour))
			return error_set(error,
					 "%s: '%.40s' is neither a colour (0-255, red, bright-red, "
					 "default) nor bold, dim, italic, underline or reverse.",
					 where, word);
	}
	return 0;
}

/* The theme, and for each style the line that defines the style; 0: no line yet. */
struct parse {
	struct theme theme;
	int lines[STYLE_COUNT];
};

static int theme_parse_line(struct parse *parse, char *line, int number, const char *where,
			    struct error *error)
{
	char *comment = strchr(line, '#');
	char *name;
	enum style style;
	struct look look = {
		.foreground = { -1, -1 },
		.background = { -1, -1 },
	};

	if (comment != NULL)
		*comment = '\0';
	line += strspn(line, " \t\r");
	line[strcspn(line, "\r")] = '\0';
	if (*line == '\0')
		return 0;
	name = line;
	line += strcspn(line, " \t");
	if (*line != '\0')
		*line++ = '\0';
	if (!style_parse(name, &style))
		return error_set(error, "%s: there is no style '%.40s'.", where, name);
	if (parse->lines[style] != 0)
		return error_set(error, "%s: the style '%s' is in line %d already.", where, name,
				 parse->lines[style]);
	if (parse_look(&look, line, where, error) < 0)
		return -1;
	parse->theme.looks[style] = look;
	parse->lines[style] = number;
	return 0;
}

int theme_parse(struct theme *theme, const char *text, const char *file, struct error *error)
{
	struct parse parse = { .lines = { 0 } };
	int number = 0;
	int result = 0;

	theme_init(&parse.theme);
	while (*text != '\0' && result == 0) {
		size_t length = strcspn(text, "\n");
		char *line = xstrndup(text, length);
		char *where = xasprintf("%s, line %d", file, ++number);

		result = theme_parse_line(&parse, line, number, where, error);
		free(where);
		free(line);
		text += length + (text[length] == '\n');
	}
	if (result == 0)
		*theme = parse.theme;
	return result;
}

/*
 * Returns one of eight colours. Bold makes a colour bright on most terminals; bright black becomes
 * the default colour, dim, since bold black may be invisible.
 */
static int colour_of_eight(int colour, int *attributes)
{
	if (colour < BRIGHT)
		return colour;
	if (colour == BRIGHT) {
		*attributes |= ATTRIBUTE_DIM;
		return -1;
	}
	*attributes |= ATTRIBUTE_BOLD;
	return colour - BRIGHT;
}

static const struct {
	enum emphasis emphasis;
	enum attribute attribute;
} emphases[] = {
	{ EMPHASIS_BOLD, ATTRIBUTE_BOLD },
	{ EMPHASIS_REVERSE, ATTRIBUTE_REVERSE },
	{ EMPHASIS_UNDERLINE, ATTRIBUTE_UNDERLINE },
	{ EMPHASIS_ITALIC, ATTRIBUTE_ITALIC },
};

struct shown_look theme_show(const struct theme *theme, enum style style, int emphasis,
			     int colour_count)
{
	const struct look *look = &theme->looks[style];
	struct shown_look shown = { -1, -1, look->attributes };
	int ignored = 0;

	if (colour_count >= 256) {
		shown.foreground = look->foreground.rich;
		shown.background = look->background.rich;
	} else if (colour_count >= 16) {
		shown.foreground = look->foreground.plain;
		shown.background = look->background.plain;
	} else if (colour_count >= 8) {
		shown.foreground = colour_of_eight(look->foreground.plain, &shown.attributes);
		shown.background = colour_of_eight(look->background.plain, &ignored);
	}
	for (size_t i = 0; i < ARRAY_LENGTH(emphases); i++)
		if (emphasis & (int)emphases[i].emphasis)
			shown.attributes |= (int)emphases[i].attribute;
	if (emphasis & EMPHASIS_SELECTED)
		shown.attributes |= theme->looks[STYLE_SELECTED].attributes;
	return shown;
}

struct shown_look theme_show_cell(const struct theme *theme, const struct cell *cell,
				  int colour_count)
{
	struct shown_look shown =
		theme_show(theme, (enum style)cell->style, cell->emphasis, colour_count);

	if (cell->lower != 0)
		shown.background =
			theme_show(theme, (enum style)cell->lower, 0, colour_count).foreground;
	return shown;
}

bool theme_has_heat(const struct theme *theme, int colour_count)
{
	for (int i = 0; i < STYLE_HEAT_COUNT; i++) {
		enum style style = (enum style)(STYLE_HEAT_1 + i);

		if (theme_show(theme, style, 0, colour_count).foreground < 0)
			return false;
	}
	return true;
}
