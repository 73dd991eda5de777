#include <stdio.h>
#include <string.h>

#include "banned.h"
#include "base/buffer.h"
#include "base/error.h"
#include "base/text.h"
#include "engine/engine.h"
#include "engine/format.h"
#include "model/joblist.h"
#include "model/session.h"
#include "ui/app.h"
#include "ui/canvas.h"
#include "ui/commands.h"
#include "ui/list.h"
#include "ui/pane.h"
#include "ui/view-type.h"

#define FIRST_COLUMN 5
#define VERDICT_MINIMUM 44 /* columns that the verdict needs beside the facts */
#define HEAD_ROWS 9	   /* minimum rows for titles and blank lines */
#define PAGE 10

enum fact {
	FACT_SCRIPT,
	FACT_RANKS,
	FACT_LAUNCHER,
	FACT_PORT,
	FACT_USER,
	FACT_AGE,
	FACT_COUNT,
};

struct fact_form {
	const char *title;
	int width;
	int needs; /* minimum columns of a window that shows the fact */
};

static const struct fact_form forms[FACT_COUNT] = {
	[FACT_SCRIPT] = { "script", 16, 0 },	  [FACT_RANKS] = { "ranks", 11, 34 },
	[FACT_LAUNCHER] = { "launcher", 20, 70 }, [FACT_PORT] = { "port", 15, 100 },
	[FACT_USER] = { "user", 8, 64 },	  [FACT_AGE] = { "age", 4, 40 },
};

static void append_fact(struct buffer *out, const struct job *job,
			const struct job_summary *summary, enum fact name)
{
	switch (name) {
	case FACT_SCRIPT:
		buffer_append_string(out, job->script);
		break;
	case FACT_RANKS:
		rankset_append_counted(out, &summary->ranks);
		break;
	case FACT_LAUNCHER:
		if (job->launcher_pid > 0)
			buffer_printf(out, "%s (pid %d)", job->launcher, (int)job->launcher_pid);
		break;
	case FACT_PORT:
		buffer_append_string(out, job->name);
		break;
	case FACT_USER:
		if (job->user != NULL)
			buffer_append_string(out, job->user);
		break;
	case FACT_AGE:
		if (summary->age >= 0)
			text_age(out, summary->age);
		break;
	case FACT_COUNT:
		break;
	}
}

static bool shows(struct window window, int column)
{
	return window.column_count >= forms[column].needs;
}

/* Writes the facts; returns the column after the facts. */
static int pane_jobs_put_facts(struct window window, int row, const struct job *job,
			       const struct job_summary *summary)
{
	int at = FIRST_COLUMN;

	for (int i = 0; i < FACT_COUNT; i++) {
		int width = forms[i].width;
		struct buffer text = BUFFER_INIT;

		if (!shows(window, i))
			continue;
		append_fact(&text, job, summary, (enum fact)i);
		if (i == FACT_AGE)
			window_put_right(window, row, at + width, width, STYLE_TEXT, text.data);
		else
			window_put(window, row, at, width,
				   i < FACT_LAUNCHER ? STYLE_TEXT : STYLE_DIM, text.data);
		at += width + 2;
		buffer_clear(&text);
	}
	return at;
}

static void pane_jobs_put_head(struct window window, int row, bool is_wide)
{
	int at = FIRST_COLUMN;

	for (int i = 0; i < FACT_COUNT; i++) {
		int width = forms[i].width;

		if (!shows(window, i))
			continue;
		if (i == FACT_AGE)
			window_put_right(window, row, at + width, width, STYLE_DIM, forms[i].title);
		else
			window_put(window, row, at, width, STYLE_DIM, forms[i].title);
		at += width + 2;
	}
	if (is_wide)
		window_put(window, row, at, window.column_count - at, STYLE_DIM, "verdict");
}

static void put_finding(struct window window, int row, int column,
			const struct job_finding *finding)
{
	enum style style;
	int32_t mark = mark_of_verdict(finding->state, finding->has_outliers, &style);

	window_put_character(window, row, column, style, mark);
	window_put(window, row, column + 2, window.column_count - column - 3, style,
		   finding->sentence != NULL ? finding->sentence : "Not sampled yet");
}

static int facts_width(struct window window)
{
	int width = FIRST_COLUMN;

	for (int i = 0; i < FACT_COUNT; i++)
		if (shows(window, i))
			width += forms[i].width + 2;
	return width;
}

