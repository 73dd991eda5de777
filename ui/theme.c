#include "ui/theme.h"

#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "base/alloc.h"
#include "base/array.h"
#include "base/buffer.h"
#include "base/error.h"
#include "base/file.h"
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
					 "%s: '%.40s': not a colour (0-255, red, bright-red, "
					 "default) or attribute (bold, dim, italic, underline, "
					 "reverse)",
					 where, word);
	}
	return 0;
}

/* The theme, and for each style the number of the line that defines the style; 0: no such line
 * yet. */
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
		return error_set(error, "%s: unknown style '%.40s'", where, name);
	if (parse->lines[style] != 0)
		return error_set(error, "%s: style '%s' is already set in line %d", where, name,
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

/*
 * Finding and loading themes by name. A theme is a file of this name in one of four
 * folders; the first folder that has the file wins.
 */

#define THEME_SIZE_MAXIMUM 65536
#define THEME_NAME_MAXIMUM 40
#define THEMES_MAXIMUM 256
#define FOLDER_COUNT 4

/* Returns the folder "themes" beside the program, to be freed; NULL if the program's folder is
 * unknown. */
static char *folder_beside_program(void)
{
	char *folder = file_program_folder();
	char *themes = NULL;

	if (folder != NULL)
		themes = xasprintf("%s/themes", folder);
	free(folder);
	return themes;
}

/* Fills the folders in the order of the search; a folder may be NULL. */
static void find_folders(char *folders[FOLDER_COUNT])
{
	folders[0] = file_config_path("themes");
	folders[1] = xstrdup_or_null(getenv("PROBETUI_THEMES"));
	folders[2] = folder_beside_program();
	folders[3] = xstrdup(PROBETUI_DATADIR "/themes");
}

static void free_folders(char *folders[FOLDER_COUNT])
{
	for (int i = 0; i < FOLDER_COUNT; i++)
		free(folders[i]);
}

/* Returns false for a path, a hidden file or a backup file of an editor. */
static bool theme_files_is_name(const char *name)
{
	size_t length = strlen(name);

	return length > 0 && length <= THEME_NAME_MAXIMUM && name[0] != '-' &&
	       strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_") ==
		       length;
}

/*
 * Loads a theme from a folder. Returns false without an error if the folder has no such file. The
 * user's own file (is_own) must belong to the user; installed files may belong to other users.
 */
static bool load_from(const char *folder, bool is_own, const char *name, struct theme *theme,
		      int *result, struct error *error)
{
	struct error problem = ERROR_INIT;
	struct buffer text;
	bool is_there = true;
	char *path;

	if (folder == NULL)
		return false;
	path = xasprintf("%s/%s", folder, name);
	buffer_init(&text, THEME_SIZE_MAXIMUM);
	*result = is_own ? file_read_own(path, "the theme", &text, &problem)
			 : file_read(path, "the theme", &text, &problem);
	if (*result == 0)
		*result = theme_parse(theme, text.data, path, error);
	else if (errno == ENOENT || errno == ENOTDIR)
		is_there = false;
	else
		error_set(error, "%s", problem.message);
	buffer_clear(&text);
	free(path);
	return is_there;
}

static int theme_files_not_found(const char *name, struct error *error)
{
	struct buffer list = BUFFER_INIT;
	size_t count;
	char **names = theme_names(&count);

	for (size_t i = 0; i < count; i++)
		buffer_printf(&list, "%s%s", i > 0 ? ", " : "", names[i]);
	if (count > 0)
		error_set(error, "unknown theme '%.80s' (themes: %s)", name, list.data);
	else
		error_set(error, "unknown theme '%.80s': no theme found in %s/themes", name,
			  PROBETUI_DATADIR);
	theme_names_free(names, count);
	buffer_clear(&list);
	return -1;
}

int theme_load(struct theme *theme, const char *name, struct error *error)
{
	char *folders[FOLDER_COUNT];
	bool is_found = false;
	int result = -1;

	if (!theme_files_is_name(name))
		return error_set(
			error,
			"'%.80s' is not a theme name: give the name of a file in the themes folder",
			name);
	find_folders(folders);
	for (int i = 0; i < FOLDER_COUNT && !is_found; i++)
		is_found = load_from(folders[i], i == 0, name, theme, &result, error);
	free_folders(folders);
	return is_found ? result : theme_files_not_found(name, error);
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

struct name_list {
	char **names;
	size_t count;
	size_t capacity;
};

static void theme_files_add_names(struct name_list *list, const char *folder)
{
	DIR *stream = folder != NULL ? opendir(folder) : NULL;
	struct dirent *entry;

	while (stream != NULL && list->count < THEMES_MAXIMUM &&
	       (entry = readdir(stream)) != NULL) {
		if (!theme_files_is_name(entry->d_name))
			continue;
		ARRAY_GROW(list->names, list->count, list->capacity);
		list->names[list->count++] = xstrdup(entry->d_name);
	}
	if (stream != NULL)
		closedir(stream);
}

char **theme_names(size_t *count)
{
	struct name_list list = { .names = NULL };
	char *folders[FOLDER_COUNT];
	size_t kept = 0;

	find_folders(folders);
	for (int i = 0; i < FOLDER_COUNT; i++)
		theme_files_add_names(&list, folders[i]);
	free_folders(folders);
	if (list.count > 0)
		qsort(list.names, list.count, sizeof(*list.names), compare_names);
	for (size_t i = 0; i < list.count; i++) {
		if (kept > 0 && strcmp(list.names[kept - 1], list.names[i]) == 0)
			free(list.names[i]);
		else
			list.names[kept++] = list.names[i];
	}
	*count = kept;
	return list.names;
}

void theme_names_free(char **names, size_t count)
{
	for (size_t i = 0; i < count; i++)
		free(names[i]);
	free(names);
}
