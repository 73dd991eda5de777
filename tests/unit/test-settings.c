/* settings: the option table, what the command line and a config may say. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "banned.h"
#include "base/array.h"
#include "base/buffer.h"
#include "base/error.h"
#include "engine/configfile.h"
#include "engine/settings.h"

#define WORDS_MAXIMUM 12

struct parsed {
	struct settings settings;
	struct error error;
	int result;
};

/* Parses the words up to NULL, with no config of the person who tests. */
static struct parsed parse(char **words)
{
	struct parsed parsed = { .error = ERROR_INIT };
	char *argv[WORDS_MAXIMUM + 2] = { "probetui" };
	int argc = 1;

	while (words[argc - 1]) {
		argv[argc] = words[argc - 1];
		argc++;
	}
	settings_init(&parsed.settings);
	parsed.result = settings_parse(&parsed.settings, argc, argv, &parsed.error);
	return parsed;
}

#define PARSE(...) parse((char *[]){ __VA_ARGS__, NULL })

static int no_home(void **state)
{
	(void)state;
	unsetenv("HOME");
	unsetenv("XDG_CONFIG_HOME");
	return 0;
}

static void defaults_are_there(void **state)
{
	struct parsed parsed = parse((char *[]){ NULL });

	(void)state;
	assert_int_equal(parsed.result, 0);
	assert_true(parsed.settings.timeout > 4.9);
	assert_int_equal(parsed.settings.command_count, 0);
	assert_false(parsed.settings.is_json);
	settings_clear(&parsed.settings);
}

static void options_may_stand_behind_the_command(void **state)
{
	struct parsed parsed =
		PARSE("--ranks", "0-2,5", "verdict", "--json", "--for", "3", "--timeout=2.5");

	(void)state;
	assert_string_equal(parsed.error.message, "");
	assert_int_equal(parsed.result, 0);
	assert_true(parsed.settings.is_json);
	assert_string_equal(parsed.settings.ranks, "0-2,5");
	assert_int_equal(parsed.settings.command_count, 3);
	assert_string_equal(parsed.settings.command[0], "verdict");
	assert_string_equal(parsed.settings.command[1], "--for");
	assert_string_equal(parsed.settings.command[2], "3");
	assert_true(parsed.settings.timeout == 2.5);
	settings_clear(&parsed.settings);
}

static void json_is_known_of_a_line_that_is_wrong(void **state)
{
	static char *const lines[][4] = {
		{ "--json", "--nonsense", NULL }, { "--nonsense", "--json", NULL },
		{ "--json", "--pid", NULL },	  { "--json", "--timeout", "0", NULL },
		{ "--json", "--", NULL },
	};
	struct parsed parsed;

	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++) {
		parsed = parse((char **)lines[i]);
		assert_int_equal(parsed.result, -1);
		assert_true(parsed.settings.is_json);
		settings_clear(&parsed.settings);
	}
	parsed = PARSE("--nonsense", "--", "job", "--json");
	assert_int_equal(parsed.result, -1);
	assert_false(parsed.settings.is_json);
	settings_clear(&parsed.settings);
}

static void pids_are_a_list(void **state)
{
	struct parsed parsed = PARSE("--pid", "12,13", "--connect", "ptrace:14");

	(void)state;
	assert_int_equal(parsed.result, 0);
	assert_int_equal(parsed.settings.pid_count, 3);
	assert_int_equal(parsed.settings.pids[0], 12);
	assert_int_equal(parsed.settings.pids[2], 14);
	settings_clear(&parsed.settings);
}

static void a_program_stands_behind_two_dashes(void **state)
{
	struct parsed parsed = PARSE("--", "torchrun", "--nope");

	(void)state;
	assert_int_equal(parsed.result, 0);
	assert_int_equal(parsed.settings.program_count, 2);
	assert_string_equal(parsed.settings.program[1], "--nope");
	settings_clear(&parsed.settings);
}

