/* command: finding by name and abbreviation, splitting, ranks SET. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "banned.h"
#include "base/array.h"
#include "base/buffer.h"
#include "base/error.h"
#include "engine/arguments.h"
#include "engine/command.h"
#include "engine/engine.h"
#include "engine/synopsis.h"

static char said[256];

static void say_more(const char *text)
{
	size_t length = strlen(said);

	snprintf(said + length, sizeof(said) - length, "%s", text);
}

/* Says what it was called with. */
static int say(struct command_context *context, const struct arguments *arguments,
	       struct error *error)
{
	struct buffer words = BUFFER_INIT;

	(void)error;
	buffer_printf(&words, "<%s>", arguments->name);
	for (size_t i = 0; i < arguments->count; i++)
		buffer_printf(&words, "<%s>", arguments->words[i]);
	if (context->ranks_text)
		buffer_append_string(&words, context->ranks_text);
	rankset_append(&words, &context->ranks);
	snprintf(said, sizeof(said), "%s", words.data);
	buffer_clear(&words);
	return 0;
}

static int refuse(struct command_context *context, const struct arguments *arguments,
		  struct error *error)
{
	(void)arguments;
	context->status = 3;
	return error_set(error, "no");
}

static const struct command stacks = {
	.name = "stacks",
	.synopsis = "[--x] [ranks SET]",
	.help = "a",
	.flags = COMMAND_SHELL | COMMAND_RANKS | COMMAND_REST,
	.run = say,
};
static const struct command step = {
	.name = "step",
	.alias = "s",
	.synopsis = "[N]",
	.help = "b",
	.flags = COMMAND_SHELL,
	.run = say,
};
static const struct command verdict = {
	.name = "verdict",
	.synopsis = "A B",
	.help = "c",
	.flags = COMMAND_SHELL,
	.run = say,
};
static const struct command zoom = {
	.name = "zoom",
	.synopsis = "",
	.help = "d",
	.flags = COMMAND_SCREEN,
	.run = say,
};
static const struct command refuses = {
	.name = "refuse",
	.synopsis = "",
	.help = "e",
	.flags = COMMAND_SHELL,
	.run = refuse,
};
static const struct command *const first_rows[] = { &stacks, &step, &verdict };
/* A row of the first table counts there. */
static const struct command *const second_rows[] = { &zoom, &step, &refuses };
static const struct command_table first = {
	.rows = first_rows,
	.count = ARRAY_LENGTH(first_rows),
};
static const struct command_table second = {
	.rows = second_rows,
	.count = ARRAY_LENGTH(second_rows),
};
static const struct command_tables shell = { { &first, &second }, COMMAND_SHELL };
static const struct command_tables screen = { { &first, &second }, COMMAND_SCREEN };

static void names_aliases_and_abbreviations(void **state)
{
	struct error error = ERROR_INIT;

	(void)state;
	assert_ptr_equal(command_lookup(&shell, "stacks", &error), &stacks);
	assert_ptr_equal(command_lookup(&shell, "s", &error), &step);
	assert_ptr_equal(command_lookup(&shell, "v", &error), &verdict);
	assert_ptr_equal(command_lookup(&shell, "sta", &error), &stacks);
	assert_ptr_equal(command_lookup(&screen, "z", &error), &zoom);
	assert_string_equal(error.message, "");
}

static void what_is_no_name_gives_a_sentence(void **state)
{
	struct error error = ERROR_INIT;

	(void)state;
	assert_null(command_lookup(&shell, "st", &error));
	assert_non_null(strstr(error.message, "stacks, step"));
	assert_null(command_lookup(&shell, "verdikt", &error));
	assert_non_null(strstr(error.message, "did you mean verdict?"));
	assert_null(command_lookup(&shell, "zoom", &error));
	assert_non_null(strstr(error.message, "unknown command 'zoom'"));
	assert_null(command_lookup(&shell, "", &error));
}

