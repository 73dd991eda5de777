/*
 * held: what cards, rows and the header say of ranks that are in a debugger,
 * besides the words of model/held.h.
 */
#ifndef UI_HELD_H
#define UI_HELD_H

#include <stdbool.h>
#include <stddef.h>

struct buffer;
struct rank;
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

#endif
