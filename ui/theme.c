#include "ui/theme.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "banned.h"
#include "base/alloc.h"
#include "base/array.h"
#include "base/buffer.h"
#include "base/error.h"
#include "base/file.h"

#define THEME_SIZE_MAXIMUM 65536

static const char *const colour_names[] = {
	"black",	"red",
	"green",	"yellow",
	"blue",		"magenta",
	"cyan",		"white",
	"bright-black", "bright-red",
	"bright-green", "bright-yellow",
	"bright-blue",	"bright-magenta",
	"bright-cyan",	"bright-white",
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
		/* Without a second colour the first must do, if it can. */
		colour->plain = colour->rich < 16 ? colour->rich : -1;
		return true;
	}
	*slash = '\0';
	return parse_one_colour(word, &colour->rich) &&
	       parse_one_colour(slash + 1, &colour->plain) &&
	       colour->plain < 16;
}

static int find_attribute(const char *word)
{
	for (size_t i = 0; i < ARRAY_LENGTH(attribute_names); i++)
		if (strcmp(word, attribute_names[i].name) == 0)
			return (int)attribute_names[i].attribute;
	return 0;
}

static int parse_look(struct look *look, char *words, const char *where,
		      struct error *error)
{
	struct colour *colour = &look->foreground;
	char *state = NULL;

	for (char *word = strtok_r(words, " \t", &state); word != NULL;
	     word = strtok_r(NULL, " \t", &state)) {
		int attribute = find_attribute(word);

		if (attribute != 0)
			look->attributes |= attribute;
		else if (strcmp(word, "on") == 0)
			colour = &look->background;
		else if (!parse_colour(word, colour))
			return error_set(
				error,
				"%s: '%.40s' is neither a colour "
				"(0-255, red, bright-red, default) nor "
				"bold, dim, italic, underline or "
				"reverse.",
				where, word);
	}
	return 0;
}

static int parse_line(struct theme *theme, char *line, const char *where,
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
		return error_set(error, "%s: there is no style '%.40s'.", where,
				 name);
	if (parse_look(&look, line, where, error) < 0)
		return -1;
	theme->looks[style] = look;
	return 0;
}

int theme_parse(struct theme *theme, const char *text, const char *file,
		struct error *error)
{
	struct theme parsed;
	int number = 0;
	int result = 0;

	theme_init(&parsed);
	while (*text != '\0' && result == 0) {
		size_t length = strcspn(text, "\n");
		char *line = xstrndup(text, length);
		char *where = xasprintf("%s, line %d", file, ++number);

		result = parse_line(&parsed, line, where, error);
		free(where);
		free(line);
		text += length + (text[length] == '\n');
	}
	if (result == 0)
		*theme = parsed;
	return result;
}

static int read_file(const char *path, struct buffer *out)
{
	FILE *file = fopen(path, "re");
	char bytes[4096];
	size_t length;

	if (file == NULL)
		return -1;
	while ((length = fread(bytes, 1, sizeof(bytes), file)) > 0)
		if (buffer_append(out, bytes, length) < 0)
			break;
	fclose(file);
	return 0;
}

/* The folder of the program plus /themes; NULL when it cannot be known. */
static char *folder_beside_program(void)
{
	char *folder = file_program_folder();
	char *themes = NULL;

	if (folder != NULL)
		themes = xasprintf("%s/themes", folder);
	free(folder);
	return themes;
}

static int load_from(const char *folder, const char *name, struct theme *theme,
		     bool *is_found, struct error *error)
{
	struct buffer text;
	char *path;
	int result = 0;

	if (folder == NULL)
		return 0;
	path = xasprintf("%s/%s", folder, name);
	buffer_init(&text, THEME_SIZE_MAXIMUM);
	if (read_file(path, &text) == 0) {
		*is_found = true;
		result = theme_parse(theme, text.data, path, error);
	}
	buffer_clear(&text);
	free(path);
	return result;
}

int theme_load(struct theme *theme, const char *name, struct error *error)
{
	bool is_found = false;
	char *beside;
	int result;

	if (*name == '\0' || *name == '.' || strchr(name, '/') != NULL)
		return error_set(error,
				 "'%.80s' is no theme name: give the name of "
				 "a file in the themes folder.",
				 name);
	beside = folder_beside_program();
	result = load_from(getenv("PROBETUI_THEMES"), name, theme, &is_found,
			   error);
	if (!is_found)
		result = load_from(beside, name, theme, &is_found, error);
	if (!is_found)
		result = load_from(PROBETUI_DATADIR "/themes", name, theme,
				   &is_found, error);
	free(beside);
	if (!is_found)
		return error_set(error,
				 "there is no theme '%.80s' (looked in "
				 "%s/themes); try default or mono.",
				 name, PROBETUI_DATADIR);
	return result;
}
