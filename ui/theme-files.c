/*
 * theme-files: finding and loading themes by name. A theme is a file of this name in one of four
 * folders; the first folder that has the file wins.
 */
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
#include "ui/theme.h"

#define THEME_SIZE_MAXIMUM 65536
#define THEME_NAME_MAXIMUM 40
#define THEMES_MAXIMUM 256
#define FOLDER_COUNT 4

/* Returns the folder "themes" beside the program, to be freed; NULL: the program's folder is
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

/* False: a path, a hidden file, a backup file of an editor. */
static bool theme_files_is_name(const char *name)
{
	size_t length = strlen(name);

	return length > 0 && length <= THEME_NAME_MAXIMUM && name[0] != '-' &&
	       strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_") ==
		       length;
}

/*
 * Loads a theme from a folder; false without an error: the folder has no such file. The user's own
 * file (is_own) must belong to the user; installed files may belong to others.
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
		error_set(error, "%s.", problem.message);
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
		error_set(error, "there is no theme '%.80s'; there are %s.", name, list.data);
	else
		error_set(error, "there is no theme '%.80s', nor any other in %s/themes.", name,
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
			"'%.80s' is no theme name: give the name of a file in the themes folder.",
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
