#include "model/debug-state.h"

#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "base/alloc.h"
#include "base/array.h"
#include "base/buffer.h"
#include "base/text.h"
#include "model/phrase.h"
#include "model/place.h"
#include "model/rank.h"
#include "model/session.h"
#include "model/wait-group.h"
#include "protocol/stack.h"

#define RAISED_COLUMNS 80

bool debug_state_is_stopped(const struct rank *rank)
{
	enum debugger_state state = rank->debugger.state;

	return !rank_is_gone(rank) && (state == DEBUGGER_STOPPED || state == DEBUGGER_NESTED);
}

bool debug_state_is_waiting(const struct rank *rank)
{
	return !rank_is_gone(rank) && rank->debugger.state == DEBUGGER_WAITING;
}

/* True for the prompt of Python's pdb or of a debugger derived from pdb. */
static bool is_prompt(const struct frame *frame)
{
	return strcmp(frame->code->func, "cmdloop") == 0 &&
	       strcmp(place_file_name(frame->code->file), "cmd.py") == 0;
}

static bool has_prompt(const struct rank *rank)
{
	for (size_t i = 0; i < rank->thread_count; i++) {
		const struct stack *stack = rank->threads[i].sample.stack;

		for (size_t j = 0; stack && j < stack->frame_count; j++)
			if (is_prompt(&stack->frames[j]))
				return true;
	}
	return false;
}

/*
 * True if another client has the debugger and the rank's stack shows a prompt; without a prompt in
 * the stack, the other client may have resumed the rank.
 */
bool debug_state_is_taken(const struct rank *rank)
{
	return !rank_is_gone(rank) && rank->debugger.state == DEBUGGER_REFUSED &&
	       rank->debugger.is_taken && has_prompt(rank);
}

bool debug_state_is_busy(const struct rank *rank)
{
	return !rank_is_gone(rank) && rank->debugger.state == DEBUGGER_RUNNING && has_prompt(rank);
}

bool debug_state_is_held(const struct rank *rank)
{
	return debug_state_is_stopped(rank) || debug_state_is_waiting(rank) ||
	       debug_state_is_taken(rank) || debug_state_is_busy(rank);
}

bool debug_state_is_outlier(const struct rank *rank)
{
	return debug_state_is_waiting(rank) ||
	       (debug_state_is_stopped(rank) && rank->debugger.is_post_mortem);
}

bool debug_state_is_leased(const struct rank *rank)
{
	return debug_state_is_stopped(rank) && rank->debugger.is_post_mortem &&
	       debugger_is_of(&rank->debugger, "http");
}

const struct thread *debug_state_thread(const struct rank *rank)
{
	const struct thread *thread = NULL;

	if (rank->debugger.tid > 0)
		thread = rank_find_thread(rank, rank->debugger.tid);
	return thread ? thread : rank_main_thread(rank);
}

static const struct stack *stack_of(const struct rank *rank)
{
	const struct thread *thread = debug_state_thread(rank);

	return thread ? thread->sample.stack : NULL;
}

static bool debug_state_is_same_function(const struct frame *a, const struct frame *b)
{
	return strcmp(a->code->func, b->code->func) == 0 &&
	       strcmp(a->code->file, b->code->file) == 0;
}

int debug_state_same_depth(const struct rank *rank, const struct rank *looked_at, int depth)
{
	const struct stack *stack = stack_of(rank);
	const struct stack *seen = stack_of(looked_at);
	size_t at;

	if (!stack || !seen || depth < 0 || (size_t)depth >= seen->frame_count)
		return -1;
	at = (size_t)depth + stack->frame_count + stack->dropped_count;
	if (at < seen->frame_count + seen->dropped_count)
		return -1;
	at -= seen->frame_count + seen->dropped_count;
	if (at >= stack->frame_count)
		return -1;
	return debug_state_is_same_function(&seen->frames[depth], &stack->frames[at]) ? (int)at
										      : -1;
}

int debug_state_same_function(const struct rank *rank, const struct rank *looked_at, int depth)
{
	const struct stack *stack = stack_of(rank);
	const struct stack *seen = stack_of(looked_at);
	int same = debug_state_same_depth(rank, looked_at, depth);

	if (same >= 0 || !stack || !seen || depth < 0 || (size_t)depth >= seen->frame_count)
		return same;
	for (size_t i = 0; i < stack->frame_count; i++) {
		if (debug_state_is_same_function(&seen->frames[depth], &stack->frames[i]))
			return (int)i;
	}
	return -1;
}