static void wrong_words_give_a_sentence(void **state)
{
	static const struct {
		char *words[4];
		const char *part;
	} cases[] = {
		{ { "--jsn" }, "did you mean --json" },
		{ { "--zzzzzz" }, "--help lists options" },
		{ { "-q" }, "unknown option '-q'" },
		{ { "--ranks" }, "--ranks needs SET" },
		{ { "--ranks", "3-" }, "--ranks" },
		{ { "--pid", "" }, "is not a pid" },
		{ { "--pid", "12," }, "is not a pid" },
		{ { "--pid", "0" }, "is not a pid" },
		{ { "--pid", "-4" }, "is not a pid" },
		{ { "--pid", "12x" }, "is not a pid" },
		{ { "--pid", "99999999999999999999" }, "is not a pid" },
		{ { "--timeout", "soon" }, "--timeout" },
		{ { "--timeout", "nan" }, "--timeout" },
		{ { "--timeout", "-1" }, "--timeout" },
		{ { "--json=1" }, "takes no argument" },
		{ { "--connect", "ftp://a:1" }, "ptrace:PID and replay:FILE" },
		{ { "--connect", "http://a" }, "http://HOST:PORT" },
		{ { "--connect", "https://a:1/b" }, "https://HOST:PORT" },
		{ { "--connect", "agent:x" }, "agent:PID" },
		{ { "--connect", "pdb:" }, "is not a target" },
		{ { "--connect", "pdb:unix:" }, "is not a target" },
		{ { "--connect", "pdb:tcp:a:99999" }, "pdb:tcp:HOST:PORT" },
		{ { "--connect", "pdb:tcp:4444" }, "pdb:tcp:HOST:PORT" },
		{ { "--" }, "no program after --" },
		{ { "-x", "f", "verdict" }, "put 'verdict' into the script" },
		{ { "--replay=a", "--pid=1" }, "leave one out" },
		{ { "--replay=a", "--record=b" }, "leave out --record" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
		char *words[5] = { NULL };
		struct parsed parsed;

		memcpy(words, cases[i].words, sizeof(cases[i].words));
		parsed = parse(words);
		assert_int_equal(parsed.result, -1);
		if (!strstr(parsed.error.message, cases[i].part))
			fail_msg("'%s' lacks '%s'", parsed.error.message, cases[i].part);
		settings_clear(&parsed.settings);
	}
}

static void the_locale_decides_about_ascii(void **state)
{
	struct parsed parsed;

	(void)state;
	setenv("LC_ALL", "C", 1);
	parsed = parse((char *[]){ NULL });
	assert_true(parsed.settings.is_ascii);
	settings_clear(&parsed.settings);
	setenv("LC_ALL", "C.UTF-8", 1);
	parsed = parse((char *[]){ NULL });
	assert_false(parsed.settings.is_ascii);
	settings_clear(&parsed.settings);
}

/* A config with that text and mode; its path is in the buffer. */
static void write_config(char path[64], const char *text, mode_t mode)
{
	int fd;

	snprintf(path, 64, "/tmp/test-settings-XXXXXX");
	fd = mkstemp(path);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	assert_int_equal(fchmod(fd, mode), 0);
	close(fd);
}

static void a_config_fills_what_the_line_left_open(void **state)
{
	char path[64];
	struct parsed parsed;

	(void)state;
	write_config(path, "# mine\n\ntheme mono \r\ntimeout 7\n", 0600);
	parsed = PARSE("--config", path);
	assert_string_equal(parsed.error.message, "");
	assert_string_equal(parsed.settings.theme, "mono");
	assert_true(parsed.settings.timeout == 7);
	settings_clear(&parsed.settings);
	parsed = PARSE("--config", path, "--theme", "other", "--timeout", "2");
	assert_string_equal(parsed.settings.theme, "other");
	assert_true(parsed.settings.timeout == 2);
	settings_clear(&parsed.settings);
	unlink(path);
}

static void a_config_of_others_is_refused(void **state)
{
	char path[64];
	struct parsed parsed;

	(void)state;
	write_config(path, "theme mono\n", 0666);
	parsed = PARSE("--config", path);
	assert_int_equal(parsed.result, -1);
	assert_non_null(strstr(parsed.error.message, "as other users can write to the file"));
	settings_clear(&parsed.settings);
	unlink(path);
	parsed = PARSE("--config", path);
	assert_int_equal(parsed.result, -1);
	assert_non_null(strstr(parsed.error.message, "cannot open the config file"));
	settings_clear(&parsed.settings);
	parsed = PARSE("--config", "/");
	assert_non_null(strstr(parsed.error.message, "is not a regular file"));
	settings_clear(&parsed.settings);
}

static void a_wrong_line_of_a_config_is_named(void **state)
{
	char path[64];
	struct parsed parsed;

	(void)state;
	write_config(path, "theme mono\nrecord /etc/passwd\n", 0600);
	parsed = PARSE("--config", path);
	assert_int_equal(parsed.result, -1);
	assert_non_null(strstr(parsed.error.message, "line 2"));
	settings_clear(&parsed.settings);
	unlink(path);
}

/* The config that HOME would have, of that text. */
static struct parsed parse_config(const char *text)
{
	char path[64];
	struct parsed parsed;

	write_config(path, text, 0600);
	parsed = PARSE("--config", path);
	unlink(path);
	return parsed;
}

static void a_config_sets_binds_and_chooses(void **state)
{
	struct parsed parsed = parse_config("set mouse off\n"
					    "set period 0.5 # slower\n"
					    "set ascii off\n"
					    "theme light\n"
					    "bind F5 refresh\n"
					    "bind \"#\" grid cells\n"
					    "bind F5 refresh\n"
					    "read-only\n");
	const struct settings *settings = &parsed.settings;

	(void)state;
	assert_string_equal(parsed.error.message, "");
	assert_true(settings->has_no_mouse);
	assert_true(settings->period == 0.5);
	assert_false(settings->is_ascii);
	assert_true(settings->is_read_only);
	assert_string_equal(settings->theme, "light");
	assert_int_equal(settings->theme_line, 4);
	assert_int_equal(settings->bind_count, 3);
	assert_string_equal(settings->binds[1].text, "bind \"#\" grid cells");
	assert_int_equal(settings->binds[1].number, 6);
	settings_clear(&parsed.settings);
}

static void a_mistake_in_a_config_is_a_sentence(void **state)
{
	static const struct {
		const char *text;
		const char *part;
	} cases[] = {
		{ "theme light\nset mouse\n", "line 2: set mouse needs a value" },
		{ "mouse\nset mouse maybe\n", "line 2: mouse: 'maybe' is neither on nor off" },
		{ "set period 0\n", "line 1: period: '0' is not a number" },
		{ "\n\nset tiemout 3\n",
		  "line 3: unknown setting 'tiemout'; did you mean timeout?" },
		{ "set xyzzyxyzzy 3\n", "settings are theme, mouse, ascii" },
		{ "set\n", "set needs a name and a value" },
		{ "record f\n", "unknown setting 'record': use `set NAME VALUE`" },
		{ "theme light dark\n", "unexpected word 'dark'" },
		{ "theme 'light\n", "line 1: missing closing quote '" },
		{ "bind M\n", "line 1: bind needs a key and a command" },
		{ "bind M merged\n#\nbind M grid cells\n",
		  "line 3: 'bind M' is 'grid cells' here and 'merged' in line 1: remove one of the "
		  "lines" },
		{ "set theme light\ntheme mono\n",
		  "line 2: 'set theme' is 'mono' here and 'light' in line 1" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
		struct parsed parsed = parse_config(cases[i].text);

		assert_int_equal(parsed.result, -1);
		if (!strstr(parsed.error.message, cases[i].part))
			fail_msg("'%s' lacks '%s'", parsed.error.message, cases[i].part);
		settings_clear(&parsed.settings);
	}
}

static void settings_are_shown_as_they_are_set(void **state)
{
	struct parsed parsed = PARSE("--theme", "mono", "--timeout", "2.5");
	struct buffer out = BUFFER_INIT;

	(void)state;
	setting_append_all(&out, &parsed.settings);
	assert_non_null(strstr(out.data, "theme           mono  "));
	assert_non_null(strstr(out.data, "mouse           on  "));
	assert_non_null(strstr(out.data, "period          automatic  "));
	assert_non_null(strstr(out.data, "timeout         2.5  "));
	assert_non_null(strstr(out.data, "step-timeout    5  "));
	assert_non_null(strstr(out.data, "threads         all  "));
	assert_non_null(strstr(out.data, "hold            automatic  "));
	buffer_reset(&out);
	for (size_t i = 0; i < setting_row_count; i++) {
		struct error error = ERROR_INIT;

		buffer_reset(&out);
		setting_rows[i].show(&parsed.settings, &out);
		assert_int_equal(setting_rows[i].set(&parsed.settings, out.data, &error), 0);
	}
	buffer_clear(&out);
	settings_clear(&parsed.settings);
}

static void help_comes_before_a_broken_config(void **state)
{
	struct parsed parsed = PARSE("--config", "/nowhere", "--help");

	(void)state;
	assert_int_equal(parsed.result, 0);
	assert_true(parsed.settings.wants_help);
	settings_clear(&parsed.settings);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(defaults_are_there),
		cmocka_unit_test(options_may_stand_behind_the_command),
		cmocka_unit_test(json_is_known_of_a_line_that_is_wrong),
		cmocka_unit_test(pids_are_a_list),
		cmocka_unit_test(a_program_stands_behind_two_dashes),
		cmocka_unit_test(wrong_words_give_a_sentence),
		cmocka_unit_test(the_locale_decides_about_ascii),
		cmocka_unit_test(a_config_fills_what_the_line_left_open),
		cmocka_unit_test(a_config_of_others_is_refused),
		cmocka_unit_test(a_wrong_line_of_a_config_is_named),
		cmocka_unit_test(a_config_sets_binds_and_chooses),
		cmocka_unit_test(a_mistake_in_a_config_is_a_sentence),
		cmocka_unit_test(settings_are_shown_as_they_are_set),
		cmocka_unit_test(help_comes_before_a_broken_config),
	};

	return cmocka_run_group_tests(tests, no_home, NULL);
}
