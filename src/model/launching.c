#include "model/launching.h"

#include <string.h>

#include "banned.h"
#include "base/buffer.h"
#include "base/json.h"
#include "base/text.h"
#include "model/session.h"

void launching_init(struct launching *launching)
{
	*launching = (struct launching){ .node = 0 };
	launched_init(&launching->job);
	buffer_init(&launching->transcript.bytes, 0);
}

void launching_clear(struct launching *launching)
{
	launched_clear(&launching->job);
	buffer_clear(&launching->transcript.bytes);
	launching_init(launching);
}

bool launching_is_alive(const struct session *session)
{
	const struct launching *launching = &session->launching;

	if (launching->job.state == LAUNCHED_NONE || session->nodes[launching->node].is_gone)
		return false;
	return launching->job.state == LAUNCHED_RUNNING || launching->job.has_others;
}

static void append_end(struct buffer *out, const struct launched *job)
{
	if (job->exit_signal > 0)
		buffer_printf(out, " was ended by signal %d (%s)", job->exit_signal,
			      strsignal(job->exit_signal));
	else if (job->exit_code >= 0)
		buffer_printf(out, " has ended with exit code %d", job->exit_code);
	else
		buffer_append_string(out, " has ended");
	if (job->has_others)
		buffer_append_string(out, "; processes that it started keep running");
}

void launching_append(struct buffer *out, const struct session *session)
{
	const struct launched *job = &session->launching.job;
	const char *program = job->program != NULL ? job->program : "";
	const char *slash = strrchr(program, '/');

	if (job->state == LAUNCHED_NONE)
		return;
	program = slash != NULL ? slash + 1 : program;
	text_escape(out, program, strlen(program));
	switch (job->state) {
	case LAUNCHED_NONE:
		break;
	case LAUNCHED_RUNNING:
		buffer_printf(out, " runs (pid %d)", (int)job->pid);
		break;
	case LAUNCHED_ENDED:
		append_end(out, job);
		break;
	case LAUNCHED_LOST:
		buffer_append_string(out, " has lost its terminal");
		break;
	}
}

int session_apply_job(struct session *session, size_t node, const json_t *body, struct error *error)
{
	struct launched job;

	launched_init(&job);
	if (launched_from_json(&job, body, error) < 0) {
		launched_clear(&job);
		return -1;
	}
	launched_clear(&session->launching.job);
	session->launching.job = job;
	session->launching.node = node;
	session->step++;
	return 0;
}

void session_apply_job_output(struct session *session, const json_t *body)
{
	transcript_add(&session->launching.transcript, json_get_string(body, "output", ""), false);
}