void debug_state_append_raised(struct buffer *out, const struct rank *rank, const char *before)
{
	struct buffer escaped = BUFFER_INIT;

	if (!rank->raised)
		return;
	text_escape(&escaped, rank->raised, strcspn(rank->raised, "\r\n"));
	buffer_append_string(out, before);
	text_cut(out, escaped.data, RAISED_COLUMNS);
	buffer_clear(&escaped);
	if (!rank->raised_file)
		return;
	text_escape(&escaped, place_file_name(rank->raised_file),
		    strlen(place_file_name(rank->raised_file)));
	buffer_printf(out, " (%s:%d)", escaped.data, rank->raised_line);
	buffer_clear(&escaped);
}

double debug_state_seconds(const struct rank *rank, double now)
{
	if (!debug_state_is_stopped(rank) || rank->debugger.held < 0)
		return -1;
	return rank->debugger.held + (now - rank->debugger_at);
}

/* Words for a stop after a step. */
static const char *const event_words[] = {
	[STOP_AT_UNKNOWN] = "step",  [STOP_AT_LINE] = "step",	     [STOP_AT_CALL] = "call",
	[STOP_AT_RETURN] = "return", [STOP_AT_EXCEPTION] = "raised",
};

static void append_stop_word(struct buffer *out, const struct debugger *debugger)
{
	switch (debugger->reason) {
	case STOP_BREAKPOINT:
		if (debugger->hit_count > 0)
			buffer_printf(out, "bp %d", debugger->hits[0]);
		else
			buffer_append_string(out, "bp");
		return;
	case STOP_DATA_BREAKPOINT:
		if (debugger->hit_count > 0)
			buffer_printf(out, "watch %d", debugger->hits[0]);
		else
			buffer_append_string(out, "watch");
		return;
	case STOP_PAUSE:
		buffer_append_string(out, "paused");
		return;
	case STOP_EXCEPTION:
		buffer_append_string(out, "raised");
		return;
	case STOP_ENTRY:
		buffer_append_string(out, ptrace_state_is_debugger(debugger) ? "entry" : "pdb");
		return;
	case STOP_STEP:
		break;
	}
	buffer_append_string(out, event_words[debugger->at]);
}

void debug_state_append_word(struct buffer *out, const struct rank *rank)
{
	if (debug_state_is_waiting(rank))
		buffer_append_string(out, "pdb?");
	else if (debug_state_is_taken(rank))
		buffer_append_string(out, "taken");
	else if (debug_state_is_busy(rank))
		buffer_append_string(out, "busy");
	else if (rank->debugger.state == DEBUGGER_NESTED && debug_state_is_held(rank))
		buffer_append_string(out, "prompt");
	else if (debug_state_is_held(rank) && rank->debugger.is_post_mortem)
		buffer_append_string(out, "raised");
	else if (debug_state_is_held(rank))
		append_stop_word(out, &rank->debugger);
}

/* From here on: the verdict on a job with ranks that are in a debugger. */

/* Maximum width of an exception's text, and of a debugger's address. */
#define TEXT_COLUMNS 80
#define GROUPS_LISTED 4

/* Words for a stop after a step. */
static const char *const stop_event_words[] = {
	[STOP_AT_UNKNOWN] = "after a step",
	[STOP_AT_LINE] = "after a step",
	[STOP_AT_CALL] = "at a call",
	[STOP_AT_RETURN] = "at a return",
	[STOP_AT_EXCEPTION] = "at an exception",
};

/* Ranks that share one sentence. */
struct group {
	char *text;  /* the same text for one rank and for several ranks */
	char *place; /* where all ranks of the group are paused; "": at several places */
	struct rankset ranks;
	const struct rank *first;
	double seconds; /* shortest time in this state; -1: not printed */
};

struct groups {
	struct group *items;
	size_t count;
	size_t capacity;
};

/* Appends the first line of text, escaped and cut. */
static void debug_state_text_append_text(struct buffer *out, const char *text)
{
	struct buffer escaped = BUFFER_INIT;

	text_escape(&escaped, text, strcspn(text, "\r\n"));
	text_cut(out, escaped.data, TEXT_COLUMNS);
	buffer_clear(&escaped);
}

/* The frame of user code of the stopped thread; NULL: unknown. */
static const struct frame *debug_state_text_frame_of(const struct rank *rank)
{
	const struct thread *thread = debug_state_thread(rank);

	return thread ? place_find(&rank->process, thread->sample.stack) : NULL;
}

