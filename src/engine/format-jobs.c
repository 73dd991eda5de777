/* format-jobs: the jobs of this machine, as JSON and text. */
#include <math.h>
#include <stdio.h>

#include "banned.h"
#include "base/buffer.h"
#include "base/text.h"
#include "engine/format.h"
#include "model/joblist.h"
#include "model/session.h"

static json_t *format_jobs_text_or_null(const char *text)
{
	return text && text[0] != '\0' ? json_string(text) : json_null();
}

static json_t *job_to_json(const struct job *job, const struct job_summary *summary)
{
	json_t *json = json_object();
	double tenths = floor(summary->age * 10) / 10;

	json_object_set_new(json, "job", format_jobs_text_or_null(job->name));
	json_object_set_new(json, "launcher", format_jobs_text_or_null(job->launcher));
	json_object_set_new(json, "launcher_pid",
			    job->launcher_pid > 0 ? json_integer(job->launcher_pid) : json_null());
	json_object_set_new(json, "script", format_jobs_text_or_null(job->script));
	json_object_set_new(json, "ranks", format_json_set(&summary->ranks));
	json_object_set_new(json, "world_size",
			    summary->world_size > 0 ? json_integer(summary->world_size)
						    : json_null());
	json_object_set_new(json, "user", format_jobs_text_or_null(job->user));
	json_object_set_new(json, "verdict", format_jobs_text_or_null(job->finding.sentence));
	json_object_set_new(json, "age_s", summary->age >= 0 ? json_real(tenths) : json_null());
	return json;
}

static void format_jobs_append_column(struct buffer *out, const char *text, int width)
{
	struct buffer safe = BUFFER_INIT;

	format_text(&safe, text);
	buffer_append_string(out, safe.data);
	for (int i = text_width(safe.data); i < width; i++)
		buffer_append_char(out, ' ');
	buffer_append_string(out, "  ");
	buffer_clear(&safe);
}

/* "train.py  0-7 (8)  127.0.0.1:29500  torchrun (pid 90)  ana  4m" */
static void format_jobs_append_job(struct buffer *out, const struct job *job,
				   const struct job_summary *summary)
{
	struct buffer text = BUFFER_INIT;

	format_jobs_append_column(out, job->script[0] != '\0' ? job->script : "?", 16);
	rankset_append_counted(&text, &summary->ranks);
	format_jobs_append_column(out, text.data, 12);
	format_jobs_append_column(out, job->name[0] != '\0' ? job->name : "-", 15);
	buffer_reset(&text);
	if (job->launcher_pid > 0)
		buffer_printf(&text, "%s (pid %d)", job->launcher, (int)job->launcher_pid);
	format_jobs_append_column(out, text.data, 20);
	buffer_reset(&text);
	if (job->user)
		buffer_append_string(&text, job->user);
	else
		buffer_printf(&text, "%lu", (unsigned long)job->uid);
	format_jobs_append_column(out, text.data, 8);
	buffer_reset(&text);
	if (summary->age >= 0)
		text_age(&text, summary->age);
	buffer_printf(out, "%s\n", text.data);
	buffer_clear(&text);
}

json_t *format_json_jobs(const struct session *session)
{
	json_t *jobs = json_array();

	for (size_t i = 0; i < session->job_count; i++) {
		struct job_summary summary;

		job_summary_make(&summary, session, i);
		json_array_append_new(jobs, job_to_json(&session->jobs[i], &summary));
		job_summary_clear(&summary);
	}
	return jobs;
}

/* A job's verdict follows on a line of its own. */
void format_text_jobs(struct buffer *out, const struct session *session)
{
	for (size_t i = 0; i < session->job_count; i++) {
		const struct job *job = &session->jobs[i];
		struct job_summary summary;

		job_summary_make(&summary, session, i);
		format_jobs_append_job(out, job, &summary);
		job_summary_clear(&summary);
		if (!job->finding.sentence)
			continue;
		buffer_append_string(out, "    ");
		format_text(out, job->finding.sentence);
		buffer_append_char(out, '\n');
	}
}
