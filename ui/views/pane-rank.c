#include <string.h>

#include "banned.h"
#include "base/array.h"
#include "base/buffer.h"
#include "base/text.h"
#include "model/debug-state.h"
#include "model/place.h"
#include "model/session.h"
#include "model/verdict.h"
#include "protocol/stack.h"
#include "ui/pane.h"
#include "ui/stopped-text.h"

const char rank_gone_sentence[] =
	"not read: connection to probetui-node lost; quit (q) and start probetui again";

#define USUAL_PERIOD 1.0    /* assumed sample period of a recording, in seconds */
#define MARK_STOPPED 0x25a0 /* ■ */
#define MARK_EXITED 0x2717  /* ✗ */

struct state_form {
	int32_t mark; /* 0: the mark of the rank's class is used */
	enum style style;
	const char *word; /* NULL: the word of the rank's activity is used */
};

static const struct state_form state_forms[] = {
	[RANK_RUNNING] = { 0, STYLE_STATE_RUNNING, NULL },
	[RANK_WAITING] = { 0, STYLE_STATE_WAITING, NULL },
	[RANK_SLEEPING] = { 0, STYLE_STATE_WAITING, NULL },
	[RANK_STOPPED] = { MARK_STOPPED, STYLE_STATE_STOPPED, "stop" },
	[RANK_EXITED] = { MARK_EXITED, STYLE_STATE_EXITED, "exit" },
	[RANK_NOT_FOUND] = { '?', STYLE_STATE_UNKNOWN, "none" },
	[RANK_UNREADABLE] = { '?', STYLE_STATE_UNKNOWN, "?" },
	[RANK_UNKNOWN] = { '?', STYLE_STATE_UNKNOWN, "…" },
};

/* Mark of the first class of outliers (struct rank_class). */
#define OUTLIER_MARK 1

int32_t mark_of_class(const struct session *session, const struct rank_class *class,
		      enum style *style)
{
	int first = rankset_first(&class->ranks);
	const struct rank *rank = session_find_rank(session, first);

	/* Exited ranks share a class, and get the mark of their state. */
	if (class->stack == NULL && rank != NULL && state_forms[rank->state].mark != 0) {
		*style = state_forms[rank->state].style;
		return state_forms[rank->state].mark;
	}
	*style = style_of_class(class->mark, class->is_outlier);
	return classmark(class->mark);
}

/* Outside the focus a mark is hollow, or dim if it has no hollow form. */
static int32_t unfocus(int32_t mark, enum style *style)
{
	static const int32_t forms[][2] = {
		{ 0x25cf, 0x25cb }, /* ● ○ */
		{ 0x25c6, 0x25c7 }, /* ◆ ◇ */
		{ 0x25b2, 0x25b3 }, /* ▲ △ */
		{ 0x25bc, 0x25bd }, /* ▼ ▽ */
		{ 0x2605, 0x2606 }, /* ★ ☆ */
		{ 0x271a, 0x271b }, /* ✚ ✛ */
		{ 0x25a0, 0x25a1 }, /* ■ □ */
	};

	for (size_t i = 0; i < ARRAY_LENGTH(forms); i++) {
		if (forms[i][0] == mark)
			return forms[i][1];
	}
	*style = STYLE_DIM;
	return mark;
}

int32_t mark_of_rank(const struct session *session, const struct rank *rank, enum style *style)
{
	bool is_held = debug_state_is_stopped(rank);
	const struct state_form *form = &state_forms[is_held ? RANK_STOPPED : rank->state];
	const struct verdict *verdict = &session->verdict;
	int32_t mark = form->mark != 0 ? form->mark : '?';

	*style = rank->is_outlier && !is_held ? STYLE_OUTLIER : form->style;
	if (form->mark == 0 && rank->class_index >= 0 &&
	    (size_t)rank->class_index < verdict->class_count) {
		const struct rank_class *class = &verdict->classes[rank->class_index];

		mark = mark_of_class(session, class, style);
		/* Among ranks with one stack the rank has called another collective. */
		if (rank->is_outlier && !class->is_outlier) {
			mark = classmark(OUTLIER_MARK);
			*style = STYLE_OUTLIER;
		}
	}
	return session_is_focused(session, rank) ? mark : unfocus(mark, style);
}

void rank_append_word(struct buffer *out, const struct rank *rank)
{
	const struct thread *main = rank_main_thread(rank);

	if (debug_state_is_held(rank)) {
		debug_state_append_word(out, rank);
		return;
	}
	if (state_forms[rank->state].word != NULL)
		buffer_append_string(out, state_forms[rank->state].word);
	else if (main != NULL)
		buffer_append_string(out, activity_word(main->activity.kind));
}

static void pane_rank_append_exit(struct buffer *out, const struct process *process)
{
	const char *abbreviation = sigabbrev_np(process->exit_signal);

	if (process->exit_signal > 0 && abbreviation != NULL)
		buffer_printf(out, "SIG%s", abbreviation);
	else if (process->exit_signal > 0)
		buffer_printf(out, "signal %d", process->exit_signal);
	else if (process->exit_code >= 0)
		buffer_printf(out, "exit code %d", process->exit_code);
	else
		buffer_append_string(out, "gone");
}

