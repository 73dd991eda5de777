#include "engine/script-events.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "banned.h"
#include "base/buffer.h"
#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "base/loop.h"
#include "engine/collect.h"
#include "engine/command.h"
#include "engine/engine.h"
#include "engine/format.h"
#include "model/place.h"

int script_flush(struct command_context *context, struct error *error)
{
	int result = file_write(STDOUT_FILENO, context->out->data, context->out->length);
	int why = errno;

	context->has_written = context->has_written || context->out->length > 0;
	file_write(STDERR_FILENO, context->notes->data, context->notes->length);
	buffer_reset(context->out);
	buffer_reset(context->notes);
	/* EPIPE is no error: the reader has closed the pipe on purpose. */
	if (result < 0 && why != EPIPE)
		error_set_errno(error, why, "cannot write the answer");
	return result;
}

static void script_events_append_exit(struct command_context *context,
				      const struct process *process)
{
	const char *signal = process->exit_signal > 0 ? sigabbrev_np(process->exit_signal) : NULL;
	json_t *json;

	if (!context->is_json) {
		buffer_printf(context->out, "rank %d ", process->rank);
		if (signal)
			buffer_printf(context->out, "was killed by SIG%s", signal);
		else if (process->exit_code >= 0)
			buffer_printf(context->out, "exited with code %d", process->exit_code);
		else
			buffer_append_string(context->out, "exited");
		buffer_append_char(context->out, '\n');
		return;
	}
	json = json_object();
	json_object_set_new(json, "event", json_string("exited"));
	json_object_set_new(json, "rank", json_integer(process->rank));
	json_object_set_new(json, "code",
			    process->exit_code >= 0 ? json_integer(process->exit_code)
						    : json_null());
	json_object_set_new(json, "signal", signal ? json_sprintf("SIG%s", signal) : json_null());
	format_document(context->out, json);
}

/* Reports the end of the started job, once. */
static void script_events_append_job(struct command_context *context)
{
	const struct session *session = &context->engine->session;
	const struct launched *job = &session->launching.job;
	const char *signal = job->exit_signal > 0 ? sigabbrev_np(job->exit_signal) : NULL;
	json_t *json;

	if (context->was_job_told || job->state <= LAUNCHED_RUNNING)
		return;
	context->was_job_told = true;
	if (!context->is_json) {
		launching_append(context->out, session);
		buffer_append_char(context->out, '\n');
		return;
	}
	json = json_object();
	json_object_set_new(json, "event", json_string("job"));
	json_object_set_new(json, "pid", json_integer(job->pid));
	json_object_set_new(json, "code",
			    job->exit_code >= 0 ? json_integer(job->exit_code) : json_null());
	json_object_set_new(json, "signal", signal ? json_sprintf("SIG%s", signal) : json_null());
	format_document(context->out, json);
}

static void append_exits(struct command_context *context)
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
		script_events_append_exit(context, process);
	}
}

static json_t *script_events_frame_of(const struct stop *stop)
{
	json_t *json;

	if (!stop->func)
		return json_null();
	json = json_object();
	json_object_set_new(json, "func", json_text(stop->func));
	json_object_set_new(json, "qualname", json_text(stop->qualname));
	json_object_set_new(json, "file", json_text(stop->file));
	json_object_set_new(json, "lineno",
			    stop->line > 0 ? json_integer(stop->line) : json_null());
	json_object_set_new(json, "depth", json_integer(0));
	json_object_set_new(json, "frame_type", json_string("Python"));
	json_object_set_new(json, "is_user", json_boolean(stop->is_user));
	return json;
}

static json_t *held_to_json(double seconds)
{
	if (seconds < 0)
		return json_null();
	return json_real((double)(int64_t)(seconds * 1000 + 0.5) / 1000);
}

static void append_stop_json(struct buffer *out, const struct stop *stop)
{
	const char *at = stop_event_name(stop->at);
	json_t *json = json_object();
	json_t *hits = json_array();

	for (size_t i = 0; i < stop->hit_count; i++)
		json_array_append_new(hits, json_integer(stop->hits[i]));
	json_object_set_new(json, "event", json_string("stopped"));
	json_object_set_new(json, "rank", json_integer(stop->rank));
	json_object_set_new(json, "tid", json_integer(stop->tid));
	json_object_set_new(json, "reason", json_string(stop_reason_name(stop->reason)));
	json_object_set_new(json, "at", at ? json_string(at) : json_null());
	json_object_set_new(json, "value", json_text(stop->value));
	json_object_set_new(json, "description", json_text(stop->description));
	json_object_set_new(json, "hit", hits);
	json_object_set_new(json, "frame", script_events_frame_of(stop));
	json_object_set_new(json, "held_s", held_to_json(stop->held));
	format_document(out, json);
}

