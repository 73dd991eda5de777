#include "engine/configfile.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "base/alloc.h"
#include "base/array.h"
#include "base/buffer.h"
#include "base/error.h"
#include "base/file.h"
#include "base/text.h"
#include "engine/arguments.h"
#include "engine/settings.h"
#include "engine/synopsis.h"

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

/*
 * Remembers a line. Returns -1 if the line contradicts an earlier line; a repeated line is no
 * error.
 */
static int configfile_note(struct config *config, char *owned_name, char *owned_value,
			   struct error *error)
{
	for (size_t i = 0; i < config->seen_count; i++) {
		const struct seen *seen = &config->seen[i];

		if (strcmp(seen->name, owned_name) != 0)
			continue;
		if (strcmp(seen->value, owned_value) != 0)
			error_set(error,
				  "'%.60s' is '%.80s' here and '%.80s' in line %d: remove one of "
				  "the lines",
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
		return error_set(error, "bind needs a key and a command: use `bind KEY COMMAND`");
	ARRAY_GROW(settings->binds, settings->bind_count, settings->bind_capacity);
	settings->binds[settings->bind_count++] = (struct config_line){
		xstrdup(arguments->line),
		config->number,
	};
	return configfile_note(config, xasprintf("bind %s", arguments->words[0]),
			       arguments_join(arguments, 1, arguments->count), error);
}

/* Applies "set NAME VALUE", or "NAME VALUE" alone. */
static int apply_words(struct config *config, const struct arguments *arguments,
		       struct error *error)
{
	bool is_set = strcmp(arguments->name, "set") == 0;
	const char *name = is_set ? arguments_word(arguments, 0) : arguments->name;
	size_t at = is_set ? 1 : 0;

	if (strcmp(arguments->name, "bind") == 0)
		return apply_bind(config, arguments, error);
	if (arguments->count < at)
		return error_set(error, "set needs a name and a value: use `set NAME VALUE`");
	if (!is_set && !setting_find(name, NULL))
		return error_set(error,
				 "unknown setting '%.40s': use `set NAME VALUE`, `theme NAME` or "
				 "`bind KEY COMMAND`",
				 name);
	if (arguments->count > at + 1)
		return error_set(error, "unexpected word '%.40s'", arguments->words[at + 1]);
	if (is_set && arguments->count == at)
		return error_set(error, "set %.40s needs a value: use `set %.40s VALUE`", name,
				 name);
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
	/*
	 * No error: the default config file is missing, or no home directory is readable (errno 0:
	 * the file exists, but must not be used).
	 */
	if (file_read_own(path, "the config file", &text, &problem) == 0)
		result = apply_text(settings, text.data, path, error);
	else if (settings->config || errno == 0)
		result = error_set(error, "%s", problem.message);
	buffer_clear(&text);
	free(settings->config);
	settings->config = path;
	return result;
}

#define TIMEOUT_MINIMUM 0.001
#define TIMEOUT_MAXIMUM 86400.0
#define PERIOD_MINIMUM 0.05
#define PERIOD_MAXIMUM 3600.0

static int parse_switch(const char *value, bool *is_on, struct error *error)
{
	if (strcmp(value, "on") != 0 && strcmp(value, "off") != 0)
		return error_set(error, "'%.40s' is neither on nor off", value);
	*is_on = strcmp(value, "on") == 0;
	return 0;
}

static void show_switch(struct buffer *out, bool is_on)
{
	buffer_append_string(out, is_on ? "on" : "off");
}

static int parse_seconds(const char *value, double minimum, double maximum, double *seconds,
			 struct error *error)
{
	double parsed = text_seconds(value);

	if (!(parsed >= minimum && parsed <= maximum))
		return error_set(error, "'%.40s' is not a number of seconds between %g and %g",
				 value, minimum, maximum);
	*seconds = parsed;
	return 0;
}

static int setting_set_theme(struct settings *settings, const char *value, struct error *error)
{
	(void)error;
	free(settings->theme);
	settings->theme = xstrdup(value);
	return 0;
}

static void show_theme(const struct settings *settings, struct buffer *out)
{
	buffer_append_string(out, settings->theme ? settings->theme : "default");
}

static int setting_set_timeout(struct settings *settings, const char *value, struct error *error)
{
	return parse_seconds(value, TIMEOUT_MINIMUM, TIMEOUT_MAXIMUM, &settings->timeout, error);
}

static void show_timeout(const struct settings *settings, struct buffer *out)
{
	buffer_printf(out, "%g", settings->timeout);
}

static int set_step_timeout(struct settings *settings, const char *value, struct error *error)
{
	return parse_seconds(value, TIMEOUT_MINIMUM, TIMEOUT_MAXIMUM, &settings->step_timeout,
			     error);
}

static void show_step_timeout(const struct settings *settings, struct buffer *out)
{
	buffer_printf(out, "%g", settings->step_timeout);
}

static int set_tolerance(struct settings *settings, const char *value, struct error *error)
{
	char *end;
	double parsed = strtod(value, &end);

	if (end == value || *end != '\0' || !(parsed >= 0) || isinf(parsed))
		return error_set(error, "'%.40s' is not a tolerance (a number, 0 or more)", value);
	settings->tolerance = parsed;
	return 0;
}

static void show_tolerance(const struct settings *settings, struct buffer *out)
{
	buffer_printf(out, "%g", settings->tolerance);
}

static int set_threads(struct settings *settings, const char *value, struct error *error)
{
	if (strcmp(value, "all") != 0 && strcmp(value, "one") != 0)
		return error_set(error, "'%.40s' is neither all nor one", value);
	settings->stops_one_thread = strcmp(value, "one") == 0;
	return 0;
}

static void show_threads(const struct settings *settings, struct buffer *out)
{
	buffer_append_string(out, settings->stops_one_thread ? "one" : "all");
}

/*
 * A thread stopped at a Python line keeps the GIL, so other threads can only run code without the
 * GIL.
 */
static const char *warn_of_threads(const struct settings *settings)
{
	return settings->stops_one_thread
		       ? "while one thread is stopped, other threads of the rank may run C code "
			 "without the GIL (I/O, BLAS)"
		       : NULL;
}

static int set_stop_on_signal(struct settings *settings, const char *value, struct error *error)
{
	return parse_switch(value, &settings->stops_on_signal, error);
}

static void show_stop_on_signal(const struct settings *settings, struct buffer *out)
{
	show_switch(out, settings->stops_on_signal);
}

static const char *warn_of_signals(const struct settings *settings)
{
	return settings->stops_on_signal ? "a scheduler that ends the job kills stopped ranks "
					   "before they can write a checkpoint"
					 : NULL;
}

static int set_hold(struct settings *settings, const char *value, struct error *error)
{
	if (strcmp(value, "automatic") != 0 && strcmp(value, "stay") != 0)
		return error_set(error, "'%.40s' is neither automatic nor stay", value);
	settings->stays_stopped = strcmp(value, "stay") == 0;
	return 0;
}

static void show_hold(const struct settings *settings, struct buffer *out)
{
	buffer_append_string(out, settings->stays_stopped ? "stay" : "automatic");
}

static const char *warn_of_hold(const struct settings *settings)
{
	return settings->stays_stopped
		       ? "a collective that waits for a stopped rank may time out and end the job"
		       : NULL;
}

static int set_period(struct settings *settings, const char *value, struct error *error)
{
	if (strcmp(value, "automatic") == 0) {
		settings->period = 0;
		return 0;
	}
	return parse_seconds(value, PERIOD_MINIMUM, PERIOD_MAXIMUM, &settings->period, error);
}

static void show_period(const struct settings *settings, struct buffer *out)
{
	if (settings->period > 0)
		buffer_printf(out, "%g", settings->period);
	else
		buffer_append_string(out, "automatic");
}

static int setting_set_ascii(struct settings *settings, const char *value, struct error *error)
{
	return parse_switch(value, &settings->is_ascii, error);
}

static void show_ascii(const struct settings *settings, struct buffer *out)
{
	show_switch(out, settings->is_ascii);
}

static int set_mouse(struct settings *settings, const char *value, struct error *error)
{
	bool is_on = true;

	if (parse_switch(value, &is_on, error) < 0)
		return -1;
	settings->has_no_mouse = !is_on;
	return 0;
}

static void show_mouse(const struct settings *settings, struct buffer *out)
{
	show_switch(out, !settings->has_no_mouse);
}

static int setting_set_read_only(struct settings *settings, const char *value, struct error *error)
{
	return parse_switch(value, &settings->is_read_only, error);
}

static void show_read_only(const struct settings *settings, struct buffer *out)
{
	show_switch(out, settings->is_read_only);
}

/* "none": no words. */
static void set_words(char **words, const char *value)
{
	free(*words);
	*words = strcmp(value, "none") == 0 ? NULL : xstrdup(value);
}

static int set_ssh_args(struct settings *settings, const char *value, struct error *error)
{
	(void)error;
	set_words(&settings->ssh_args, value);
	return 0;
}

static void show_ssh_args(const struct settings *settings, struct buffer *out)
{
	buffer_append_string(out, settings->ssh_args ? settings->ssh_args : "none");
}

static int set_srun_args(struct settings *settings, const char *value, struct error *error)
{
	(void)error;
	set_words(&settings->srun_args, value);
	return 0;
}

static void show_srun_args(const struct settings *settings, struct buffer *out)
{
	buffer_append_string(out, settings->srun_args ? settings->srun_args : "none");
}

const struct setting setting_rows[] = {
	{ "theme", "THEME", "set the colours of the screen", true, setting_set_theme, show_theme,
	  NULL },
	{ "mouse", "on | off", "use the mouse in the screen", true, set_mouse, show_mouse, NULL },
	{ "ascii", "on | off", "draw with ASCII characters only", true, setting_set_ascii,
	  show_ascii, NULL },
	{ "period", "automatic | SECONDS", "set the time between two samples", true, set_period,
	  show_period, NULL },
	{ "timeout", "SECONDS", "set the longest time to wait for an answer", true,
	  setting_set_timeout, show_timeout, NULL },
	{ "step-timeout", "SECONDS",
	  "set the time after which a step offers to resume stopped ranks", true, set_step_timeout,
	  show_step_timeout, NULL },
	{ "tolerance", "NUMBER",
	  "set the difference up to which numbers compare as equal; 0: all bits must be equal",
	  true, set_tolerance, show_tolerance, NULL },
	{ "threads", "all | one",
	  "stop all threads of a rank, or one (the others can still run C code that needs no GIL)",
	  true, set_threads, show_threads, warn_of_threads },
	{ "stop-on-signal", "on | off", "keep a stopped rank stopped when a signal arrives", true,
	  set_stop_on_signal, show_stop_on_signal, warn_of_signals },
	{ "hold", "automatic | stay",
	  "resume stopped ranks before collectives time out; stay: never resume them", true,
	  set_hold, show_hold, warn_of_hold },
	{ "read-only", "on | off", "refuse to stop ranks, change their data or run code in them",
	  false, setting_set_read_only, show_read_only, NULL },
	{ "ssh-args", "none | WORDS", "set options of ssh for --on ssh:", false, set_ssh_args,
	  show_ssh_args, NULL },
	{ "srun-args", "none | WORDS", "set options of srun for --on slurm:", false, set_srun_args,
	  show_srun_args, NULL },
};
const size_t setting_row_count = ARRAY_LENGTH(setting_rows);

const struct setting *setting_find(const char *name, struct error *error)
{
	struct buffer names = BUFFER_INIT;
	struct nearest nearest;

	nearest_init(&nearest, name);
	for (size_t i = 0; i < setting_row_count; i++) {
		if (strcmp(setting_rows[i].name, name) == 0) {
			buffer_clear(&names);
			return &setting_rows[i];
		}
		nearest_offer(&nearest, setting_rows[i].name);
		buffer_printf(&names, "%s%s", i > 0 ? ", " : "", setting_rows[i].name);
	}
	if (nearest.best)
		error_set(error, "unknown setting '%.40s'; did you mean %s?", name, nearest.best);
	else
		error_set(error, "unknown setting '%.40s'; settings are %s", name, names.data);
	buffer_clear(&names);
	return NULL;
}

void setting_append_all(struct buffer *out, const struct settings *settings)
{
	for (size_t i = 0; i < setting_row_count; i++) {
		struct buffer value = BUFFER_INIT;

		setting_rows[i].show(settings, &value);
		buffer_printf(out, "%-14s  %-13s  %s (%s)\n", setting_rows[i].name, value.data,
			      setting_rows[i].help, setting_rows[i].values);
		buffer_clear(&value);
	}
}