void rank_append_activity(struct buffer *out, const struct rank *rank)
{
	const struct thread *main = rank_main_thread(rank);

	if (rank_append_held(out, rank))
		return;
	switch (rank->state) {
	case RANK_EXITED:
		pane_rank_append_exit(out, &rank->process);
		return;
	case RANK_NOT_FOUND:
		buffer_append_string(out, "not found");
		return;
	case RANK_UNREADABLE:
		buffer_append_string(out, rank->error != NULL ? rank->error : "unreadable");
		return;
	case RANK_UNKNOWN:
		buffer_append_string(out, "not read yet");
		return;
	case RANK_RUNNING:
	case RANK_WAITING:
	case RANK_SLEEPING:
	case RANK_STOPPED:
		break;
	}
	if (main != NULL)
		buffer_append_string(out, main->activity.name);
}

void rank_append_age(struct buffer *out, const struct session *session, const struct rank *rank)
{
	const struct thread *main = rank_main_thread(rank);

	double seconds = debug_state_seconds(rank, session->now);

	if (seconds >= 0)
		text_age(out, seconds);
	else if (main != NULL && main->sample_count >= 2 && main->sample.stack != NULL &&
		 rank->state != RANK_EXITED)
		text_age(out, session->now - main->since);
}

const struct frame *rank_top_frame(const struct rank *rank)
{
	const struct thread *thread =
		debug_state_is_stopped(rank) ? debug_state_thread(rank) : rank_main_thread(rank);

	return thread != NULL ? place_find(&rank->process, thread->sample.stack) : NULL;
}

void rank_append_place(struct buffer *out, const struct rank *rank, const struct frame *frame,
		       bool is_short)
{
	if (is_short && frame->lineno > 0 &&
	    strcmp(place_file_name(frame->code->file), place_file_name(rank->process.script)) == 0)
		buffer_printf(out, ":%d", frame->lineno);
	else
		place_append(out, frame);
}

bool view_is_stale(const struct session *session, const struct view *view, double time)
{
	/* Half a second more: a slow answer of a loaded machine is not stale. */
	double period = view->period > 0 ? view->period : USUAL_PERIOD;

	return session->now - time > 2 * period + 0.5;
}

bool variables_are_stale(const struct session *session, const struct view *view,
			 const struct variables *variables)
{
	pid_t tid = variables->depth < 0 ? 0 : variables->tid;

	/* Variables that were read at the present stop cannot have changed. */
	if (variables->stops > 0 &&
	    variables->stops == session_find_stop(session, variables->node, variables->pid, tid))
		return false;
	return view_is_stale(session, view, variables->time);
}

bool rank_is_stale(const struct session *session, const struct view *view, const struct rank *rank)
{
	return rank->sampled_at >= 0 && rank->state != RANK_EXITED &&
	       !debug_state_is_stopped(rank) && view_is_stale(session, view, rank->sampled_at);
}

bool rank_is_torn(const struct rank *rank)
{
	const struct thread *main = rank_main_thread(rank);

	return main != NULL && rank->state != RANK_EXITED && main->sample.exactness == TORN;
}

void rank_append_doing(struct buffer *out, const struct session *session, const struct view *view,
		       const struct rank *rank)
{
	if (rank_is_stale(session, view, rank)) {
		if (rank->sample_source != NULL)
			buffer_append_string(out, "agent ");
		text_age(out, session->now - rank->sampled_at);
		buffer_append_string(out, " ago: ");
	}
	if (rank_is_torn(rank))
		buffer_append_char(out, '~');
	rank_append_activity(out, rank);
}

const char *recording_lack(const struct session *session, const char *sentence)
{
	return session->is_replay ? sentence : NULL;
}

const char *rank_unread_reason(const struct session *session, const struct rank *rank)
{
	const char *lack = recording_lack(session, "not recorded");

	if (lack != NULL)
		return lack;
	if (rank != NULL && rank->node < session->node_count && session->nodes[rank->node].is_gone)
		return rank_gone_sentence;
	if (rank != NULL && rank->is_silent)
		return "the machine does not answer";
	if (rank != NULL && rank->state == RANK_EXITED)
		return "the process has exited";
	return NULL;
}

const struct frame *selected_frame(const struct session *session)
{
	const struct thread *thread = session_selected_thread(session);
	int depth = session_selected_depth(session);

	if (thread == NULL || thread->sample.stack == NULL || depth < 0)
		return NULL;
	return &thread->sample.stack->frames[depth];
}

const struct source *selected_source(const struct session *session)
{
	const struct rank *rank = session_looked_at(session);
	const struct frame *frame = selected_frame(session);

	if (rank == NULL || frame == NULL)
		return NULL;
	return session_find_source(session, rank->node, rank->process.pid, frame->code->file);
}
