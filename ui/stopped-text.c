#include "ui/stopped-text.h"

#include <math.h>
#include <string.h>

#include "banned.h"
#include "base/buffer.h"
#include "base/text.h"
#include "model/debug-state.h"
#include "model/session.h"
#include "model/wait-group.h"
#include "protocol/rankset.h"

#define LONG_SHARE 0.8
/* Minimum number of seconds from the announcement of a resume to the resume, so that the user has
 * time to answer. */
#define SOON_SECONDS 10.0

bool rank_append_held(struct buffer *out, const struct rank *rank)
{
	static const char *const doings[] = {
		[DEBUGGER_WAITING] = "no client yet",
		[DEBUGGER_CONNECTING] = "connecting",
		[DEBUGGER_STOPPED] = "stopped",
		[DEBUGGER_NESTED] = "nested prompt",
	};
	const struct debugger *debugger = &rank->debugger;

	if (rank_is_gone(rank) || debugger->state > DEBUGGER_NESTED ||
	    doings[debugger->state] == NULL)
		return false;
	if (debugger->exception != NULL)
		buffer_append(out, debugger->exception, strcspn(debugger->exception, "\n"));
	else if (!rank_append_change(out, rank))
		buffer_append_string(out, doings[debugger->state]);
	return true;
}

bool rank_append_change(struct buffer *out, const struct rank *rank)
{
	const struct debugger *debugger = &rank->debugger;

	if (!debug_state_is_stopped(rank) || debugger->reason != STOP_DATA_BREAKPOINT ||
	    debugger->description == NULL)
		return false;
	text_escape(out, debugger->description, strlen(debugger->description));
	return true;
}

size_t session_held_count(const struct session *session)
{
	size_t count = 0;

	for (size_t i = 0; i < session->rank_count; i++)
		count += debug_state_is_stopped(session->ranks[i]);
	return count;
}

/* Returns the seconds since the rank stopped; 0 if unknown. */
static double stopped_text_seconds_of(const struct session *session, const struct rank *rank)
{
	double seconds = debug_state_seconds(rank, session->now);

	return seconds > 0 ? seconds : 0;
}

/* Returns the stopped rank whose lease ends first; without leases, the rank that has been stopped
 * longest; NULL if no rank is stopped. */
static const struct rank *most_urgent(const struct session *session)
{
	const struct rank *longest = NULL;
	const struct rank *first = NULL;
	double least = 0;

	for (size_t i = 0; i < session->rank_count; i++) {
		const struct rank *rank = session->ranks[i];
		double lease = rank->debugger_at + rank->debugger.lease;

		if (!debug_state_is_stopped(rank))
			continue;
		if (longest == NULL || stopped_text_seconds_of(session, rank) >
					       stopped_text_seconds_of(session, longest))
			longest = rank;
		if (rank->debugger.lease >= 0 && (first == NULL || lease < least)) {
			first = rank;
			least = lease;
		}
	}
	return first != NULL ? first : longest;
}

/*
 * Returns the seconds that count against the rank's limit. Without a lease, the limit is a
 * collective's time-out. Its time counts from the moment when other ranks began to wait, even if
 * the rank has made steps since.
 */
static double counted(const struct session *session, const struct rank *rank)
{
	double most = stopped_text_seconds_of(session, rank);

	for (size_t i = 0; rank->debugger.lease < 0 && i < session->rank_count; i++) {
		const struct rank *other = session->ranks[i];
		const struct thread *thread = rank_main_thread(other);
		double waited = thread != NULL ? session->now - thread->since : 0;

		if (!debug_state_is_stopped(other) && thread != NULL &&
		    thread->activity.kind == ACTIVITY_PEERS && waited > most)
			most = waited;
	}
	return most;
}

/* Returns the seconds that the rank may stay stopped; -1 if there is no limit. */
static double limit_of(const struct session *session, const struct rank *rank)
{
	const struct debugger *debugger = &rank->debugger;

	if (debugger->lease < 0)
		return watchdog_seconds(session);
	return debugger->lease + (debugger->held > 0 ? debugger->held : 0);
}

void session_append_held(struct buffer *out, const struct session *session)
{
	const struct rank *rank = most_urgent(session);
	double limit;

	if (rank == NULL)
		return;
	text_count(out, session_held_count(session));
	buffer_append_string(out, " stopped for ");
	text_clock(out, counted(session, rank));
	limit = limit_of(session, rank);
	if (limit < 0)
		return;
	buffer_append_string(out, ", max ");
	/* lease and held were read one after the other, so their sum is some milliseconds short. */
	text_clock(out, round(limit));
}

bool session_is_held_long(const struct session *session)
{
	const struct rank *rank = most_urgent(session);
	double limit = rank != NULL ? limit_of(session, rank) : -1;

	return limit > 0 && counted(session, rank) > LONG_SHARE * limit;
}

static bool is_limited(const struct rank *rank)
{
	return debug_state_is_stopped(rank) && rank->debugger.is_limited &&
	       rank->debugger.lease >= 0;
}

static double resume_of(const struct rank *rank)
{
	return rank->debugger_at + rank->debugger.lease;
}

/* Returns the rank that the node will resume first; NULL if the node will not resume any rank. */
static const struct rank *first_limited(const struct session *session)
{
	const struct rank *first = NULL;

	for (size_t i = 0; i < session->rank_count; i++) {
		const struct rank *rank = session->ranks[i];

		if (is_limited(rank) && (!first || resume_of(rank) < resume_of(first)))
			first = rank;
	}
	return first;
}

double session_resume_at(const struct session *session)
{
	const struct rank *first = first_limited(session);

	return first ? resume_of(first) : -1;
}

void session_add_limited(struct rankset *ranks, const struct session *session)
{
	for (size_t i = 0; i < session->rank_count; i++)
		if (is_limited(session->ranks[i]))
			rankset_add(ranks, session->ranks[i]->process.rank);
}

double session_resume_seconds(const struct session *session)
{
	const struct rank *first = first_limited(session);
	double left;

	if (!session_controls(session, first))
		return -1;
	left = resume_of(first) - session->now;
	if (left > SOON_SECONDS &&
	    stopped_text_seconds_of(session, first) <= LONG_SHARE * limit_of(session, first))
		return -1;
	return left > 0 ? left : 0;
}

void stopped_text_append_resume(struct buffer *out, const struct rankset *ranks, double seconds,
				bool has_reason)
{
	size_t start = out->length;

	rankset_append_named(out, ranks);
	out->data[start] = 'R';
	buffer_append_string(out, rankset_count(ranks) == 1 ? " resumes in " : " resume in ");
	if (seconds < 100)
		buffer_printf(out, "%.0f s", ceil(seconds));
	else
		text_clock(out, seconds);
	if (has_reason)
		buffer_append_string(out, ", before the job times out");
}
