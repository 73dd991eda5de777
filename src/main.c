/*
 * probetui: parses the options and starts the screen, a command or a script. Without a command or
 * script, the screen is shown on a terminal; a command or script exits when it is done.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "config.h"

#include "backends/program.h"
#include "banned.h"
#include "base/alloc.h"
#include "base/array.h"
#include "base/buffer.h"
#include "base/error.h"
#include "base/file.h"
#include "base/log.h"
#include "base/text.h"
#include "commands/script.h"
#include "engine/collect.h"
#include "engine/command.h"
#include "engine/engine.h"
#include "engine/format.h"
#include "engine/script-events.h"
#include "engine/settings.h"
#include "ui/app.h"
#include "ui/commands.h"
#include "ui/keymap.h"
#include "ui/screen.h"
#include "ui/theme.h"

static void print_error(const struct error *error)
{
	struct buffer line = BUFFER_INIT;

	text_escape(&line, error->message, strlen(error->message));
	fprintf(stderr, "probetui: %s\n", line.data);
	buffer_clear(&line);
}

static void main_append_options(struct buffer *out)
{
	for (size_t i = 0; i < setting_option_count; i++) {
		const struct setting_option *option = &setting_options[i];
		char letter[] = "    ";
		char name[40];

		if (option->letter)
			snprintf(letter, sizeof(letter), "-%c, ", option->letter);
		snprintf(name, sizeof(name), "--%s%s%s", option->name, option->argument ? " " : "",
			 option->argument ? option->argument : "");
		buffer_printf(out, "  %s%-20s  %s\n", letter, name, option->help);
	}
}

/* Prints with file_write(), which reports a full disk at once, unlike printf(). */
static int print_answer(const char *text)
{
	struct error error = ERROR_INIT;

	if (file_write(STDOUT_FILENO, text, strlen(text)) == 0)
		return STATUS_DONE;
	error_set_errno(&error, errno, "cannot write to standard output");
	print_error(&error);
	return STATUS_USAGE;
}

/*
 * Prints error and returns status. With --json, standard output is one JSON value also for an
 * error, with the error's sentence and the exit status.
 */
static int main_fail(const struct settings *settings, const struct error *error, int status)
{
	struct buffer out = BUFFER_INIT;

	print_error(error);
	if (!settings->is_json)
		return status;
	format_document(&out, json_pack("{s:s, s:i}", "error", error->message, "status", status));
	print_answer(out.data);
	buffer_clear(&out);
	return status;
}

static int print_help(void)
{
	struct buffer out = BUFFER_INIT;
	int status;

	buffer_append_string(
		&out,
		"probetui shows all ranks of a distributed Python job side by side, and which\n"
		"rank is the outlier. Sampling neither stops nor changes a rank; a rank on this\n"
		"host, or in a debugger, can be stopped and stepped.\n\n"
		"  probetui [OPTIONS]                      show the screen\n"
		"  probetui [OPTIONS] COMMAND [ARGUMENTS]  run one command\n"
		"  probetui [OPTIONS] -x FILE              run a script of commands\n"
		"  probetui [OPTIONS] -- PROGRAM ARGS...   start a job and show the screen\n\n"
		"Options:\n");
	main_append_options(&out);
	buffer_append_string(&out, "\nCommands:\n");
	command_append_help(&out, &shell_commands);
	buffer_append_string(
		&out,
		"\nExit status: 0 no finding, 1 a finding (such as an outlier), 2 wrong usage,\n"
		"3 no rank could be reached, 4 some ranks did not answer.\n");
	status = print_answer(out.data);
	buffer_clear(&out);
	return status;
}

/* `probetui stacks --help` describes `stacks`. */
static int print_help_of(const struct settings *settings)
{
	struct error error = ERROR_INIT;
	struct buffer out = BUFFER_INIT;
	int status = STATUS_USAGE;

	if (command_append_help_of(&out, &shell_commands, settings->command[0], &error) < 0)
		main_fail(settings, &error, status);
	else
		status = print_answer(out.data);
	buffer_clear(&out);
	return status;
}

