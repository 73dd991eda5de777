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
#include "engine/arguments.h"
#include "engine/setting.h"
#include "engine/settings.h"

#define FILE_MAXIMUM 65536

/* A setting or key that an earlier line named, to find contradicting lines. */
struct seen {
	char *name;  /* "set theme", "bind M" */
	char *value; /* "light", "merged" */
	int number;
};

struct config {
	struct settings *settings;
	struct seen *seen;
	size_t seen_count;
	size_t seen_capacity;
	int number; /* number of the line being read, from 1 */
};

/* Remembers a line. A line that repeats another is fine; -1: it contradicts another. */
static int configfile_note(struct config *config, char *owned_name, char *owned_value,
			   struct error *error)
{
	for (size_t i = 0; i < config->seen_count; i++) {
		const struct seen *seen = &config->seen[i];

		if (strcmp(seen->name, owned_name) != 0)
			continue;
		if (strcmp(seen->value, owned_value) != 0)
			error_set(error,
				  "'%.60s' is '%.80s' here and '%.80s' in line %d; remove one of "
				  "the two",
				  owned_name, owned_value, seen->value, seen->number);
		free(owned_name);
		free(owned_value);
		return error_is_set(error) ? -1 : 0;
	}
	ARRAY_GROW(config->seen, config->seen_count, config->seen_capacity);
	config->seen[config->seen_count++] = (struct seen){
		owned_name,
		owned_value,
		config->number,
	};
	return 0;
}

static int apply_set(struct config *config, const char *name, const char *value,
		     struct error *error)
{
	const struct setting *setting = setting_find(name, error);

	if (!setting)
		return -1;
	if (setting->set(config->settings, value, error) < 0)
		return error_prefix(error, "%s", name);
	if (strcmp(name, "theme") == 0)
		config->settings->theme_line = config->number;
	return configfile_note(config, xasprintf("set %s", name), xstrdup(value), error);
}

static int apply_bind(struct config *config, const struct arguments *arguments, struct error *error)
{
	struct settings *settings = config->settings;

	if (arguments->count < 2)
		return error_set(error, "bind needs a key and a command: bind KEY COMMAND");
	ARRAY_GROW(settings->binds, settings->bind_count, settings->bind_capacity);
	settings->binds[settings->bind_count++] = (struct config_line){
		xstrdup(arguments->line),
		config->number,
	};
	return configfile_note(config, xasprintf("bind %s", arguments->words[0]),
			       arguments_join(arguments, 1, arguments->count), error);
}

/* "set NAME VALUE", or "NAME VALUE" alone. */
static int apply_words(struct config *config, const struct arguments *arguments,
		       struct error *error)
{
	bool is_set = strcmp(arguments->name, "set") == 0;
	const char *name = is_set ? arguments_word(arguments, 0) : arguments->name;
	size_t at = is_set ? 1 : 0;

	if (strcmp(arguments->name, "bind") == 0)
		return apply_bind(config, arguments, error);
	if (arguments->count < at)
		return error_set(error, "set needs a name and a value: set NAME VALUE");
	if (!is_set && !setting_find(name, NULL))
		return error_set(
			error, "'%.40s' is none of set NAME VALUE, theme NAME and bind KEY COMMAND",
			name);
	if (arguments->count > at + 1)
		return error_set(error, "'%.40s' is one word too many", arguments->words[at + 1]);
	if (is_set && arguments->count == at)
		return error_set(error, "set %.40s needs a value: set %.40s VALUE", name, name);
	/* A setting without a value is switched on. */
	return apply_set(config, name, arguments->count > at ? arguments->words[at] : "on", error);
}

static int configfile_apply_line(struct config *config, const char *line, struct error *error)
{
	struct arguments arguments;
	int result = arguments_split(&arguments, line, error);

	if (result == 0 && arguments.name)
		result = apply_words(config, &arguments, error);
	arguments_clear(&arguments);
	return result;
}

static void config_clear(struct config *config)
{
	for (size_t i = 0; i < config->seen_count; i++) {
		free(config->seen[i].name);
		free(config->seen[i].value);
	}
	free(config->seen);
}

static int apply_text(struct settings *settings, char *text, const char *path, struct error *error)
{
	struct config config = { .settings = settings };
	struct error problem = ERROR_INIT;
	int result = 0;

	while (text && result == 0) {
		char *end = strchr(text, '\n');

		config.number++;
		if (end)
			*end++ = '\0';
		result = configfile_apply_line(&config, text, &problem);
		text = end;
	}
	if (result < 0)
		error_set(error, "%s: line %d: %s", path, config.number, problem.message);
	config_clear(&config);
	return result;
}

int configfile_apply(struct settings *settings, struct error *error)
{
	char *path = settings->config ? xstrdup(settings->config) : file_config_path("config");
	struct error problem = ERROR_INIT;
	struct buffer text;
	int result = 0;

	if (!path)
		return 0;
	buffer_init(&text, FILE_MAXIMUM);
	/* The usual file may be missing, and so may a readable home directory. */
	if (file_read_own(path, "the config", &text, &problem) == 0)
		result = apply_text(settings, text.data, path, error);
	else if (settings->config || errno == 0)
		result = error_set(error, "%s", problem.message);
	buffer_clear(&text);
	free(settings->config);
	settings->config = path;
	return result;
}
