/*
 * stopped-text: what cards, rows and the header say of ranks that are in a debugger,
 * besides the words of model/debug-state.h.
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
 * Appends what a rank in a debugger does: "stopped", "RuntimeError: boom".
 * False, and nothing: its debugger says nothing of it.
 */
bool rank_append_held(struct buffer *out, const struct rank *rank);
/* Appends what a data breakpoint has seen, "total: 3 -> 4"; false: nothing. */
bool rank_append_change(struct buffer *out, const struct rank *rank);
/* Ranks that are stopped by a debugger of ours. */
size_t session_held_count(const struct session *session);
/*
 * Appends "2 stopped · held 0:41 of 10:00": of the lease that ends first, or
 * what the peers' watchdogs allow; nothing when none is held.
 */
void session_append_held(struct buffer *out, const struct session *session);
/* That is nearly over. */
bool session_is_held_long(const struct session *session);
/* The session time at which the node resumes stopped ranks, before a collective
 * times out; -1: the node resumes none. */
double session_resume_at(const struct session *session);
/* Adds these ranks. */
void session_add_limited(struct rankset *ranks, const struct session *session);
/* Seconds until then; -1: the node resumes none, or four fifths of the time are
 * not over, and more than 10 s are left. */
double session_resume_seconds(const struct session *session);
/* Appends "Ranks 0,1 resume in 6 s, before the job times out", or without the
 * reason. */
void stopped_text_append_resume(struct buffer *out, const struct rankset *ranks, double seconds,
				bool has_reason);

#endif