static void debug_state_text_append_place(struct buffer *out, const char *before,
					  const struct rank *rank, const char *behind)
{
	const struct frame *frame = debug_state_text_frame_of(rank);
	struct buffer place = BUFFER_INIT;

	if (!frame)
		return;
	place_append(&place, frame);
	buffer_append_string(out, before);
	text_cut_path(out, place.data, TEXT_COLUMNS);
	buffer_append_string(out, behind);
	buffer_clear(&place);
}

/* Appends the reason in "breakpoint 1: condition failed: ..." in parentheses. */
static void debug_state_text_append_failure(struct buffer *out, const char *description)
{
	const char *colon = description ? strstr(description, ": ") : NULL;

	if (!colon)
		return;
	buffer_append_string(out, " (");
	debug_state_text_append_text(out, colon + 2);
	buffer_append_string(out, ")");
}

/* Appends "at watch 3 (total: 3 -> 4)". */
static void append_watch(struct buffer *out, const struct debugger *debugger)
{
	if (debugger->hit_count > 0)
		buffer_printf(out, "at watch %d", debugger->hits[0]);
	else
		buffer_append_string(out, "at a watch");
	if (!debugger->description)
		return;
	buffer_append_string(out, " (");
	debug_state_text_append_text(out, debugger->description);
	buffer_append_string(out, ")");
}

static void append_entry(struct buffer *out, const struct debugger *debugger)
{
	if (ptrace_state_is_debugger(debugger)) {
		buffer_append_string(out, "at program start");
		return;
	}
	buffer_append_string(out, "in ");
	debug_state_text_append_text(out, debugger->backend ? debugger->backend : "a debugger");
}

/* Appends "stopped at breakpoint 1, train.py:14". */
static void debug_state_text_append_stop(struct buffer *out, const struct rank *rank)
{
	const struct debugger *debugger = &rank->debugger;

	buffer_append_string(out, "stopped ");
	switch (debugger->reason) {
	case STOP_BREAKPOINT:
		if (debugger->hit_count > 0)
			buffer_printf(out, "at breakpoint %d", debugger->hits[0]);
		else
			buffer_append_string(out, "at a breakpoint");
		debug_state_text_append_failure(out, debugger->description);
		break;
	case STOP_DATA_BREAKPOINT:
		append_watch(out, debugger);
		break;
	case STOP_PAUSE:
		buffer_append_string(out, "by pause");
		break;
	case STOP_EXCEPTION:
		buffer_append_string(out, "at an exception");
		break;
	case STOP_ENTRY:
		append_entry(out, debugger);
		break;
	case STOP_STEP:
		buffer_append_string(out, stop_event_words[debugger->at]);
		break;
	}
	debug_state_text_append_place(out, ", ", rank, "");
}

/* True if the user paused the rank. Paused ranks are one group, even at different places. */
static bool is_paused(const struct rank *rank)
{
	return debug_state_is_stopped(rank) && !debug_state_is_outlier(rank) &&
	       rank->debugger.reason == STOP_PAUSE;
}

/*
 * Appends the text that all ranks of a group share; appends nothing for states with their own text.
 */
static void append_common(struct buffer *out, const struct rank *rank)
{
	const char *exception = rank->debugger.exception;

	/* The state of a rank that another client controls is unknown. */
	if (debug_state_is_taken(rank) || debug_state_is_busy(rank) || is_paused(rank))
		return;
	if (!debug_state_is_outlier(rank)) {
		debug_state_text_append_stop(out, rank);
	} else if (exception) {
		buffer_append_string(out, "raised ");
		debug_state_text_append_text(out, exception);
		/* The stack of a rank that waits for a client shows only the debugger's frames. */
		if (debug_state_is_stopped(rank))
			debug_state_text_append_place(out, " (", rank, ")");
	} else if (debug_state_is_stopped(rank)) {
		buffer_append_string(out, "raised an exception");
		debug_state_text_append_place(out, " (", rank, ")");
	}
}

static double debug_state_text_seconds_of(const struct session *session, const struct rank *rank)
{
	const struct thread *thread = debug_state_thread(rank);

	if (!debug_state_is_outlier(rank))
		return -1;
	if (debug_state_is_stopped(rank))
		return debug_state_seconds(rank, session->now);
	return thread ? rank->sampled_at - thread->since : -1;
}

static bool is_alike(const struct group *group, const struct rank *rank, const char *text)
{
	return strcmp(group->text, text) == 0 &&
	       debug_state_is_taken(group->first) == debug_state_is_taken(rank) &&
	       debug_state_is_busy(group->first) == debug_state_is_busy(rank) &&
	       is_paused(group->first) == is_paused(rank) &&
	       debug_state_is_waiting(group->first) == debug_state_is_waiting(rank);
}

