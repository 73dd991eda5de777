#include "engine/settings.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "banned.h"
#include "base/alloc.h"
#include "base/array.h"
#include "base/error.h"
#include "base/text.h"
#include "engine/configfile.h"
#include "engine/synopsis.h"
#include "model/rankselect.h"
#include "protocol/rankset.h"

#define TIMEOUT_DEFAULT 5.0
#define STEP_TIMEOUT_DEFAULT 5.0

void settings_add_pid(struct settings *settings, pid_t pid)
{
	settings->pids = xrealloc(settings->pids, (settings->pid_count + 1) * sizeof(pid_t));
	settings->pids[settings->pid_count++] = pid;
}

void settings_add_replay(struct settings *settings, const char *path)
{
	settings->replays =
		xrealloc(settings->replays, (settings->replay_count + 1) * sizeof(char *));
	settings->replays[settings->replay_count++] = xstrdup(path);
}

/* True for "HOST:PORT". */
static bool is_address(const char *text)
{
	const char *colon = strrchr(text, ':');
	const char *digits = colon ? colon + 1 : "";
	size_t length = strlen(digits);

	return colon && colon > text && length > 0 && length <= 5 &&
	       strspn(digits, "0123456789") == length && strtol(digits, NULL, 10) > 0 &&
	       strtol(digits, NULL, 10) < 65536;
}

static bool settings_is_path(const char *text)
{
	return *text == '/' || *text == '@';
}

bool settings_is_pid(const char *word)
{
	size_t length = strspn(word, "0123456789");

	return length > 0 && length < 10 && word[length] == '\0';
}

/* True for "HOST:PORT" and "HOST:PORT/". */
static bool settings_is_place(const char *text)
{
	size_t length = strcspn(text, "/");
	char *address = xstrndup(text, length);
	bool is_right = is_address(address) && (text[length] == '\0' || text[length + 1] == '\0');

	free(address);
	return is_right;
}

/* Forms of debugger targets; the node checks the rest of an address. */
static const struct target_form {
	const char *prefix;
	bool (*is_right)(const char *text);
	bool takes_mark; /* also valid with SETTINGS_RANK_MARK in place of an exact address */
} target_forms[] = {
	{ "pdb:unix:", settings_is_path, false }, { "pdb:tcp:", is_address, true },
	{ "agent:", settings_is_pid, false },	  { "http://", settings_is_place, true },
	{ "https://", settings_is_place, true },
};

static const struct target_form *find_form(const char *target)
{
	for (size_t i = 0; i < ARRAY_LENGTH(target_forms); i++) {
		const struct target_form *form = &target_forms[i];

		if (strncmp(target, form->prefix, strlen(form->prefix)) == 0)
			return form;
	}
	return NULL;
}

bool settings_is_target(const char *target)
{
	const struct target_form *form = find_form(target);

	if (!form)
		return false;
	return form->is_right(target + strlen(form->prefix)) ||
	       (form->takes_mark && strstr(target, SETTINGS_RANK_MARK));
}

bool settings_is_debugger(const char *target)
{
	return find_form(target) || strncmp(target, "pdb:", 4) == 0;
}

bool settings_names_debuggers_only(const struct settings *settings)
{
	if (settings->ranks || settings->job || settings->pid_count > 0)
		return false;
	for (size_t i = 0; i < settings->connect_count; i++) {
		if (settings_is_debugger(settings->connect[i]))
			return true;
	}
	return false;
}

void settings_init(struct settings *settings)
{
	*settings = (struct settings){
		.timeout = TIMEOUT_DEFAULT,
		.step_timeout = STEP_TIMEOUT_DEFAULT,
	};
}

void settings_clear(struct settings *settings)
{
	free(settings->ranks);
	free(settings->pids);
	free(settings->job);
	for (size_t i = 0; i < settings->connect_count; i++)
		free(settings->connect[i]);
	free(settings->connect);
	for (size_t i = 0; i < settings->machine_count; i++)
		free(settings->machines[i]);
	free(settings->machines);
	free(settings->ssh_args);
	free(settings->srun_args);
	for (size_t i = 0; i < settings->break_count; i++)
		free(settings->breaks[i]);
	free(settings->breaks);
	for (size_t i = 0; i < settings->replay_count; i++)
		free(settings->replays[i]);
	free(settings->replays);
	free(settings->record);
	free(settings->at);
	free(settings->theme);
	free(settings->config);
	free(settings->script);
	free(settings->command);
	for (size_t i = 0; i < settings->bind_count; i++)
		free(settings->binds[i].text);
	free(settings->binds);
	settings_init(settings);
}

