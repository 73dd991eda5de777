#include "model/debug-state.h"

#include <string.h>

#include "banned.h"
#include "base/buffer.h"
#include "base/text.h"
#include "model/place.h"
#include "model/ptrace-state.h"
#include "model/session.h"
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

/* The other client may have resumed the rank: only its stacks show a prompt. */
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