static void debug_state_text_add_place(struct group *group, const struct rank *rank)
{
	struct buffer place = BUFFER_INIT;

	debug_state_text_append_place(&place, ", ", rank, "");
	if (!group->place)
		group->place = xstrdup(place.data);
	else if (strcmp(group->place, place.data) != 0)
		group->place[0] = '\0';
	buffer_clear(&place);
}

static void debug_state_text_add_rank(struct groups *groups, const struct session *session,
				      const struct rank *rank)
{
	struct buffer text = BUFFER_INIT;
	double seconds = debug_state_text_seconds_of(session, rank);
	struct group *group = NULL;

	append_common(&text, rank);
	for (size_t i = 0; i < groups->count && !group; i++) {
		if (is_alike(&groups->items[i], rank, text.data))
			group = &groups->items[i];
	}
	if (!group) {
		ARRAY_GROW(groups->items, groups->count, groups->capacity);
		group = &groups->items[groups->count++];
		*group = (struct group){
			.text = xstrdup(text.data),
			.first = rank,
			.seconds = seconds,
		};
	}
	if (is_paused(rank))
		debug_state_text_add_place(group, rank);
	if (seconds < group->seconds)
		group->seconds = seconds;
	rankset_add(&group->ranks, rank->process.rank);
	buffer_clear(&text);
}

static void debug_state_text_groups_clear(struct groups *groups)
{
	for (size_t i = 0; i < groups->count; i++) {
		free(groups->items[i].text);
		free(groups->items[i].place);
		rankset_clear(&groups->items[i].ranks);
	}
	free(groups->items);
}

/* Appends "waits in a debugger (pdb:unix:/tmp/1.sock) for a client to connect". */
static void debug_state_text_append_waiting(struct buffer *out, const struct group *group,
					    bool is_plural)
{
	const char *target = group->first->debugger.target;

	if (group->text[0] != '\0')
		buffer_append_string(out, " and ");
	buffer_append_string(out, is_plural ? "wait in debuggers" : "waits in a debugger");
	if (!is_plural && target) {
		buffer_append_string(out, " (");
		debug_state_text_append_text(out, target);
		buffer_append_char(out, ')');
	}
	buffer_append_string(out, " for a client to connect");
}

/* Returns "by its agent", "in pdb" or "in a debugger". */
static const char *holder_of(const struct rank *rank, bool is_plural)
{
	if (debugger_is_of(&rank->debugger, "http"))
		return is_plural ? "by their agents" : "by its agent";
	return debugger_is_of(&rank->debugger, "pdb") ? "in pdb" : "in a debugger";
}

static void debug_state_text_append_group(struct buffer *out, const struct group *group)
{
	bool is_plural = rankset_count(&group->ranks) != 1;
	const char *holder = holder_of(group->first, is_plural);

	phrase_append_ranks(out, &group->ranks);
	buffer_append_char(out, ' ');
	buffer_append_string(out, group->text);
	if (is_paused(group->first))
		buffer_printf(out, "%s paused%s", is_plural ? "are" : "is", group->place);
	else if (debug_state_is_taken(group->first))
		buffer_printf(out, "%s stopped in a debugger by another client",
			      is_plural ? "are" : "is");
	else if (debug_state_is_busy(group->first))
		buffer_printf(out, "%s code typed in the debugger", is_plural ? "run" : "runs");
	else if (debug_state_is_waiting(group->first))
		debug_state_text_append_waiting(out, group, is_plural);
	else if (debug_state_is_outlier(group->first))
		buffer_printf(out, " and %s stopped %s", is_plural ? "are" : "is", holder);
	phrase_append_duration(out, ", for ", group->seconds);
}

/* The ranks that are not stopped in a debugger. */
struct company {
	size_t waiting;		       /* number of ranks that wait for their peers */
	size_t running;		       /* number of other ranks */
	const struct wait_group *only; /* the only group of waiting ranks; NULL: none or several */
};

static struct company find_company(const struct wait_group_list *wait_groups)
{
	struct company company = { .only = NULL };
	size_t places = 0;

	for (size_t i = 0; i < wait_groups->count; i++) {
		const struct wait_group *wait_group = &wait_groups->items[i];

		if (wait_group->role == WAIT_GROUP_WAITS) {
			company.waiting += wait_group->count;
			company.only = wait_group;
			places++;
		} else if (wait_group->role == WAIT_GROUP_ELSEWHERE &&
			   !debug_state_is_held(wait_group->first)) {
			company.running += wait_group->count;
		}
	}
	if (places != 1)
		company.only = NULL;
	return company;
}

