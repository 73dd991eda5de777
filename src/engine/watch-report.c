/*
 * watch-report: what a watch says and writes about its outcome: sentences, the report and the
 * recording, and the document.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "banned.h"
#include "base/alloc.h"
#include "base/buffer.h"
#include "base/error.h"
#include "base/json.h"
#include "base/text.h"
#include "engine/blame.h"
#include "engine/collect.h"
#include "engine/command.h"
#include "engine/engine.h"
#include "engine/format.h"
#include "engine/report.h"
#include "engine/script-events.h"
#include "engine/watch-private.h"
#include "engine/watch.h"

/* A stall that began at most so many seconds before the watch is one that was watched. */
#define WATCHED_SECONDS 1.0

static const struct outcome_row {
	const char *event;
	int status;
} outcomes[] = {
	[OUTCOME_STUCK] = { "stuck", STATUS_FINDING },
	[OUTCOME_FAILED] = { "failed", STATUS_FINDING },
	[OUTCOME_ENDED] = { "ended", STATUS_DONE },
	[OUTCOME_ENDED_UNSEEN] = { "ended", STATUS_PARTIAL },
};

void watch_say(struct watch *watch, const char *format, ...)
{
	struct buffer line = BUFFER_INIT;
	va_list values;

	if (!watch->context->notes)
		return;
	va_start(values, format);
	buffer_vprintf(&line, format, values);
	va_end(values);
	buffer_append_string(watch->context->notes, "probetui: ");
	format_text(watch->context->notes, line.data);
	buffer_append_char(watch->context->notes, '\n');
	buffer_clear(&line);
	script_flush(watch->context, NULL);
}

/* Appends how the job is stuck, up to the duration. A rank for which others wait may compute. */
static void append_stuck(struct buffer *out, const struct verdict *verdict)
{
	if (verdict->state != VERDICT_PROGRESSING || rankset_count(&verdict->outliers) == 0) {
		buffer_append_string(out, "The job hangs: no rank has made progress for ");
		return;
	}
	buffer_append_string(out, "Ranks have waited for ");
	rankset_append_named(out, &verdict->outliers);
	buffer_append_string(out, " for ");
}

/* Appends how the job is stuck, and for how long. */
static void append_stall(struct buffer *out, const struct watch *watch)
{
	const struct verdict *verdict = &watch->engine->session.verdict;
	double watched = engine_now(watch->engine) - watch->began_at;

	if (watch->stood <= watched + WATCHED_SECONDS) {
		append_stuck(out, verdict);
		text_duration(out, watch->stood);
		buffer_append_string(out, ". ");
		return;
	}
	buffer_append_string(out, "The job hangs: ranks wait in a collective that they called ");
	text_duration(out, watch->stood);
	buffer_append_string(out, " ago, and have not moved in the ");
	text_duration(out, watched);
	buffer_append_string(out, " of this watch. ");
}

void watch_describe(struct watch *watch)
{
	struct buffer text = BUFFER_INIT;

	switch (watch->outcome) {
	case OUTCOME_NONE:
		break;
	case OUTCOME_STUCK:
		append_stall(&text, watch);
		buffer_append_string(&text, watch->engine->session.verdict.sentence);
		blame_hang(&watch->blame, watch->engine, &text);
		break;
	case OUTCOME_FAILED:
		blame_failure(&watch->blame, watch->engine, &text);
		break;
	case OUTCOME_ENDED:
		buffer_append_string(&text, "The job has ended successfully.");
		break;
	case OUTCOME_ENDED_UNSEEN:
		buffer_append_string(&text,
				     "The job has ended; the exit codes of its ranks are unknown.");
		break;
	}
	watch->report.event = outcomes[watch->outcome].event;
	watch->report.before = watch->before;
	watch->report.says_before = watch->blame.says_verdict;
	free(watch->report.headline);
	watch->report.headline = buffer_take(&text);
}

static const char *const suffixes[] = { ".txt", ".recording", NULL };

