/*
 * held: the ranks that stand at a debugger's prompt because of us, and those
 * whose debugger waits for somebody, as the screen says them.
 */
#ifndef UI_HELD_H
#define UI_HELD_H

#include <stdbool.h>
#include <stddef.h>

struct buffer;
struct rank;
struct session;

/* Its debugger is ours, and at a prompt of some kind. */
bool rank_is_held(const struct rank *rank);
/* Its debugger waits for a client, and Enter makes us one. */
bool rank_can_connect(const struct rank *rank);
/* Seconds since a held rank stopped. */
double rank_held_seconds(const struct session *session,
			 const struct rank *rank);
/*
 * Appends what its debugger says it does: a word ("bp 1", "step", "pdb"), six
 * columns at most; a few words ("RuntimeError: boom"). False, and nothing:
 * its debugger says nothing.
 */
bool rank_append_held_word(struct buffer *out, const struct rank *rank);
bool rank_append_held_doing(struct buffer *out, const struct rank *rank);
/* Ranks that are held. */
size_t session_held_count(const struct session *session);
/*
 * Appends "2 stopped · held 0:41 of 10:00" (of the lease that ends first, if
 * there is one); nothing when none is held.
 */
void session_append_held(struct buffer *out, const struct session *session);

#endif