static int print_agent_path(void)
{
	struct error error = ERROR_INIT;
	char *path = file_agent_folder(&error);
	char *line;
	int status;

	if (!path) {
		print_error(&error);
		return STATUS_USAGE;
	}
	line = xasprintf("%s\n", path);
	free(path);
	status = print_answer(line);
	free(line);
	return status;
}

static void print_timing(const struct engine *engine)
{
	const char *wanted = getenv("PROBETUI_TIMING");
	struct buffer out = BUFFER_INIT;

	if (!wanted || wanted[0] == '\0')
		return;
	timing_append(&out, &engine->timing);
	fputs(out.data, stderr);
	buffer_clear(&out);
}

/* Prints the verdict, and below the verdict the merged stacks; the exit status is the verdict's. */
static int run_summary(struct command_context *context, struct error *error)
{
	char *verdict[] = { "verdict", NULL };
	char *stacks[] = { "stacks", "--merge", NULL };
	int status;

	if (command_run_words(context, &shell_commands, 1, verdict, error) < 0)
		return -1;
	if (context->is_json)
		return 0;
	status = context->status;
	buffer_append_char(context->out, '\n');
	/* Drop the verdict's notes, which `stacks` would repeat. */
	buffer_reset(context->notes);
	if (command_run_words(context, &shell_commands, 2, stacks, error) < 0)
		return -1;
	context->status = status;
	return 0;
}

/* Without a screen, probetui writes the started job's output to standard error. */
static void pass_printed(const char *text)
{
	struct buffer out = BUFFER_INIT;

	/* The job wrote to a terminal, which turned \n into \r\n: undo that. */
	for (; *text; text++)
		if (text[0] != '\r' || text[1] != '\n')
			buffer_append_char(&out, *text);
	file_write(STDERR_FILENO, out.data, out.length);
	buffer_clear(&out);
}

/* Sets the breakpoints of --break, before ranks are searched for. */
static int add_breakpoints(struct engine *engine, struct error *error)
{
	struct buffer out = BUFFER_INIT;
	struct buffer notes = BUFFER_INIT;
	int result = 0;

	for (size_t i = 0; i < engine->settings.break_count && result == 0; i++) {
		struct command_context context = {
			.engine = engine,
			.out = &out,
			.notes = &notes,
		};
		char *line = xasprintf("break %s", engine->settings.breaks[i]);

		result = command_run_line(&context, &shell_commands, line, error);
		free(line);
	}
	buffer_clear(&notes);
	buffer_clear(&out);
	return result < 0 ? error_prefix(error, "--break") : 0;
}

static int run_command(struct command_context *context, struct error *error)
{
	const struct settings *settings = &context->engine->settings;

	if (settings->script) {
		context->status = script_run(context, &shell_commands, settings->script, error);
		return context->status < 0 ? -1 : 0;
	}
	if (settings->command_count == 0)
		return run_summary(context, error);
	return command_run_words(context, &shell_commands, (int)settings->command_count,
				 settings->command, error);
}

/*
 * Exit status of a failed start: wrong usage if the options name a recording or a program;
 * otherwise, no node could be reached.
 */
static int start_status(const struct engine *engine)
{
	return engine->settings.replay_count > 0 || engine->settings.record ||
			       engine->settings.program_count > 0
		       ? STATUS_USAGE
		       : STATUS_NOTHING;
}

/* True if the command needs no ranks (`help`). */
static bool main_is_alone(const struct settings *settings)
{
	const struct command *command;

	if (settings->script || settings->command_count == 0)
		return false;
	command = command_lookup(&shell_commands, settings->command[0], NULL);
	return command && (command->flags & COMMAND_ALONE);
}

/* Prints the state of the started job when no screen shows it. */
static void print_job(const struct engine *engine)
{
	const struct session *session = &engine->session;
	const char *log = session->launching.job.log;
	struct buffer out = BUFFER_INIT;

	launching_append(&out, session);
	if (out.length > 0 && launching_is_alive(session) && log) {
		buffer_append_string(&out, " and keeps running; its output goes to ");
		text_escape(&out, log, strlen(log));
	}
	if (out.length > 0)
		fprintf(stderr, "probetui: %s\n", out.data);
	buffer_clear(&out);
}

/*
 * True if the started job inherits standard input: with a script in a file, without --tty, and if
 * standard input is not a terminal.
 */
