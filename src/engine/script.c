#include "engine/script.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "banned.h"
#include "base/buffer.h"
#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "engine/command.h"
#include "engine/engine.h"
#include "engine/format.h"
#include "engine/gather.h"

int script_flush(struct command_context *context, struct error *error)
{
	int result = file_write(STDOUT_FILENO, context->out->data,
				context->out->length);
	int why = errno;

	file_write(STDERR_FILENO, context->notes->data, context->notes->length);
	buffer_reset(context->out);
	buffer_reset(context->notes);
	/* A reader that leaves has seen enough. */
	if (result < 0 && why != EPIPE)
		error_set_errno(error, why, "cannot write the answer");
	return result;
}

static void append_exit(struct command_context *context,
			const struct process *process)
{
	const char *signal = process->exit_signal > 0
				     ? sigabbrev_np(process->exit_signal)
				     : NULL;
	json_t *json;

	if (!context->is_json) {
		buffer_printf(context->out, "rank %d exited", process->rank);
		if (signal)
			buffer_printf(context->out, " by SIG%s", signal);
		else if (process->exit_code >= 0)
			buffer_printf(context->out, " with %d",
				      process->exit_code);
		buffer_append_char(context->out, '\n');
		return;
	}
	json = json_object();
	json_object_set_new(json, "event", json_string("exited"));
	json_object_set_new(json, "rank", json_integer(process->rank));
	json_object_set_new(json, "code",
			    process->exit_code >= 0
				    ? json_integer(process->exit_code)
				    : json_null());
	json_object_set_new(json, "signal",
			    signal ? json_sprintf("SIG%s", signal)
				   : json_null());
	format_document(context->out, json);
}

void script_append_exits(struct command_context *context)
{
	const struct session *session = &context->engine->session;

	for (size_t i = 0; i < session->rank_count; i++) {
		const struct process *process = &session->ranks[i]->process;

		if (process->state != PROCESS_EXITED || process->pid <= 0) {
			rankset_remove(&context->exited, process->rank);
			continue;
		}
		if (rankset_contains(&context->exited, process->rank))
			continue;
		rankset_add(&context->exited, process->rank);
		append_exit(context, process);
	}
}

static void append_failure(struct command_context *context, const char *line,
			   size_t number, struct error *error)
{
	json_t *json;

	error_prefix(error, "line %zu", number);
	if (!context->is_json) {
		buffer_append_string(context->notes, "probetui: ");
		format_text(context->notes, error->message);
		buffer_append_char(context->notes, '\n');
		return;
	}
	json = json_object();
	json_object_set_new(json, "event", json_string("error"));
	json_object_set_new(json, "rank", json_null());
	json_object_set_new(json, "command", json_text(line));
	json_object_set_new(json, "error", json_text(error->message));
	format_document(context->out, json);
}

/* Errors and findings make the script's status 1; what is partial, 4. */
static void add_status(int *status, int result, int command_status)
{
	if (result < 0 || command_status == STATUS_FINDING)
		*status = STATUS_FINDING;
	else if (command_status == STATUS_PARTIAL && *status == STATUS_DONE)
		*status = STATUS_PARTIAL;
}

static int run_lines(struct command_context *context,
		     const struct command_table *tables, size_t table_count,
		     FILE *file, struct error *error)
{
	char *line = NULL;
	size_t capacity = 0;
	size_t number = 0;
	ssize_t length;
	int status = STATUS_DONE;

	while (!context->wants_quit &&
	       (length = getline(&line, &capacity, file)) >= 0) {
		struct error failure = ERROR_INIT;
		int result;

		number++;
		if (length > 0 && line[length - 1] == '\n')
			line[length - 1] = '\0';
		context->is_fresh = false;
		result = command_run_line(context, tables, table_count, line,
					  COMMAND_SHELL, &failure);
		script_append_exits(context);
		if (result < 0)
			append_failure(context, line, number, &failure);
		add_status(&status, result, context->status);
		if (script_flush(context, error) < 0)
			break;
	}
	free(line);
	return error_is_set(error) ? -1 : status;
}

int script_run(struct command_context *context,
	       const struct command_table *tables, size_t table_count,
	       const char *path, struct error *error)
{
	bool is_input = strcmp(path, "-") == 0;
	FILE *file = is_input ? stdin : fopen(path, "re");
	int status;

	if (!file)
		return error_set_errno(error, errno,
				       "cannot open the script %s", path);
	status = run_lines(context, tables, table_count, file, error);
	if (status >= 0 && ferror(file)) {
		error_set_errno(error, errno, "cannot read the script %s",
				path);
		status = -1;
	}
	if (!is_input)
		fclose(file);
	rankset_clear(&context->exited);
	return status;
}