static const struct setting_option *settings_find_option(const char *name, size_t length)
{
	for (size_t i = 0; i < setting_option_count; i++) {
		const struct setting_option *option = &setting_options[i];

		if (strncmp(option->name, name, length) == 0 && option->name[length] == '\0')
			return option;
	}
	return NULL;
}

static const struct setting_option *find_letter(char letter)
{
	for (size_t i = 0; i < setting_option_count; i++) {
		if (letter != 0 && setting_options[i].letter == letter)
			return &setting_options[i];
	}
	return NULL;
}

static int unknown_option(const char *word, struct error *error)
{
	char name[64] = "";
	struct nearest nearest;

	snprintf(name, sizeof(name), "%.*s", (int)strcspn(word + strspn(word, "-"), "="),
		 word + strspn(word, "-"));
	nearest_init(&nearest, name);
	for (size_t i = 0; i < setting_option_count; i++)
		nearest_offer(&nearest, setting_options[i].name);
	if (nearest.best)
		return error_set(
			error,
			"unknown option '%.80s'; did you mean --%s? (probetui --help lists "
			"options)",
			word, nearest.best);
	return error_set(error, "unknown option '%.80s' (probetui --help lists options)", word);
}

/* argv; next: index of the next word to read */
struct words {
	int count;
	char **words;
	int next;
};

static int apply_option(struct settings *settings, struct words *words,
			const struct setting_option *option, const char *value, struct error *error)
{
	if (!option->argument) {
		if (value)
			return error_set(error, "--%s takes no argument", option->name);
		return option->set(settings, NULL, error);
	}
	if (!value && words->next >= words->count)
		return error_set(error, "--%s needs %s: %s", option->name, option->argument,
				 option->help);
	if (!value)
		value = words->words[words->next++];
	return option->set(settings, value, error);
}

/*
 * Returns the option that word names, or NULL if word is not an option. Sets *value to the text
 * after "=" or after the letter, else to NULL.
 */
static const struct setting_option *option_of(const char *word, const char **value)
{
	size_t length;

	*value = NULL;
	if (word[0] != '-' || word[1] == '\0')
		return NULL;
	if (word[1] != '-') {
		if (word[2] != '\0')
			*value = word + 2;
		return find_letter(word[1]);
	}
	length = strcspn(word + 2, "=");
	if (word[2 + length] == '=')
		*value = word + 2 + length + 1;
	return settings_find_option(word + 2, length);
}

/*
 * Accepts, besides probetui's own options, how the tools Probing and Probe name a target: Probing
 * with -t PID|HOST:PORT, Probe with a PID before the command. Returns 1 and sets *option and *value
 * if word is a target; returns 0 if it is not, or -1 and sets the error if the value of -t is
 * missing.
 */
static int take_target(const struct settings *settings, struct words *words, const char *word,
		       const char **option, const char **value, char **owned, struct error *error)
{
	*owned = NULL;
	*option = "pid";
	*value = word;
	if (settings->command_count > 0)
		return 0;
	if (settings_is_pid(word) && words->next < words->count)
		return 1;
	if (strcmp(word, "-t") != 0)
		return 0;
	if (words->next >= words->count)
		return error_set(error, "-t needs PID or HOST:PORT");
	*value = words->words[words->next++];
	if (settings_is_pid(*value))
		return 1;
	*option = "connect";
	*value = *owned = xasprintf("http://%s", *value);
	return 1;
}

/*
 * Options may also follow the command. An unknown option after the command is passed to the
 * command, which has its own options.
 */