static void lines_are_split(void **state)
{
	static const struct {
		const char *line;
		size_t count;
		const char *last;
	} cases[] = {
		{ "", 0, NULL },
		{ "   # nothing", 0, NULL },
		{ " rank  3 ", 2, "3" },
		{ "wait verdict \"Rank 3\"", 3, "Rank 3" },
		{ "print 'a \"b\" c'", 2, "a \"b\" c" },
		{ "print a'b c'd", 2, "ab cd" },
		{ "print ''", 2, "" },
		{ "rank 3 # the odd one", 2, "3" },
		{ "print a#b", 2, "a#b" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
		struct error error = ERROR_INIT;
		struct arguments arguments;

		assert_int_equal(arguments_split(&arguments, cases[i].line, &error), 0);
		assert_int_equal(arguments.all_count, cases[i].count);
		if (arguments.all_count > 0)
			assert_string_equal(arguments.all[arguments.all_count - 1].text,
					    cases[i].last);
		assert_null(arguments.words[arguments.count]);
		arguments_clear(&arguments);
	}
}

static void an_open_quote_is_said(void **state)
{
	struct arguments arguments;
	struct error error = ERROR_INIT;

	(void)state;
	assert_int_equal(arguments_split(&arguments, "print \"a b", &error), -1);
	arguments_clear(&arguments);
	assert_non_null(strstr(error.message, "missing closing quote"));
}

static void ranks_come_last_or_are_the_focus(void **state)
{
	struct settings settings;
	struct engine engine;
	struct command_context context = { .engine = &engine };
	struct error error = ERROR_INIT;

	(void)state;
	settings_init(&settings);
	engine_init(&engine, &settings);
	rankset_add_range(&engine.session.choice.focus, 4, 6);
	engine.session.choice.is_focus_all = false;
	assert_int_equal(command_run_line(&context, &shell, "stacks x y ranks 0-2", &error), 0);
	assert_string_equal(said, "<stacks><x><y>0-2");
	command_run_line(&context, &shell, "stacks", &error);
	assert_string_equal(said, "<stacks>4-6");
	command_run_line(&context, &shell, "verdict ranks 1", &error);
	assert_string_equal(said, "<verdict><ranks><1>");
	assert_int_equal(command_run_line(&context, &shell, "stacks ranks x", &error), -1);
	assert_int_equal(context.status, 2);
	engine_clear(&engine);
}

static void a_failure_keeps_its_status(void **state)
{
	struct settings settings;
	struct engine engine;
	struct command_context context = { .engine = &engine };
	struct error error = ERROR_INIT;

	(void)state;
	settings_init(&settings);
	engine_init(&engine, &settings);
	assert_int_equal(command_run_line(&context, &shell, "refuse", &error), -1);
	assert_int_equal(context.status, 3);
	assert_int_equal(command_run_line(&context, &shell, "nothing", &error), -1);
	assert_int_equal(context.status, 2);
	assert_int_equal(command_run_line(&context, &shell, "# nothing", &error), 0);
	assert_int_equal(context.status, 0);
	engine_clear(&engine);
}

/* Words, then options with their values, then `ranks SET`, PID and text. */
static void append_arguments(struct buffer *out, const struct arguments *arguments)
{
	char *text = arguments_text(arguments, 0, arguments->count);

	for (size_t i = 0; i < arguments->count; i++)
		buffer_printf(out, "%s,", arguments->words[i]);
	for (const struct argument_option *i = arguments->options; i->name; i++)
		buffer_printf(out, " %s=%s", i->name, i->value ? i->value : "");
	if (arguments->ranks)
		buffer_printf(out, " ranks=%s", arguments->ranks);
	if (arguments->pid)
		buffer_printf(out, " pid=%s", arguments->pid);
	buffer_printf(out, " \"%s\"", text);
	free(text);
}

struct parsing {
	const char *synopsis;
	int flags;
	const char *line;
	const char *parsed; /* or the sentence */
};

static const struct parsing parsings[] = {
	{ "", COMMAND_SHELL, "do", " \"\"" },
	{ "", COMMAND_SHELL, "do x", "do takes no argument: 'x'" },
	{ "[COUNT]", COMMAND_SHELL, "do 3", "3, \"3\"" },
	{ "[COUNT]", COMMAND_SHELL, "do 3 4", "unexpected word '4'; usage: do [COUNT]" },
	{ "A B", COMMAND_SHELL, "do 0", "missing argument of do; usage: do A B" },
	{ "A B", COMMAND_SHELL, "do 0 'a b'", "0,a b, \"0 'a b'\"" },
	{ "TARGET | [--yes] [ranks SET]", COMMAND_SHELL | COMMAND_ASKS | COMMAND_RANKS,
	  "do --yes ranks 0-2", " ranks=0-2 \"\"" },
	{ "[--merge] [PID | ranks SET]", COMMAND_SHELL | COMMAND_PID, "do 4183 --merge",
	  " --merge= pid=4183 \"\"" },
	{ "[--merge] [PID | ranks SET]", COMMAND_SHELL | COMMAND_PID, "do x",
	  "unexpected word 'x'; usage: do [--merge] [PID | ranks SET]" },
	{ "[--long] [--for SECONDS] A", COMMAND_SHELL, "do --long a --for 3",
	  "a, --long= --for=3 \"a\"" },
	{ "[--for SECONDS] A", COMMAND_SHELL, "do a --for=3", "a, --for=3 \"a\"" },
	{ "[--for SECONDS]", COMMAND_SHELL, "do --for", "--for needs a value: do [--for SECONDS]" },
	{ "[--merge]", COMMAND_SHELL, "do --merge=1", "--merge takes no value" },
	{ "[--merge]", COMMAND_SHELL, "do --mrege",
	  "do has no option '--mrege'; did you mean --merge?" },
	{ "EXPR [--rank R]", COMMAND_SHELL | COMMAND_REST, "do a  + b --rank 1",
	  "a,+,b, --rank=1 \"a  + b\"" },
	{ "EXPR [ranks SET]", COMMAND_SHELL | COMMAND_REST, "do --x + 1", "--x,+,1, \"--x + 1\"" },
	{ "[--sample] EXPR [ranks SET]", COMMAND_SHELL | COMMAND_REST | COMMAND_RANKS,
	  "do --sample  a  + \"b c\"  ranks 1", "a,+,b c, --sample= ranks=1 \"a  + \"b c\"\"" },
	{ "[--sample] EXPR", COMMAND_SHELL | COMMAND_REST, "do --x --sample",
	  "--x,--sample, \"--x --sample\"" },
	{ "next | previous", COMMAND_SCREEN, "do next", "next, \"next\"" },
	{ "next | previous", COMMAND_SCREEN, "do x", "do takes next or previous" },
	{ "next | previous", COMMAND_SCREEN, "do", "do takes next or previous" },
	{ "next | previous | N", COMMAND_SCREEN, "do 3", "3, \"3\"" },
	{ "next | previous | N", COMMAND_SCREEN, "do --x", "--x, \"--x\"" },
	{ "", COMMAND_SCREEN, "do x", "x, \"x\"" },
	{ "[class | host | none]", COMMAND_SCREEN, "do x y", "do takes class, host or none" },
};

static void a_line_is_parsed_by_the_synopsis(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LENGTH(parsings); i++) {
		const struct parsing *row = &parsings[i];
		const struct command command = {
			.name = "do",
			.synopsis = row->synopsis,
			.flags = row->flags,
		};
		struct arguments arguments;
		struct error error = ERROR_INIT;
		struct buffer out = BUFFER_INIT;

		assert_int_equal(arguments_split(&arguments, row->line, &error), 0);
		arguments_begin(&arguments, &command, row->flags);
		if (arguments_parse(&arguments, &error) == 0)
			append_arguments(&out, &arguments);
		else
			buffer_append_string(&out, error.message);
		assert_string_equal(out.data, row->parsed);
		arguments_clear(&arguments);
		buffer_clear(&out);
	}
}

