#include "engine/configfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "banned.h"
#include "base/alloc.h"
#include "base/array.h"
#include "base/error.h"
#include "engine/settings.h"

#define FILE_MAXIMUM 65536

/* The options that a file may set: those that are a matter of taste. */
static const char *const config_names[] = {
	"theme", "timeout", "ascii", "read-only", "no-mouse",
};

/* NULL when there is no home to look in. free() it. */
static char *usual_path(void)
{
	const char *folder = getenv("XDG_CONFIG_HOME");
	const char *home = getenv("HOME");

	if (folder && folder[0] == '/')
		return xasprintf("%s/probetui/config", folder);
	if (home && home[0] == '/')
		return xasprintf("%s/.config/probetui/config", home);
	return NULL;
}

static int check_owner(int fd, const char *path, struct error *error)
{
	struct stat status;

	if (fstat(fd, &status) < 0)
		return error_set_errno(error, errno, "cannot look at %s", path);
	if (!S_ISREG(status.st_mode))
		return error_set(error, "the config %s is not a file", path);
	if (status.st_uid != geteuid() && status.st_uid != 0)
		return error_set(error,
				 "the config %s belongs to another "
				 "user; it was not read",
				 path);
	if (status.st_mode & (S_IWGRP | S_IWOTH))
		return error_set(error,
				 "the config %s can be written by "
				 "others; chmod go-w it",
				 path);
	return 0;
}

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

static int read_file(int fd, const char *path, char **text, struct error *error)
{
	size_t length = 0;

	*text = xmalloc(FILE_MAXIMUM + 1);
	for (;;) {
		ssize_t count = read(fd, *text + length, FILE_MAXIMUM - length);

		if (count < 0 && errno == EINTR)
			continue;
		if (count < 0)
			return error_set_errno(error, errno, "cannot read %s",
					       path);
		if (count == 0)
			break;
		length += (size_t)count;
		if (length == FILE_MAXIMUM)
			return error_set(error, "the config %s is too long",
					 path);
	}
	(*text)[length] = '\0';
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

int configfile_apply(struct settings *settings, struct error *error)
{
	char *path =
		settings->config ? xstrdup(settings->config) : usual_path();
	char *text = NULL;
	struct settings file;
	int result = 0;
	int fd;

	settings_init(&file);
	if (!path)
		goto out;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0) {
		if (settings->config)
			result = error_set_errno(error, errno,
						 "cannot open the config %s",
						 path);
		goto out;
	}
	result = check_owner(fd, path, error);
	if (result == 0)
		result = read_file(fd, path, &text, error);
	if (result == 0)
		result = apply_text(&file, text, path, error);
	close(fd);
out:
	merge(settings, &file);
	settings_clear(&file);
	free(text);
	free(path);
	return result;
}