static int settings_parse_words(struct settings *settings, struct words *words, struct error *error)
{
	settings->command = xcalloc((size_t)words->count + 1, sizeof(char *));
	while (words->next < words->count) {
		char *word = words->words[words->next++];
		const char *value;
		const struct setting_option *option = option_of(word, &value);
		const char *name;
		char *owned;
		int taken = take_target(settings, words, word, &name, &value, &owned, error);

		if (taken > 0) {
			option = settings_find_option(name, strlen(name));
			taken = apply_option(settings, words, option, value, error);
			free(owned);
			if (taken == 0)
				continue;
		}
		if (taken < 0)
			return -1;
		option = option_of(word, &value);
		if (strcmp(word, "--") == 0) {
			settings->program = words->words + words->next;
			settings->program_count = (size_t)(words->count - words->next);
			if (settings->program_count == 0)
				return error_set(error, "no program after --");
			return 0;
		}
		if (option) {
			if (apply_option(settings, words, option, value, error) < 0)
				return -1;
			continue;
		}
		if (word[0] == '-' && word[1] != '\0' && settings->command_count == 0)
			return unknown_option(word, error);
		settings->command[settings->command_count++] = word;
	}
	return 0;
}

/* The first variable that is set and not empty counts, as in setlocale(3). */
static bool is_utf8_locale(void)
{
	static const char *const names[] = { "LC_ALL", "LC_CTYPE", "LANG" };

	for (size_t i = 0; i < ARRAY_LENGTH(names); i++) {
		const char *value = getenv(names[i]);

		if (value && value[0] != '\0')
			return strcasestr(value, "utf-8") || strcasestr(value, "utf8");
	}
	return false;
}

int settings_check_script(const struct settings *settings, struct error *error)
{
	if (settings->script && settings->command_count > 0)
		return error_set(
			error, "-x FILE and a command cannot be combined: put '%s' into the script",
			settings->command[0]);
	return 0;
}

static bool settings_is_folder(const char *path)
{
	struct stat about;

	return stat(path, &about) == 0 && S_ISDIR(about.st_mode);
}

static int settings_check_file(const char *path, struct error *error)
{
	if (settings_is_folder(path))
		return error_set(error, "%.200s is a folder, not a program", path);
	if (access(path, X_OK) < 0)
		return error_set_errno(error, errno, "%.200s cannot be run", path);
	return 0;
}

/* Searches $PATH as execvp(3) does. */
static int check_path(const char *name, struct error *error)
{
	const char *path = getenv("PATH");
	bool is_found = false;

	for (path = path ? path : "/bin:/usr/bin"; !is_found && *path;) {
		size_t length = strcspn(path, ":");
		char *file =
			length > 0 ? xasprintf("%.*s/%s", (int)length, path, name) : xstrdup(name);

		is_found = access(file, X_OK) == 0 && !settings_is_folder(file);
		free(file);
		path += length + (path[length] == ':');
	}
	if (is_found)
		return 0;
	return error_set(error,
			 "program '%.80s' not found in $PATH; after -- give the command that "
			 "starts the job",
			 name);
}

int settings_check_machines(const struct settings *settings, struct error *error)
{
	const char *option = NULL;

	if (settings->machine_count == 0)
		return 0;
	if (settings->program_count > 0)
		option = "-- PROGRAM";
	else if (settings->pid_count > 0)
		option = "--pid";
	else if (settings->replay_count > 0)
		option = "--replay";
	else if (settings->connect_count > 0)
		option = "--connect";
	else if (settings->record)
		option = "--record";
	if (!option)
		return 0;
	return error_set(error, "--on and %s cannot be combined: leave one out", option);
}

/* With a started job, no option may name another job or process. */
static int check_alone(const struct settings *settings, struct error *error)
{
	const char *option = NULL;

	if (settings->pid_count > 0)
		option = "--pid";
	else if (settings->job)
		option = "--job";
	else if (settings->replay_count > 0)
		option = "--replay";
	else if (settings->connect_count > 0)
		option = "--connect";
	if (!option)
		return 0;
	return error_set(error, "-- PROGRAM and %s cannot be combined: leave one out", option);
}