void watch_begin_recording(struct watch *watch)
{
	const struct session *session = &watch->engine->session;
	const struct job *job = session->job >= 0 ? &session->jobs[session->job] : NULL;
	struct error error = ERROR_INIT;
	struct timespec now;

	if (!watch->options->folder || watch->outcome == OUTCOME_ENDED)
		return;
	clock_gettime(CLOCK_REALTIME, &now);
	watch->base = folder_name(watch->options->folder, job && job->name ? job->name : "",
				  session->nodes[0].name, (double)now.tv_sec, suffixes);
	watch->recording = xasprintf("%s%s", watch->base, suffixes[1]);
	if (engine_record_path(watch->engine) ||
	    engine_record(watch->engine, watch->recording, &error) == 0)
		return;
	watch_say(watch, "%s", error.message);
	free(watch->recording);
	watch->recording = NULL;
}

/* With --record: puts a copy of the recording beside the report. */
static void copy_recording(struct watch *watch, bool is_last)
{
	struct error error = ERROR_INIT;

	if (!watch->recording || !watch->engine->settings.record)
		return;
	/* The recording of all attempts is copied once, for the last. */
	if (!is_last) {
		free(watch->recording);
		watch->recording = xstrdup_or_null(engine_record_path(watch->engine));
		return;
	}
	if (engine_record_copy(watch->engine, watch->recording, &error) == 0)
		return;
	watch_say(watch, "%s", error.message);
	free(watch->recording);
	watch->recording = xstrdup_or_null(engine_record_path(watch->engine));
}

/*
 * Writes the report and returns its path. Returns NULL with the error set on failure, and NULL
 * without an error if no report is wanted.
 */
static char *write_report(struct watch *watch, struct error *error)
{
	struct buffer page = BUFFER_INIT;
	char *path;
	int result;

	if (!watch->base)
		return NULL;
	path = xasprintf("%s%s", watch->base, suffixes[0]);
	report_append(&page, &watch->report, watch->engine);
	result = folder_write(path, page.data, page.length, error);
	buffer_clear(&page);
	if (result == 0)
		return path;
	free(path);
	return NULL;
}

static json_t *job_to_json(const struct watch *watch)
{
	const struct session *session = &watch->engine->session;
	const struct job *job = session->job >= 0 ? &session->jobs[session->job] : NULL;

	return job && job->name && job->name[0] != '\0' ? json_text(job->name) : json_null();
}

static json_t *watch_to_json(const struct watch *watch, const char *report)
{
	const struct verdict *verdict = &watch->engine->session.verdict;
	const char *sentence =
		json_get_string(watch->report.verdict_json, "verdict", verdict->sentence);
	json_t *json = json_object();

	json_object_set_new(json, "event", json_string(outcomes[watch->outcome].event));
	json_object_set_new(json, "job", job_to_json(watch));
	blame_to_json(&watch->blame, watch->engine, watch->report.clock, json);
	json_object_set_new(json, "headline", json_text(watch->report.headline));
	json_object_set_new(json, "verdict", json_text(sentence));
	json_object_set_new(json, "report", json_text(report));
	json_object_set_new(json, "recording", json_text(watch->recording));
	return json;
}

/* Prints the document of the last attempt, with those before; keeps that of any other. */
static void take_document(struct watch *watch, json_t *owned_document, bool is_last)
{
	if (!watch->attempts)
		watch->attempts = json_array();
	if (!is_last) {
		json_array_append_new(watch->attempts, owned_document);
		return;
	}
	json_object_set(owned_document, "earlier_attempts", watch->attempts);
	format_document(watch->context->out, owned_document);
}

static void append_paths(struct watch *watch, const char *report)
{
	if (report)
		buffer_printf(watch->context->out, "%s\n", report);
	if (watch->recording)
		buffer_printf(watch->context->out, "%s\n", watch->recording);
	if (!report && !watch->recording)
		buffer_append(watch->context->out, watch->report.verdict.data,
			      watch->report.verdict.length);
}

int watch_finish(struct watch *watch, bool is_last, struct error *error)
{
	char *report = write_report(watch, error);
	int result = report || !watch->base ? 0 : -1;

	copy_recording(watch, is_last);
	if (watch->context->is_json)
		take_document(watch, watch_to_json(watch, report), is_last);
	else
		append_paths(watch, report);
	watch->context->status = outcomes[watch->outcome].status;
	watch_say(watch, "%s", watch->report.headline);
	free(report);
	return result;
}

void watch_end_attempts(struct watch *watch)
{
	size_t count = json_array_size(watch->attempts);
	json_t *document;

	if (count == 0)
		return;
	document = json_incref(json_array_get(watch->attempts, count - 1));
	json_array_remove(watch->attempts, count - 1);
	take_document(watch, document, true);
}