/* Appends "rank 1 stopped: breakpoint 1  train (train.py:14)". */
static void script_events_append_stop(struct buffer *out, const struct stop *stop)
{
	bool is_said;

	buffer_printf(out, "rank %d stopped: ", stop->rank);
	format_text(out, stop->description);
	/* The description may already contain the exception. */
	is_said = stop->at == STOP_AT_EXCEPTION && stop->value &&
		  strstr(stop->description, stop->value);
	if (stop->value && !is_said) {
		buffer_append_string(out, ": ");
		format_text(out, stop->value);
	}
	if (stop->func) {
		buffer_append_string(out, "  ");
		format_text(out, stop->func);
		buffer_append_string(out, " (");
		format_text(out, place_file_name(stop->file));
		buffer_printf(out, ":%d)", stop->line);
	}
	buffer_append_char(out, '\n');
}

/* Appends the output of a log point: "rank 1, breakpoint 2: x=5". */
static void append_said(struct command_context *context, const struct stop *stop)
{
	json_t *json;

	if (!context->is_json) {
		buffer_printf(context->out, "rank %d, breakpoint %d: ", stop->rank, stop->hits[0]);
		format_text(context->out, stop->said);
		buffer_append_char(context->out, '\n');
		return;
	}
	json = json_object();
	json_object_set_new(json, "event", json_string("log"));
	json_object_set_new(json, "rank", json_integer(stop->rank));
	json_object_set_new(json, "breakpoint", json_integer(stop->hits[0]));
	json_object_set_new(json, "output", json_text(stop->said));
	format_document(context->out, json);
}

/* Appends "rank 2 was sent SIGTERM: resumed so that the process can handle the signal". */
static void append_resume(struct command_context *context, const struct stop *stop)
{
	json_t *json;

	if (!context->is_json) {
		format_text(context->out, stop->description);
		buffer_append_char(context->out, '\n');
		return;
	}
	json = json_object();
	json_object_set_new(json, "event", json_string("continued"));
	json_object_set_new(json, "rank", json_integer(stop->rank));
	json_object_set_new(json, "reason", json_string(resume_reason_name(stop->resumed_for)));
	json_object_set_new(json, "description", json_text(stop->description));
	format_document(context->out, json);
}

static void append_stops(struct command_context *context)
{
	const struct stops *stops = &context->engine->session.stops;

	while (context->stops_told < stops->count) {
		const struct stop *stop = stops_find(stops, context->stops_told++);

		if (!stop)
			continue;
		if (stop->said)
			append_said(context, stop);
		else if (stop->resumed_for != RESUME_REQUEST)
			append_resume(context, stop);
		else if (context->is_json)
			append_stop_json(context->out, stop);
		else
			script_events_append_stop(context->out, stop);
	}
}

/* Appends an error of the engine that no command waited for, such as a refused breakpoint. */
static void append_notice(struct command_context *context)
{
	bool is_error;
	char *notice = engine_take_notice(context->engine, &is_error);

	if (notice && is_error) {
		script_append_error(context, -1, NULL, notice);
		context->status = STATUS_FINDING;
	}
	free(notice);
}

void script_append_events(struct command_context *context)
{
	append_notice(context);
	append_stops(context);
	watch_nan_append_event(context);
	append_exits(context);
	script_events_append_job(context);
}

void script_append_error(struct command_context *context, int rank, const char *command,
			 const char *sentence)
{
	json_t *json;

	if (!context->is_json) {
		buffer_append_string(context->notes, "probetui: ");
		format_text(context->notes, sentence);
		buffer_append_char(context->notes, '\n');
		return;
	}
	json = json_object();
	json_object_set_new(json, "event", json_string("error"));
	json_object_set_new(json, "rank", rank >= 0 ? json_integer(rank) : json_null());
	json_object_set_new(json, "command", json_text(command));
	json_object_set_new(json, "error", json_text(sentence));
	format_document(context->out, json);
}
