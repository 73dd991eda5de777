#include "model/collective.h"

#include <ctype.h>
#include <string.h>

#include "banned.h"
#include "base/array.h"
#include "model/debug-state.h"
#include "model/place.h"
#include "model/session.h"
#include "model/source.h"
#include "model/wait-group.h"
#include "protocol/stack.h"

struct name {
	const char *name;
	bool is_common; /* counts only behind "dist." and other prefixes */
};

static const struct name names[] = {
	{ "all_reduce", false },
	{ "all_reduce_coalesced", false },
	{ "allreduce", false },
	{ "all_gather", false },
	{ "all_gather_coalesced", false },
	{ "all_gather_into_tensor", false },
	{ "all_gather_object", false },
	{ "all_gather_tensor", false },
	{ "allgather", false },
	{ "all_to_all", false },
	{ "all_to_all_single", false },
	{ "alltoall", false },
	{ "barrier", false },
	{ "monitored_barrier", false },
	{ "wait_for_everyone", false },
	{ "broadcast_object_list", false },
	{ "gather_object", false },
	{ "scatter_object_list", false },
	{ "reduce_scatter", false },
	{ "reduce_scatter_tensor", false },
	{ "init_process_group", false },
	{ "new_group", false },
	{ "broadcast", true },
	{ "gather", true },
	{ "scatter", true },
	{ "reduce", true },
	{ "send", true },
	{ "recv", true },
};

static const char *const prefixes[] = { "dist.", "distributed.", "comm.", "accelerator.", "hvd." };

static bool is_part_of_name(char character)
{
	return isalnum((unsigned char)character) || character == '_';
}

static bool is_behind_prefix(const char *text, const char *at)
{
	for (size_t i = 0; i < ARRAY_LENGTH(prefixes); i++) {
		size_t length = strlen(prefixes[i]);

		if ((size_t)(at - text) >= length && memcmp(at - length, prefixes[i], length) == 0)
			return true;
	}
	return false;
}

/* True if text calls the function before any comment; "def name(" is no call. */
static bool calls(const char *text, const struct name *row)
{
	size_t length = strlen(row->name);
	const char *end = text + strcspn(text, "#");
	const char *at = text;

	while ((at = strstr(at, row->name)) && at < end) {
		const char *behind = at + length;
		bool is_whole = at == text || !is_part_of_name(at[-1]);
		bool is_made = at - text >= 4 && memcmp(at - 4, "def ", 4) == 0;

		if (is_whole && !is_made && *behind == '(' &&
		    (!row->is_common || is_behind_prefix(text, at)))
			return true;
		at = behind;
	}
	return false;
}

const char *collective_of_line(const char *text)
{
	for (size_t i = 0; i < ARRAY_LENGTH(names); i++) {
		if (calls(text, &names[i]))
			return names[i].name;
	}
	return NULL;
}

static const struct frame *collective_frame_of(const struct rank *rank, int depth)
{
	const struct thread *thread = debug_state_thread(rank);
	const struct stack *stack = thread ? thread->sample.stack : NULL;

	if (!stack || depth < 0 || (size_t)depth >= stack->frame_count)
		return NULL;
	return &stack->frames[depth];
}

/* Name of the collective that a peer called from the same line and waits in; NULL: none. */
static const char *collective_find_peer(const struct session *session, const struct frame *frame)
{
	for (size_t i = 0; i < session->rank_count; i++) {
		const struct rank *peer = session->ranks[i];
		const struct thread *thread = rank_main_thread(peer);
		const struct stack *stack = thread ? thread->sample.stack : NULL;

		if (wait_group_role_of(peer) != WAIT_GROUP_WAITS)
			continue;
		for (size_t j = 0; stack && j < stack->frame_count; j++) {
			const struct frame *own = &stack->frames[j];

			if (own->lineno == frame->lineno &&
			    strcmp(own->code->func, frame->code->func) == 0 &&
			    strcmp(own->code->file, frame->code->file) == 0)
				return thread->activity.name;
		}
	}
	return NULL;
}

bool collective_is_ahead(struct collective *collective, const struct session *session,
			 const struct rank *rank, int depth, bool is_far)
{
	const struct frame *frame = collective_frame_of(rank, depth);
	const struct source *source;
	int last;

	if (!frame)
		return false;
	*collective = (struct collective){ collective_find_peer(session, frame), frame->lineno };
	if (collective->name)
		return true;
	source = session_find_source(session, rank->node, rank->process.pid, frame->code->file);
	if (!source)
		return false;
	last = frame->lineno;
	if (is_far)
		last = source_function_end(source,
					   place_is_module(frame) ? 0 : frame->code->first_lineno,
					   frame->lineno);
	for (int line = frame->lineno; line <= last; line++) {
		const char *text = source_line(source, line);

		collective->name = text ? collective_of_line(text) : NULL;
		collective->line = line;
		if (collective->name)
			return true;
	}
	return false;
}