static void append_wait_place(struct buffer *out, const struct company *company)
{
	if (!company->only)
		return;
	buffer_append_string(out, " in ");
	phrase_append_where(out, company->only);
}

/* For a stop that the user requested, appends ". 6 ranks wait for ranks 0,3 in all_reduce …" or
 * ". 6 ranks are not stopped; 5 wait for ranks 0,3 in all_reduce …" */
static void append_free(struct buffer *out, const struct company *company,
			const struct rankset *held)
{
	size_t count = company->waiting + company->running;

	if (count == 0)
		return;
	buffer_append_string(out, ". ");
	text_count(out, count);
	buffer_append_string(out, count == 1 ? " rank" : " ranks");
	if (company->running > 0)
		buffer_append_string(out, count == 1 ? " is not stopped" : " are not stopped");
	if (company->waiting == 0)
		return;
	if (company->running > 0) {
		buffer_append_string(out, "; ");
		text_count(out, company->waiting);
	}
	buffer_append_string(out, company->waiting == 1 ? " waits for " : " wait for ");
	rankset_append_named(out, held);
	append_wait_place(out, company);
}

/* If only exceptions and the program itself stopped ranks, appends "; 3 of 4 ranks wait in
 * all_reduce …" */
static void append_kept(struct buffer *out, const struct session *session,
			const struct company *company)
{
	if (company->waiting > 0) {
		buffer_append_string(out, "; ");
		text_count(out, company->waiting);
		buffer_append_string(out, " of ");
		phrase_append_total(out, session);
		buffer_append_string(out, company->waiting == 1 ? " waits" : " wait");
		if (!company->only)
			buffer_append_string(out, " for their peers");
		append_wait_place(out, company);
	}
	if (company->running == 0)
		return;
	buffer_append_string(out, "; ");
	text_count(out, company->running);
	buffer_append_string(out, company->running == 1 ? " rank is not stopped"
							: " ranks are not stopped");
}

static void debug_state_text_append_groups(struct buffer *out, const struct session *session)
{
	struct groups groups = { .items = NULL };

	for (size_t i = 0; i < session->rank_count; i++) {
		if (debug_state_is_held(session->ranks[i]))
			debug_state_text_add_rank(&groups, session, session->ranks[i]);
	}
	for (size_t i = 0; i < groups.count && i < GROUPS_LISTED; i++) {
		if (i > 0)
			buffer_append_string(out, ". ");
		debug_state_text_append_group(out, &groups.items[i]);
	}
	if (groups.count > GROUPS_LISTED)
		buffer_append_string(out, ", and others elsewhere");
	debug_state_text_groups_clear(&groups);
}

void debug_state_append_sentence(struct buffer *out, const struct session *session,
				 const struct wait_group_list *wait_groups)
{
	struct company company = find_company(wait_groups);
	struct rankset held = RANKSET_INIT;
	bool is_ours = false;

	for (size_t i = 0; i < session->rank_count; i++) {
		const struct rank *rank = session->ranks[i];

		if (debug_state_is_held(rank))
			rankset_add(&held, rank->process.rank);
		is_ours = is_ours || (debug_state_is_held(rank) && !debug_state_is_outlier(rank));
	}
	debug_state_text_append_groups(out, session);
	if (is_ours)
		append_free(out, &company, &held);
	else
		append_kept(out, session, &company);
	buffer_append_char(out, '.');
	rankset_clear(&held);
}

void debug_state_append_others(struct buffer *out, const struct session *session)
{
	size_t length = out->length;

	buffer_append_char(out, ' ');
	debug_state_text_append_groups(out, session);
	if (out->length > length + 1)
		buffer_append_char(out, '.');
	else
		buffer_truncate(out, length);
}

bool ptrace_state_is_debugger(const struct debugger *debugger)
{
	return debugger_is_ours(debugger) && debugger_is_of(debugger, "ptrace");
}

bool ptrace_state_is(const struct rank *rank)
{
	return !rank_is_gone(rank) && ptrace_state_is_debugger(&rank->debugger);
}

bool ptrace_state_is_free(const struct rank *rank)
{
	enum debugger_state state = rank->debugger.state;

	/* A rank on another machine is known only by its debugger's socket: no pid to attach to. */
	return !rank_is_gone(rank) && rank->process.pid > 0 &&
	       process_shown_pid(&rank->process) > 0 &&
	       (state == DEBUGGER_NONE || state == DEBUGGER_STALE || state == DEBUGGER_LOST);
}
