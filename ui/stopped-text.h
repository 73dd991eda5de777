/*
 * stopped-text: texts about ranks in a debugger, for cards, rows and the header, besides the words
 * of model/debug-state.h.
 */
#ifndef UI_STOPPED_TEXT_H
#define UI_STOPPED_TEXT_H

#include <stdbool.h>
#include <stddef.h>

struct buffer;
struct rank;
struct rankset;
struct session;

/*
 * Appends the state of a rank in a debugger: "stopped", "RuntimeError: boom". Returns false, and
 * appends nothing, if the rank is not in a debugger.
 */
bool rank_append_held(struct buffer *out, const struct rank *rank);
/*
 * Appends the change that a data breakpoint reported, "total: 3 -> 4"; returns false if there is
 * none.
 */
bool rank_append_change(struct buffer *out, const struct rank *rank);
/* Returns the number of ranks that a connected debugger has stopped. */
size_t session_held_count(const struct session *session);
/*
 * Appends "2 stopped for 0:41, max 10:00": the time since the stop, and its limit, for the rank
 * whose lease (debugger.lease) ends first; without leases, the limit is the time-out of
 * collectives. Appends nothing if no rank is stopped.
 */
void session_append_held(struct buffer *out, const struct session *session);
/* True if four fifths of the limit that session_append_held() shows are over. */
bool session_is_held_long(const struct session *session);
/* Returns the session time at which the node resumes stopped ranks, before a collective times out;
 * -1: the node resumes none. */
double session_resume_at(const struct session *session);
/* Adds to ranks the ranks that the node will resume at session_resume_at(). */
void session_add_limited(struct rankset *ranks, const struct session *session);
/*
 * Returns the seconds until the node resumes ranks; -1: it will resume none, or not soon: more than
 * 10 s and at least a fifth of the limit are left.
 */
double session_resume_seconds(const struct session *session);
/*
 * Appends "Ranks 0,1 resume in 6 s, before the job times out"; has_reason false: leaves out the
 * reason after the comma.
 */
void stopped_text_append_resume(struct buffer *out, const struct rankset *ranks, double seconds,
				bool has_reason);

#endif
