#include "ui/column.h"

#include <string.h>

#include "banned.h"
#include "base/buffer.h"
#include "base/text.h"
#include "model/session.h"
#include "protocol/stack.h"
#include "ui/pane.h"

struct column_form {
	const char *name;
	const char *title;
	bool is_number;
	bool is_descending;
};

static const struct column_form forms[COLUMN_COUNT] = {
	[COLUMN_CLASS] = { "class", "", true, false },
	[COLUMN_RANK] = { "rank", "rank", true, false },
	[COLUMN_HOST] = { "host", "host", false, false },
	[COLUMN_PID] = { "pid", "pid", true, false },
	[COLUMN_STATE] = { "state", "state", false, false },
	[COLUMN_ACTIVITY] = { "activity", "activity", false, false },
	[COLUMN_FUNCTION] = { "function", "function", false, false },
	[COLUMN_PLACE] = { "place", "place", false, false },
	[COLUMN_AGE] = { "age", "age", true, true },
	[COLUMN_CPU] = { "cpu", "CPU%", true, true },
	[COLUMN_MEMORY] = { "memory", "memory", true, true },
};

const char *column_name(enum column column)
{
	return forms[column].name;
}

bool column_parse(const char *name, enum column *column)
{
	for (int i = 0; i < COLUMN_COUNT; i++) {
		if (strcmp(forms[i].name, name) == 0) {
			*column = (enum column)i;
			return true;
		}
	}
	return false;
}

const char *column_title(enum column column)
{
	return forms[column].title;
}

bool column_is_number(enum column column)
{
	return forms[column].is_number;
}

bool column_is_descending(enum column column)
{
	return forms[column].is_descending;
}

const char *rank_host(const struct session *session, const struct rank *rank)
{
	if (rank->process.host != NULL && *rank->process.host != '\0')
		return rank->process.host;
	/* A rank without a process has no known host. */
	if (rank->process.pid != 0 && rank->node < session->node_count)
		return session->nodes[rank->node].name;
	return "";
}

/* Appends the number of a rank, or the role of a child process. */
static void column_append_name(struct buffer *out, const struct rank *rank)
{
	const char *role = rank->process.role;

	if (rank->parent == NULL)
		buffer_printf(out, "%d", rank->process.rank);
	else
		buffer_append_string(out, role != NULL ? role : "child");
}

static void column_append_frame(struct buffer *out, const struct rank *rank, enum column column)
{
	const struct frame *frame = rank_top_frame(rank);

	if (frame == NULL)
		return;
	if (column == COLUMN_FUNCTION)
		buffer_append_string(out, frame->code->func);
	else
		rank_append_place(out, rank, frame, false);
}

void column_append(struct buffer *out, const struct session *session, const struct view *view,
		   const struct rank *rank, enum column column)
{
	switch (column) {
	case COLUMN_RANK:
		column_append_name(out, rank);
		break;
	case COLUMN_HOST:
		buffer_append_string(out, rank_host(session, rank));
		break;
	case COLUMN_PID:
		if (process_shown_pid(&rank->process) > 0)
			buffer_printf(out, "%d", (int)rank->process.pid);
		break;
	case COLUMN_STATE:
		rank_append_word(out, rank);
		break;
	case COLUMN_ACTIVITY:
		rank_append_doing(out, session, view, rank);
		break;
	case COLUMN_FUNCTION:
	case COLUMN_PLACE:
		column_append_frame(out, rank, column);
		break;
	case COLUMN_AGE:
		rank_append_age(out, session, rank);
		break;
	case COLUMN_CPU:
		if (rank->cpu_share >= 0 && rank->state != RANK_EXITED)
			buffer_printf(out, "%.0f", rank->cpu_share * 100);
		break;
	case COLUMN_MEMORY:
		if (rank->memory > 0 && rank->state != RANK_EXITED)
			text_size(out, rank->memory);
		break;
	case COLUMN_CLASS:
	case COLUMN_COUNT:
		break;
	}
}

static bool age_of(const struct session *session, const struct rank *rank, double *age)
{
	const struct thread *main = rank_main_thread(rank);

	if (main == NULL || main->sample_count < 2 || main->sample.stack == NULL ||
	    rank->state == RANK_EXITED)
		return false;
	*age = session->now - main->since;
	return true;
}

bool column_number(const struct session *session, const struct rank *rank, enum column column,
		   double *number)
{
	switch (column) {
	case COLUMN_CLASS:
		*number = rank->class_index;
		return rank->class_index >= 0;
	case COLUMN_RANK:
		*number = rank->process.rank;
		return true;
	case COLUMN_PID:
		*number = process_shown_pid(&rank->process);
		return *number > 0;
	case COLUMN_AGE:
		return age_of(session, rank, number);
	case COLUMN_CPU:
		*number = rank->cpu_share;
		return rank->cpu_share >= 0 && rank->state != RANK_EXITED;
	case COLUMN_MEMORY:
		*number = (double)rank->memory;
		return rank->memory > 0 && rank->state != RANK_EXITED;
	case COLUMN_HOST:
	case COLUMN_STATE:
	case COLUMN_ACTIVITY:
	case COLUMN_FUNCTION:
	case COLUMN_PLACE:
	case COLUMN_COUNT:
		break;
	}
	return false;
}