static void pane_jobs_append_title(struct buffer *out, const struct session *session)
{
	if (session->job < 0 && session->choice.wanted_job != NULL)
		buffer_printf(out, "No job has port or launcher pid %s; ",
			      session->choice.wanted_job);
	else if (session->job < 0 && session->choice.wanted_text != NULL)
		buffer_printf(out, "Select the job of --ranks %s; ", session->choice.wanted_text);
	if (session->job_count == 0) {
		buffer_append_string(out, "No job found");
		return;
	}
	text_count(out, session->job_count);
	buffer_append_string(out, session->job_count == 1 ? " job found" : " jobs found");
	buffer_append_string(out, " (Enter opens one)");
}

static bool is_wide(struct window window)
{
	return window.column_count - facts_width(window) >= VERDICT_MINIMUM;
}

static void pane_jobs_put_job(struct window window, int row, int index, const void *data)
{
	const struct session *session = data;
	const struct job *job = &session->jobs[index];
	struct job_summary summary;
	int column;

	job_summary_make(&summary, session, (size_t)index);
	column = pane_jobs_put_facts(window, row, job, &summary);
	job_summary_clear(&summary);
	if (is_wide(window))
		put_finding(window, row, column, &job->finding);
	else
		put_finding(window, row + 1, FIRST_COLUMN, &job->finding);
}

static void pane_jobs_draw(const struct scene *scene)
{
	struct window window = scene->body;
	const struct session *session = scene->session;
	bool has_head = window.row_count >= HEAD_ROWS;
	struct list list = {
		.count = (int)session->job_count,
		.cursor = view_cursor(scene->view, VIEW_JOBS, session->job_count),
		.height = is_wide(window) ? 1 : 2,
		.has_mark = true,
		.mark_column = 3,
		.hit = MOUSE_TARGET_LIST,
		.put_row = pane_jobs_put_job,
	};
	struct buffer text = BUFFER_INIT;
	int top = has_head ? 1 : 0;

	pane_jobs_append_title(&text, session);
	top += window_put_paragraph(window, top, 3, 2, STYLE_TITLE_FOCUSED, text.data);
	buffer_clear(&text);
	if (has_head && session->job_count > 0)
		pane_jobs_put_head(window, top + 1, is_wide(window));
	top += has_head ? 2 : 0;
	list_put(window_part(window, top, 0, window.row_count - top, window.column_count), &list,
		 session);
}

static void pane_jobs_add_rows(struct search_text *lines, const struct app *app)
{
	const struct session *session = &app->engine->session;

	for (size_t i = 0; i < session->job_count; i++) {
		const struct job *job = &session->jobs[i];

		buffer_printf(&lines->line, "%s %s %s %d %s %s", job->script, job->name,
			      job->launcher, (int)job->launcher_pid,
			      job->user != NULL ? job->user : "",
			      job->finding.sentence != NULL ? job->finding.sentence : "");
		search_text_end_line(lines);
	}
	lines->at = view_cursor(&app->view, VIEW_JOBS, session->job_count);
}

static void pane_jobs_move_cursor(struct app *app, const struct layout *layout, enum move move)
{
	(void)layout;
	list_move(app, PAGE, move);
}

static void pane_jobs_copy(struct buffer *out, const struct app *app)
{
	format_text_jobs(out, &app->engine->session);
}

static int pane_jobs_open_row(struct command_context *context, struct error *error)
{
	struct app *app = command_app(context);
	const struct session *session = &app->engine->session;

	if (session->job_count == 0)
		return error_set(error, "no job found");
	choose_job(app, (size_t)view_cursor(&app->view, VIEW_JOBS, session->job_count));
	return 0;
}

static const struct hint hints[] = {
	{ { "open", NULL }, "open" },
	{ { "cursor up", "cursor down" }, "job" },
	{ { "back", NULL }, "back" },
	{ .label = NULL },
};

const struct view_type view_jobs = {
	.copied = "list of jobs",
	.is_of_host = true,
	.hints = hints,
	.draw = pane_jobs_draw,
	.add_rows = pane_jobs_add_rows,
	.move = pane_jobs_move_cursor,
	.copy = pane_jobs_copy,
	.open = pane_jobs_open_row,
};
