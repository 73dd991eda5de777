#include "ui/held.h"

#include "banned.h"
#include "base/buffer.h"
#include "base/text.h"
#include "model/session.h"

#define NUMBER_MAXIMUM 999 /* "bp 999" is as wide as a word may be */

bool rank_is_held(const struct rank *rank)
{
	if (rank_is_gone(rank))
		return false;
	switch (rank->debugger.state) {
	case DEBUGGER_STOPPED:
	case DEBUGGER_NESTED:
	case DEBUGGER_FOREIGN:
		return true;
	case DEBUGGER_NONE:
	case DEBUGGER_WAITING:
	case DEBUGGER_STALE:
	case DEBUGGER_REFUSED:
	case DEBUGGER_CONNECTING:
	case DEBUGGER_RUNNING:
	case DEBUGGER_LOST:
		break;
	}
	return false;
}

bool rank_can_connect(const struct rank *rank)
{
	return !rank_is_gone(rank) && rank->debugger.target != NULL &&
	       rank->debugger.state == DEBUGGER_WAITING;
}

double rank_held_seconds(const struct session *session, const struct rank *rank)
{
	double seconds = session->now - rank->debugger_at;

	if (rank->debugger.held > 0)
		seconds += rank->debugger.held;
	return seconds > 0 ? seconds : 0;
}

static void append_breakpoint(struct buffer *out,
			      const struct debugger *debugger)
{
	buffer_append_string(out, "bp");
	if (debugger->hit_count > 0 && debugger->hits[0] <= NUMBER_MAXIMUM)
		buffer_printf(out, " %d", debugger->hits[0]);
}

static void append_reason(struct buffer *out, const struct debugger *debugger)
{
	static const char *const words[] = {
		[STOP_ENTRY] = "stop",
		[STOP_STEP] = "step",
		[STOP_DATA_BREAKPOINT] = "watch",
		[STOP_PAUSE] = "pause",
		[STOP_EXCEPTION] = "raised",
	};

	if (debugger->reason == STOP_BREAKPOINT)
		append_breakpoint(out, debugger);
	else
		buffer_append_string(out, words[debugger->reason]);
}

bool rank_append_held_word(struct buffer *out, const struct rank *rank)
{
	if (rank_is_gone(rank))
		return false;
	switch (rank->debugger.state) {
	case DEBUGGER_STOPPED:
		append_reason(out, &rank->debugger);
		return true;
	case DEBUGGER_WAITING:
	case DEBUGGER_CONNECTING:
	case DEBUGGER_NESTED:
	case DEBUGGER_FOREIGN:
		buffer_append_string(out, "pdb");
		return true;
	case DEBUGGER_NONE:
	case DEBUGGER_STALE:
	case DEBUGGER_REFUSED:
	case DEBUGGER_RUNNING:
	case DEBUGGER_LOST:
		break;
	}
	return false;
}

bool rank_append_held_doing(struct buffer *out, const struct rank *rank)
{
	static const char *const doings[] = {
		[DEBUGGER_WAITING] = "waits for a client",
		[DEBUGGER_CONNECTING] = "connecting",
		[DEBUGGER_STOPPED] = "stopped",
		[DEBUGGER_NESTED] = "nested prompt",
		[DEBUGGER_FOREIGN] = "another prompt",
	};
	const struct debugger *debugger = &rank->debugger;

	if (rank_is_gone(rank) || debugger->state > DEBUGGER_FOREIGN ||
	    doings[debugger->state] == NULL)
		return false;
	if (debugger->state == DEBUGGER_STOPPED && debugger->exception != NULL)
		buffer_append_string(out, debugger->exception);
	else
		buffer_append_string(out, doings[debugger->state]);
	return true;
}

size_t session_held_count(const struct session *session)
{
	size_t count = 0;

	for (size_t i = 0; i < session->rank_count; i++)
		count += rank_is_held(session->ranks[i]);
	return count;
}

/* Of the rank that goes on first by itself, else of the one held longest. */
static const struct rank *most_urgent(const struct session *session)
{
	const struct rank *longest = NULL;
	const struct rank *first = NULL;
	double least = 0;

	for (size_t i = 0; i < session->rank_count; i++) {
		const struct rank *rank = session->ranks[i];
		double lease = rank->debugger_at + rank->debugger.lease;

		if (!rank_is_held(rank))
			continue;
		if (longest == NULL ||
		    rank_held_seconds(session, rank) >
			    rank_held_seconds(session, longest))
			longest = rank;
		if (rank->debugger.lease >= 0 &&
		    (first == NULL || lease < least)) {
			first = rank;
			least = lease;
		}
	}
	return first != NULL ? first : longest;
}

void session_append_held(struct buffer *out, const struct session *session)
{
	const struct rank *rank = most_urgent(session);

	if (rank == NULL)
		return;
	text_count(out, session_held_count(session));
	buffer_append_string(out, " stopped \u00b7 held ");
	text_clock(out, rank_held_seconds(session, rank));
	if (rank->debugger.lease < 0)
		return;
	buffer_append_string(out, " of ");
	text_clock(out,
		   rank->debugger.lease +
			   (rank->debugger.held > 0 ? rank->debugger.held : 0));
}
