#include <stdio.h>
#include <string.h>

#include "banned.h"
#include "base/buffer.h"
#include "base/text.h"
#include "model/session.h"
#include "ui/pane.h"

#define BYSTANDERS_MAXIMUM 8
#define EXAMPLE_COLUMN 22

static int put_looked_at(struct window window, int row, const struct session *session)
{
	struct buffer text = BUFFER_INIT;

	buffer_append_string(&text, "Looked at ");
	text_count(&text, session->looked_at);
	buffer_append_string(&text, session->looked_at == 1 ? " process" : " processes");
	buffer_append_string(&text, " for RANK, OMPI_COMM_WORLD_RANK, PMI_RANK, PMIX_RANK or "
				    "SLURM_PROCID in their environment.");
	row += window_put_paragraph(window, row, 3, 4, STYLE_TEXT, text.data);
	buffer_clear(&text);
	return row;
}

static int put_other_users(struct window window, int row, const struct session *session)
{
	struct buffer text = BUFFER_INIT;

	if (session->other_users == 0)
		return row;
	text_count(&text, session->other_users);
	buffer_append_string(&text, session->other_users == 1
					    ? " Python process belongs to another user"
					    : " Python processes belong to other users");
	buffer_append_string(&text, "; to look at them, run as root: sudo probetui");
	row += window_put_paragraph(window, row, 3, 3, STYLE_TEXT, text.data);
	buffer_clear(&text);
	return row + 1;
}

/* Writes lines like "python (pid 4183)  train.py   is Python, but has no rank". */
static int put_bystanders(struct window window, int row, const struct session *session)
{
	size_t count = session->bystander_count;

	if (count > BYSTANDERS_MAXIMUM)
		count = BYSTANDERS_MAXIMUM;
	for (size_t i = 0; i < count; i++) {
		const struct bystander *bystander = &session->bystanders[i];
		struct buffer text = BUFFER_INIT;

		buffer_printf(&text, "%s (pid %d)  %s   %s",
			      bystander->name != NULL ? bystander->name : "?", (int)bystander->pid,
			      bystander->script != NULL ? bystander->script : "",
			      bystander->why != NULL ? bystander->why : "");
		window_put(window, row++, 5, window.column_count - 6, STYLE_TEXT, text.data);
		buffer_clear(&text);
	}
	if (count < session->bystander_count)
		window_put(window, row++, 5, window.column_count - 6, STYLE_DIM, "\u2026");
	return row;
}

static void put_example(struct window window, int row, const char *purpose, const char *line)
{
	int column = window.column_count >= 60 ? EXAMPLE_COLUMN : 4 + text_width(purpose);

	window_put(window, row, 3, window.column_count - 4, STYLE_DIM, purpose);
	window_put(window, row, column, window.column_count - column - 1, STYLE_TITLE, line);
}

/* Explains that no rank of the started job exists. */
static void pane_nothing_put_job(struct window window, const struct session *session)
{
	const struct launched *job = &session->launching.job;
	bool is_alive = launching_is_alive(session);
	struct buffer text = BUFFER_INIT;
	int row = 1;

	launching_append(&text, session);
	buffer_append_char(&text, '.');
	row += window_put_paragraph(window, row, 3, 3, STYLE_TITLE_FOCUSED, text.data);
	buffer_reset(&text);
	if (is_alive)
		buffer_append_string(
			&text, "Waiting for ranks of it to appear: processes that run Python.");
	else
		buffer_append_string(&text, "No rank of it was seen.");
	row += window_put_paragraph(window, row + 1, 3, 3, STYLE_TEXT, text.data);
	buffer_reset(&text);
	if (job->error != NULL)
		text_escape(&text, job->error, strlen(job->error));
	if (text.length > 0)
		row += window_put_paragraph(window, row + 1, 3, 3, STYLE_TEXT, text.data);
	window_put(window, row + 2, 3, window.column_count - 4, STYLE_TEXT,
		   is_alive ? "! shows its terminal; q leaves."
			    : "! shows what it printed; q leaves.");
	buffer_clear(&text);
}

void pane_nothing(struct window window, const struct session *session)
{
	struct buffer text = BUFFER_INIT;
	int row = 1;

	if (session->node_count > 0 && session->nodes[0].is_gone) {
		window_put_paragraph(window, row, 3, 4, STYLE_TEXT, rank_gone_sentence);
		return;
	}
	if (session->launching.job.state != LAUNCHED_NONE) {
		pane_nothing_put_job(window, session);
		return;
	}
	if (!session->is_discovered) {
		window_put(window, row, 3, window.column_count - 4, STYLE_TEXT,
			   "Looking for ranks.");
		return;
	}
	window_put(window, row, 3, window.column_count - 4, STYLE_TITLE_FOCUSED, "No rank found.");
	row = put_looked_at(window, row + 2, session) + 1;
	if (session->bystander_count > 0) {
		row = put_bystanders(window, row, session) + 1;
		buffer_printf(&text, "probetui --pid %d", (int)session->bystanders[0].pid);
		put_example(window, row, "To name it:", text.data);
		buffer_clear(&text);
		row += 2;
	}
	row = put_other_users(window, row, session);
	window_put(window, row, 3, window.column_count - 4, STYLE_TEXT,
		   "Waiting for ranks to appear; q leaves.");
}