static int answer(struct command_context *context, struct error *error)
{
	(void)context;
	(void)error;
	say_more("answer");
	return 0;
}

static int say_on_screen(struct command_context *context, const struct arguments *arguments,
			 struct error *error)
{
	(void)context;
	(void)arguments;
	(void)error;
	snprintf(said, sizeof(said), "screen ");
	return 0;
}

static void after(struct command_context *context)
{
	(void)context;
	say_more("after");
}

/* The screen's hook runs in place of the row's function; a shell waits for the answer. */
static void a_screen_has_hooks(void **state)
{
	static const struct command ask = {
		.name = "ask",
		.synopsis = "",
		.help = "g",
		.flags = COMMAND_SHELL | COMMAND_SCREEN,
		.run = say,
		.answer = answer,
	};
	static const struct command *const rows[] = { &ask };
	static const struct command_hook hook = {
		.command = &ask,
		.run = say_on_screen,
		.after = after,
	};
	static const struct command_hook *const hooks[] = { &hook };
	static const struct command_table table = {
		.rows = rows,
		.count = 1,
		.hooks = hooks,
		.hook_count = 1,
	};
	static const struct command_tables in_shell = { { &table }, COMMAND_SHELL };
	static const struct command_tables on_screen = { { &table }, COMMAND_SCREEN };
	struct settings settings;
	struct engine engine;
	struct command_context context = { .engine = &engine };
	struct error error = ERROR_INIT;

	(void)state;
	settings_init(&settings);
	engine_init(&engine, &settings);
	assert_int_equal(command_run_line(&context, &in_shell, "ask", &error), 0);
	assert_string_equal(said, "<ask>answer");
	context.screen = &engine;
	assert_int_equal(command_run_line(&context, &on_screen, "ask", &error), 0);
	assert_string_equal(said, "screen after");
	engine_clear(&engine);
}

