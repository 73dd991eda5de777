#include <stdio.h>
#include <string.h>

#include "banned.h"
#include "base/buffer.h"
#include "base/text.h"
#include "model/session.h"
#include "ui/pane.h"

#define BYSTANDERS_MAXIMUM 8
#define EXAMPLE_COLUMN 22
#define CURSOR_MARK 0x25b8 /* ▸ */

static int put_looked_at(struct window window, int row,
			 const struct session *session)
{
	struct buffer text = BUFFER_INIT;

	buffer_append_string(&text, "Looked at ");
	text_count(&text, session->looked_at);
	buffer_append_string(&text, session->looked_at == 1 ? " process"
							    : " processes");
	buffer_append_string(&text,
			     " of this user for RANK, OMPI_COMM_WORLD_RANK, "
			     "PMI_RANK, PMIX_RANK or SLURM_PROCID in their "
			     "environment.");
	row += window_put_paragraph(window, row, 3, 4, STYLE_TEXT, text.data);
	buffer_clear(&text);
	return row;
}

static int put_other_users(struct window window, int row,
			   const struct session *session)
{
	struct buffer text = BUFFER_INIT;

	if (session->other_users == 0)
		return row;
	text_count(&text, session->other_users);
	buffer_append_string(
		&text, session->other_users == 1
			       ? " Python process belongs to another user"
			       : " Python processes belong to other users");
	buffer_append_string(&text, "; to look at them, run as root: sudo "
				    "probetui");
	row += window_put_paragraph(window, row, 3, 3, STYLE_TEXT, text.data);
	buffer_clear(&text);
	return row + 1;
}

/* "python (pid 4183)  train.py   is Python, but has no rank" */
static int put_bystanders(struct window window, int row,
			  const struct session *session)
{
	size_t count = session->bystander_count;

	if (count > BYSTANDERS_MAXIMUM)
		count = BYSTANDERS_MAXIMUM;
	for (size_t i = 0; i < count; i++) {
		const struct bystander *bystander = &session->bystanders[i];
		struct buffer text = BUFFER_INIT;

		buffer_printf(&text, "%s (pid %d)  %s   %s",
			      bystander->name != NULL ? bystander->name : "?",
			      (int)bystander->pid,
			      bystander->script != NULL ? bystander->script
							: "",
			      bystander->why != NULL ? bystander->why : "");
		window_put(window, row++, 5, window.column_count - 6,
			   STYLE_TEXT, text.data);
		buffer_clear(&text);
	}
	if (count < session->bystander_count)
		window_put(window, row++, 5, window.column_count - 6, STYLE_DIM,
			   "\u2026");
	return row;
}

static void put_example(struct window window, int row, const char *purpose,
			const char *line)
{
	int column = window.column_count >= 60 ? EXAMPLE_COLUMN
					       : 4 + text_width(purpose);

	window_put(window, row, 3, window.column_count - 4, STYLE_DIM, purpose);
	window_put(window, row, column, window.column_count - column - 1,
		   STYLE_TITLE, line);
}

void pane_nothing(struct window window, const struct session *session)
{
	struct buffer text = BUFFER_INIT;
	int row = 1;

	if (session->node_count > 0 && session->nodes[0].is_gone) {
		window_put_paragraph(window, row, 3, 4, STYLE_TEXT,
				     rank_gone_sentence);
		return;
	}
	if (!session->is_discovered) {
		window_put(window, row, 3, window.column_count - 4, STYLE_TEXT,
			   "Looking for ranks.");
		return;
	}
	window_put(window, row, 3, window.column_count - 4, STYLE_TITLE_FOCUSED,
		   "No rank found.");
	row = put_looked_at(window, row + 2, session) + 1;
	if (session->bystander_count > 0) {
		row = put_bystanders(window, row, session) + 1;
		buffer_printf(&text, "probetui --pid %d",
			      (int)session->bystanders[0].pid);
		put_example(window, row, "To name it:", text.data);
		buffer_clear(&text);
		row += 2;
	}
	row = put_other_users(window, row, session);
	window_put(window, row, 3, window.column_count - 4, STYLE_TEXT,
		   "Waiting for ranks to appear; q leaves.");
}

static void put_job(struct window window, int row, const struct job *job)
{
	struct buffer text = BUFFER_INIT;
	int width = window.column_count;
	int column = 5;

	window_put(window, row, column, width / 3, STYLE_TEXT,
		   job->script != NULL ? job->script : "");
	column += width / 3 + 1;
	text_count(&text, job->rank_count);
	buffer_append_string(&text, job->rank_count == 1 ? " rank" : " ranks");
	column += window_put(window, row, column, width - column, STYLE_TEXT,
			     text.data);
	buffer_reset(&text);
	if (job->name != NULL)
		buffer_append_string(&text, job->name);
	if (job->launcher != NULL && *job->launcher != '\0')
		buffer_printf(&text, "  %s (pid %d)", job->launcher,
			      (int)job->launcher_pid);
	window_put(window, row, column + 2, width - column - 3, STYLE_DIM,
		   text.data);
	buffer_clear(&text);
}

static void append_jobs_title(struct buffer *out, const struct session *session)
{
	if (session->wanted_job != NULL)
		buffer_printf(out, "No job here has the port or launcher %s. ",
			      session->wanted_job);
	else if (session->wanted_text != NULL)
		buffer_printf(out, "It is not clear whose rank %s is meant. ",
			      session->wanted_text);
	text_count(out, session->job_count);
	buffer_append_string(out, " jobs run here. Enter opens one.");
}

void pane_jobs(struct window window, const struct session *session,
	       const struct view *view)
{
	struct buffer text = BUFFER_INIT;
	int top;
	int rows;
	int first;

	append_jobs_title(&text, session);
	top = 2 + window_put_paragraph(window, 1, 3, 2, STYLE_TITLE_FOCUSED,
				       text.data);
	rows = window.row_count - top;
	first = view->job_cursor >= rows ? view->job_cursor - rows + 1 : 0;
	for (int i = first; i < (int)session->job_count && i - first < rows;
	     i++) {
		int row = top + i - first;

		put_job(window, row, &session->jobs[i]);
		window_hit(window, row, 0, 1, window.column_count, HIT_JOB, i);
		if (i != view->job_cursor)
			continue;
		window_put_character(window, row, 3, STYLE_TITLE_FOCUSED,
				     CURSOR_MARK);
		window_emphasise(window, row, 0, 1, window.column_count,
				 EMPHASIS_BOLD);
	}
	buffer_clear(&text);
}