int settings_check_program(const struct settings *settings, struct error *error)
{
	const char *name;

	if (settings->program_count == 0 && settings->break_count > 0)
		return error_set(error,
				 "--break needs a job to start (--break train.py:42 -- torchrun "
				 "train.py); for a running job, use the command break");
	if (settings->program_count == 0)
		return 0;
	if (settings->command_count > 0)
		return error_set(error,
				 "the command '%.80s' cannot run while the job starts: use a "
				 "script, probetui -x FILE -- PROGRAM",
				 settings->command[0]);
	if (settings->break_count > 0 && settings->is_read_only)
		return error_set(error,
				 "--break and --read-only cannot be combined: leave one out");
	if (check_alone(settings, error) < 0)
		return -1;
	name = settings->program[0];
	return strchr(name, '/') ? settings_check_file(name, error) : check_path(name, error);
}

/* %r in a target needs rank numbers in --ranks, as connections are made before ranks are found. */
static int check_targets(const struct settings *settings, struct error *error)
{
	struct rankselect select = RANKSELECT_INIT;
	struct rankset numbers = RANKSET_INIT;
	bool has_numbers;

	for (size_t i = 0; i < settings->connect_count; i++) {
		const char *target = settings->connect[i];

		if (settings_is_debugger(target) && settings->replay_count > 0)
			return error_set(error, "--replay and --connect cannot be combined: leave "
						"one out");
		if (!settings_is_debugger(target) || !strstr(target, SETTINGS_RANK_MARK))
			continue;
		has_numbers = settings->ranks &&
			      rankselect_parse(&select, settings->ranks, NULL) == 0 &&
			      rankselect_add_numbers(&select, &numbers);
		rankselect_clear(&select);
		rankset_clear(&numbers);
		if (!has_numbers)
			return error_set(error,
					 "--connect: %%r in '%.80s' needs rank numbers, as in "
					 "--ranks 0-7",
					 target);
	}
	return 0;
}

static int check_together(const struct settings *settings, struct error *error)
{
	if (check_targets(settings, error) < 0)
		return -1;
	if (settings->replay_count > 0 && settings->pid_count > 0)
		return error_set(error, "--replay and --pid cannot be combined: leave one out");
	if (settings->replay_count > 0 && settings->record)
		return error_set(error, "a replay cannot be recorded: leave out --record");
	if (settings->at && settings->replay_count == 0)
		return error_set(error, "--at needs a recording: add --replay FILE");
	/* With a recording, the words may be further recordings instead of a command. */
	return settings->replay_count > 0 ? 0 : settings_check_script(settings, error);
}

/* Applies the environment and the config file, which the command line overrides. */
static int settings_prepare(struct settings *settings, const struct settings *line,
			    struct error *error)
{
	const char *no_color = getenv("NO_COLOR");

	settings->is_ascii = !is_utf8_locale();
	settings->has_no_color = no_color && no_color[0] != '\0';
	settings->config = xstrdup_or_null(line->config);
	/* --help also works with a broken config file. */
	if (line->wants_help || line->wants_version || line->wants_agent_path)
		return 0;
	return configfile_apply(settings, error);
}

/*
 * True if --json is given before `--`: the parser may have stopped at a wrong option before --json.
 */
static bool has_json(int argc, char **argv)
{
	for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
		if (strcmp(argv[i], "--json") == 0)
			return true;
	}
	return false;
}

static int parse(struct settings *settings, int argc, char **argv, struct error *error)
{
	struct words words = { .count = argc, .words = argv, .next = 1 };
	struct settings line;
	int result;

	/*
	 * Parse argv twice: first to find --config, then to override the values of the config file.
	 */
	settings_init(&line);
	result = settings_parse_words(&line, &words, error);
	if (result == 0)
		result = settings_prepare(settings, &line, error);
	settings_clear(&line);
	if (result < 0)
		return -1;
	words.next = 1;
	if (settings_parse_words(settings, &words, error) < 0)
		return -1;
	if (settings->wants_help || settings->wants_version || settings->wants_agent_path)
		return 0;
	return check_together(settings, error);
}

int settings_parse(struct settings *settings, int argc, char **argv, struct error *error)
{
	int result = parse(settings, argc, argv, error);

	settings->words = argv;
	settings->word_count = (size_t)argc;
	if (result < 0)
		settings->is_json = has_json(argc, argv);
	return result;
}