static bool is_input_the_jobs(const struct settings *settings)
{
	return settings->program_count > 0 && settings->script &&
	       strcmp(settings->script, "-") != 0 && !settings->wants_tty && !isatty(STDIN_FILENO);
}

static int check_theme(const struct settings *settings, struct error *error)
{
	struct theme theme;

	if (!settings->theme || theme_load(&theme, settings->theme, error) == 0)
		return 0;
	if (settings->theme_line > 0)
		error_prefix(error, "%s: line %d", settings->config, settings->theme_line);
	return -1;
}

/*
 * True if the node may be a fork of this process, which only commands that sample allow. A node
 * that stops ranks must be another program file, because such a node must survive to resume the
 * ranks: a user who kills all processes of this file (pidof) would also kill a forked node.
 */
static bool may_fork(const struct settings *settings)
{
	const char *named = getenv("PROBETUI_NODE");
	const struct command *command;

	if ((named && named[0] != '\0') || settings->script || settings->program_count > 0 ||
	    settings->record || settings->break_count > 0)
		return false;
	if (settings->command_count == 0)
		return true;
	command = command_lookup(&shell_commands, settings->command[0], NULL);
	return command && (command->flags & COMMAND_LIVE);
}

static int run_shell(struct engine *engine)
{
	struct buffer out = BUFFER_INIT;
	struct buffer notes = BUFFER_INIT;
	struct command_context context = {
		.engine = engine,
		.out = &out,
		.notes = &notes,
		.is_json = engine->settings.is_json,
	};
	struct error error = ERROR_INIT;

	engine->job.printed = pass_printed;
	engine->job.passes_input = is_input_the_jobs(&engine->settings);
	if (may_fork(&engine->settings))
		engine->node_program = program_run;
	if (!main_is_alone(&engine->settings) && engine_start(engine, &error) < 0)
		return main_fail(&engine->settings, &error, start_status(engine));
	if (run_command(&context, &error) < 0) {
		if (context.status <= 0)
			context.status = STATUS_USAGE;
		if (out.length > 0 || context.has_written || engine->settings.script)
			print_error(&error);
		else
			main_fail(&engine->settings, &error, context.status);
	} else if (check_theme(&engine->settings, &error) < 0) {
		/* `set theme` only stores the name, so load the theme once to check it. */
		print_error(&error);
		context.status = STATUS_USAGE;
	}
	error = (struct error)ERROR_INIT;
	if (script_flush(&context, &error) < 0 && error_is_set(&error)) {
		print_error(&error);
		context.status = STATUS_USAGE;
	}
	if (context.status == STATUS_DONE && engine_replays_partly(engine))
		context.status = STATUS_PARTIAL;
	if (launching_is_alive(&engine->session))
		print_job(engine);
	timing_mark(&engine->timing, TIMING_WRITTEN);
	print_timing(engine);
	buffer_clear(&notes);
	buffer_clear(&out);
	return context.status;
}

/* Gives the job's terminal the size of the view that shows its output. */
static void main_measure(struct engine *engine)
{
	struct winsize size;

	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > 0 && size.ws_col > 0)
		started_terminal_size(size.ws_row, size.ws_col, &engine->job.rows,
				      &engine->job.columns);
}

static int run_screen(struct engine *engine)
{
	struct error error = ERROR_INIT;
	int status = STATUS_DONE;

	engine->is_screen = true;
	main_measure(engine);
	/* Check the screen first: do not start a job that no screen could show. */
	if (screen_check(&error) < 0)
		status = STATUS_USAGE;
	else if (engine_start(engine, &error) < 0)
		status = start_status(engine);
	else if (app_run(engine, &error) < 0)
		status = STATUS_USAGE;
	if (status != STATUS_DONE)
		print_error(&error);
	else
		print_job(engine);
	return status;
}

/* Checks the key bindings of the config, even if no screen is started. */
static int main_check_keys(const struct settings *settings, struct error *error)
{
	struct keymap keymap;
	int result;

	keymap_init(&keymap);
	result = keymap_add_config(&keymap, settings, error);
	keymap_clear(&keymap);
	return result;
}

