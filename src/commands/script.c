#include "commands/script.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "banned.h"
#include "base/buffer.h"
#include "base/error.h"
#include "base/loop.h"
#include "commands/commands.h"
#include "engine/collect.h"
#include "engine/command.h"
#include "engine/engine.h"
#include "engine/script-events.h"

/* A script exits with 1 after any error or finding, else with 4 if any answer was partial. */
static void script_add_status(int *status, int result, int command_status)
{
	if (result < 0 || command_status == STATUS_FINDING)
		*status = STATUS_FINDING;
	else if (command_status == STATUS_PARTIAL && *status == STATUS_DONE)
		*status = STATUS_PARTIAL;
}

/* Number of stops of the selected rank (or child process); 0: never stopped. */
static uint64_t script_stops_of(const struct command_context *context)
{
	const struct rank *rank = session_looked_at(&context->engine->session);

	return rank ? rank->debugger.stops : 0;
}

static void script_on_line(int fd, int events, void *data)
{
	(void)fd;
	(void)events;
	*(bool *)data = true;
}

static bool is_set(const struct engine *engine, void *data)
{
	(void)engine;
	return *(bool *)data;
}

void script_await_line(struct engine *engine, FILE *file)
{
	struct stat about;
	struct loop_watch *watch;
	bool is_there = false;

	if (file != stdin || !engine->loop ||
	    (engine->settings.program_count == 0 && engine->settings.machine_count == 0) ||
	    fstat(STDIN_FILENO, &about) < 0 ||
	    !(S_ISFIFO(about.st_mode) || S_ISSOCK(about.st_mode) || isatty(STDIN_FILENO)))
		return;
	watch = loop_watch(engine->loop, STDIN_FILENO, LOOP_READABLE, script_on_line, &is_there);
	while (!is_there && !engine_is_deaf(engine))
		engine_wait(engine, is_set, &is_there, 3600);
	loop_watch_stop(watch);
}

static ssize_t script_read_line(struct command_context *context, FILE *file, char **line,
				size_t *capacity)
{
	script_await_line(context->engine, file);
	return getline(line, capacity, file);
}

static int run_lines(struct command_context *context, const struct command_tables *tables,
		     FILE *file, struct error *error)
{
	char *line = NULL;
	size_t capacity = 0;
	size_t number = 0;
	ssize_t length;
	int status = STATUS_DONE;
	uint64_t stops = script_stops_of(context);

	/* Unbuffered: lines in stdio's buffer would not make the descriptor readable. */
	if (file == stdin)
		setvbuf(file, NULL, _IONBF, 0);
	while (!context->wants_quit &&
	       (length = script_read_line(context, file, &line, &capacity)) >= 0) {
		struct error failure = ERROR_INIT;
		size_t told = context->stops_told;
		int result;

		number++;
		if (length > 0 && line[length - 1] == '\n')
			line[length - 1] = '\0';
		context->is_fresh = false;
		result = command_run_line(context, tables, line, &failure);
		script_append_events(context);
		if (script_stops_of(context) != stops && context->stops_told != told)
			command_display_stop(context);
		/* A stop that comes during the wait for the next line is shown after that line. */
		stops = script_stops_of(context);
		if (result < 0) {
			error_prefix(&failure, "line %zu", number);
			script_append_error(context, context->failed_rank, line, failure.message);
		}
		script_add_status(&status, result, context->status);
		if (script_flush(context, error) < 0)
			break;
	}
	free(line);
	return error_is_set(error) ? -1 : status;
}

int script_run(struct command_context *context, const struct command_tables *tables,
	       const char *path, struct error *error)
{
	bool is_input = strcmp(path, "-") == 0;
	FILE *file = is_input ? stdin : fopen(path, "re");
	int status;

	if (!file)
		return error_set_errno(error, errno, "cannot open the script %s", path);
	status = run_lines(context, tables, file, error);
	if (status >= 0 && ferror(file)) {
		error_set_errno(error, errno, "cannot read the script %s", path);
		status = -1;
	}
	if (!is_input)
		fclose(file);
	rankset_clear(&context->exited);
	return status;
}
