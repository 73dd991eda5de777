#include "engine/configfile.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "base/alloc.h"
#include "base/array.h"
#include "base/buffer.h"
#include "base/error.h"
#include "base/file.h"
#include "engine/settings.h"

#define FILE_MAXIMUM 65536

/* The options that a file may set: those that are a matter of taste. */
static const char *const config_names[] = {
	"theme", "timeout", "ascii", "read-only", "no-mouse",
};

static int apply_word(struct settings *settings, const char *name,
		      const char *value, struct error *error)
{
	for (size_t i = 0; i < setting_option_count; i++) {
		const struct setting_option *option = &setting_options[i];

		if (strcmp(option->name, name) != 0)
			continue;
		if (option->argument && value[0] == '\0')
			return error_set(error, "%s needs %s", name,
					 option->argument);
		return option->set(settings, option->argument ? value : NULL,
				   error);
	}
	return error_set(error, "'%.40s' cannot be set", name);
}

static int apply_line(struct settings *settings, char *line,
		      struct error *error)
{
	char *name = line + strspn(line, " \t\r");
	char *value = name + strcspn(name, " \t\r");
	char *end;

	if (name[0] == '\0' || name[0] == '#')
		return 0;
	if (*value != '\0')
		*value++ = '\0';
	value += strspn(value, " \t\r");
	end = value + strlen(value);
	while (end > value && strchr(" \t\r", end[-1]))
		*--end = '\0';
	for (size_t i = 0; i < ARRAY_LENGTH(config_names); i++) {
		if (strcmp(name, config_names[i]) == 0)
			return apply_word(settings, name, value, error);
	}
	return error_set(error,
			 "'%.40s' cannot be set in a config; theme, "
			 "timeout, ascii, read-only and no-mouse can",
			 name);
}

static int apply_text(struct settings *settings, char *text, const char *path,
		      struct error *error)
{
	int number = 0;

	while (text) {
		char *end = strchr(text, '\n');

		number++;
		if (end)
			*end++ = '\0';
		if (apply_line(settings, text, error) < 0)
			return error_prefix(error, "%s: line %d", path, number);
		text = end;
	}
	return 0;
}

/* What the command line said goes before what the file says. */
static void merge(struct settings *settings, struct settings *file)
{
	if (!settings->theme) {
		settings->theme = file->theme;
		file->theme = NULL;
	}
	if (settings->timeout <= 0)
		settings->timeout = file->timeout;
	settings->is_ascii |= file->is_ascii;
	settings->is_read_only |= file->is_read_only;
	settings->has_no_mouse |= file->has_no_mouse;
}

static int read_config(const struct settings *settings, const char *path,
		       struct settings *file, struct error *error)
{
	struct error problem = ERROR_INIT;
	struct buffer text;
	int result = 0;

	buffer_init(&text, FILE_MAXIMUM);
	/* The usual one need not be there, nor a home that can be read. */
	if (file_read_own(path, "the config", &text, &problem) == 0)
		result = apply_text(file, text.data, path, error);
	else if (settings->config || errno == 0)
		result = error_set(error, "%s", problem.message);
	buffer_clear(&text);
	return result;
}

int configfile_apply(struct settings *settings, struct error *error)
{
	char *path = settings->config ? xstrdup(settings->config)
				      : file_config_path("config");
	struct settings file;
	int result = 0;

	settings_init(&file);
	if (path)
		result = read_config(settings, path, &file, error);
	merge(settings, &file);
	settings_clear(&file);
	free(path);
	return result;
}