/*
 * For `--replay a b c`: takes the arguments behind the first recording as further recordings, as
 * long as they are existing files and not commands.
 */
static void take_recordings(struct settings *settings)
{
	size_t count = 0;

	if (settings->replay_count == 0)
		return;
	while (count < settings->command_count &&
	       !command_lookup(&shell_commands, settings->command[count], NULL) &&
	       access(settings->command[count], F_OK) == 0)
		settings_add_replay(settings, settings->command[count++]);
	settings->command_count -= count;
	memmove(settings->command, settings->command + count,
		settings->command_count * sizeof(*settings->command));
}

/* For `pause 4183`: if no option names a target, the process with this pid is the target. */
static void main_take_pid(struct settings *settings)
{
	const struct command *command;

	if (settings->command_count < 2 || settings->script || settings->pid_count > 0 ||
	    settings->machine_count > 0 || settings->connect_count > 0 ||
	    settings->replay_count > 0 || settings->ranks || settings->job ||
	    !settings_is_pid(settings->command[1]))
		return;
	command = command_lookup(&shell_commands, settings->command[0], NULL);
	if (command && (command->flags & COMMAND_PID))
		settings_add_pid(settings, (pid_t)strtol(settings->command[1], NULL, 10));
}

static bool is_for_screen(const struct settings *settings)
{
	return settings->command_count == 0 && !settings->script && !settings->is_json &&
	       isatty(STDOUT_FILENO) && isatty(STDIN_FILENO);
}

/* Reports a mistyped command before any job or node is started. */
static int check_command(struct settings *settings, struct error *error)
{
	take_recordings(settings);
	main_take_pid(settings);
	if (settings->program_count > 0 && settings->command_count == 0 && !settings->script &&
	    !is_for_screen(settings))
		return error_set(error, "cannot start a job without a terminal for the screen: use "
					"a script (`probetui -x FILE -- PROGRAM`)");
	if (settings_check_machines(settings, error) < 0 ||
	    settings_check_program(settings, error) < 0 ||
	    settings_check_script(settings, error) < 0 || check_theme(settings, error) < 0 ||
	    main_check_keys(settings, error) < 0)
		return -1;
	if (settings->command_count > 0 &&
	    !command_lookup(&shell_commands, settings->command[0], error))
		return -1;
	return 0;
}

static int main_run(struct settings *settings, const struct timing *timing)
{
	bool is_screen = is_for_screen(settings);
	struct error error = ERROR_INIT;
	struct engine engine;
	int status;

	engine_init(&engine, settings);
	engine.timing = *timing;
	if (add_breakpoints(&engine, &error) < 0) {
		status = main_fail(settings, &error, STATUS_USAGE);
	} else {
		status = is_screen ? run_screen(&engine) : run_shell(&engine);
	}
	if (!engine_clear(&engine) && status == STATUS_DONE)
		status = STATUS_PARTIAL;
	return status;
}

int main(int argc, char **argv)
{
	struct timing timing = { .parsing = 0 };
	struct error error = ERROR_INIT;
	struct settings settings;
	int status = STATUS_USAGE;

	timing_mark(&timing, TIMING_MAIN);
	standard_open();
	log_set_name("probetui");
	/* Writing to a closed pipe, of a node or of stdout's reader, then fails with EPIPE. */
	signal(SIGPIPE, SIG_IGN);
	/* Writing beyond `ulimit -f` then fails with EFBIG. */
	signal(SIGXFSZ, SIG_IGN);
	settings_init(&settings);
	if (settings_parse(&settings, argc, argv, &error) < 0) {
		status = main_fail(&settings, &error, STATUS_USAGE);
	} else if (settings.wants_help) {
		take_recordings(&settings);
		status = settings.command_count > 0 ? print_help_of(&settings) : print_help();
	} else if (settings.wants_version) {
		status = print_answer("probetui " PACKAGE_VERSION "\n");
	} else if (settings.wants_agent_path) {
		status = print_agent_path();
	} else if (check_command(&settings, &error) < 0) {
		status = main_fail(&settings, &error, STATUS_USAGE);
	} else {
		status = main_run(&settings, &timing);
	}
	settings_clear(&settings);
	return status;
}