static void near_names_are_offered(void **state)
{
	static const struct {
		const char *word;
		const char *best;
	} cases[] = {
		{ "stcks", "stacks" },
		{ "vedrict", "verdict" },
		{ "xy", NULL },
		{ "", NULL },
		{ "completelydifferent", NULL },
		{ "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", NULL },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
		struct nearest nearest;

		nearest_init(&nearest, cases[i].word);
		nearest_offer(&nearest, "stacks");
		nearest_offer(&nearest, "verdict");
		if (cases[i].best)
			assert_string_equal(nearest.best, cases[i].best);
		else
			assert_null(nearest.best);
	}
}

static void help_is_wrapped_and_never_cut(void **state)
{
	static const struct command row = {
		.name = "watch",
		.synopsis = "--one VALUE | --two [VALUE] | and a third way of saying this "
			    "[ranks SET]",
		.help = "what it does is said in so many words that they need a second line",
		.flags = COMMAND_SHELL,
	};
	static const struct command hidden = {
		.name = "click",
		.synopsis = "",
		.help = "of the mouse",
		.flags = COMMAND_SHELL | COMMAND_INTERNAL,
	};
	static const struct command *const rows[] = { &row, &hidden };
	const struct command_table table = { .rows = rows, .count = 2 };
	const struct command_tables tables = { { &table }, COMMAND_SHELL };
	struct buffer out = BUFFER_INIT;

	(void)state;
	command_append_help(&out, &tables);
	assert_string_equal(
		out.data,
		"  watch --one VALUE | --two [VALUE] | and a third way of saying this [ranks\n"
		"        SET]\n"
		"                              what it does is said in so many words that they\n"
		"                              need a second line\n");
	buffer_clear(&out);
}

/* Every row can be called by its full name, and says what it is. */
static void the_engines_table_is_whole(void **state)
{
	struct error error = ERROR_INIT;

	(void)state;
	for (size_t i = 0; i < engine_commands.count; i++) {
		const struct command *row = engine_commands.rows[i];
		const struct command_tables tables = { { &engine_commands }, row->flags };

		assert_ptr_equal(command_lookup(&tables, row->name, &error), row);
		assert_true(strlen(row->help) > 0 && strlen(row->help) <= 110);
		assert_non_null(row->synopsis);
		assert_non_null(row->run);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(help_is_wrapped_and_never_cut),
		cmocka_unit_test(names_aliases_and_abbreviations),
		cmocka_unit_test(what_is_no_name_gives_a_sentence),
		cmocka_unit_test(lines_are_split),
		cmocka_unit_test(an_open_quote_is_said),
		cmocka_unit_test(ranks_come_last_or_are_the_focus),
		cmocka_unit_test(a_failure_keeps_its_status),
		cmocka_unit_test(a_line_is_parsed_by_the_synopsis),
		cmocka_unit_test(a_screen_has_hooks),
		cmocka_unit_test(near_names_are_offered),
		cmocka_unit_test(the_engines_table_is_whole),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
