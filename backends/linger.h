/*
 * linger: closes sockets without blocking (RFC 7230, 6.6: lingering close). The last bytes are
 * written from the loop; input is read and dropped for a while, since a peer that gets EPIPE in the
 * middle of an answer would raise in the user's program; then the socket is closed. The node exits
 * only after all sockets are closed.
 */
#ifndef BACKENDS_LINGER_H
#define BACKENDS_LINGER_H

#include <stdbool.h>
#include <stddef.h>

struct linger_list;
struct loop;

/* The longest time from linger_list_add() to the close. */
#define LINGER_SECONDS 0.25

enum linger_when {
	LINGER_NOW,
	/*
	 * Write the bytes when the peer has answered an earlier request, or after half of
	 * LINGER_SECONDS: a peer that reads and writes through one buffered stream loses input that
	 * arrives while the peer writes.
	 */
	LINGER_BEHIND_AN_ANSWER,
};

struct linger_list *linger_list_new(struct loop *loop);
/* Closes the sockets that are still open. */
void linger_list_free(struct linger_list *linger_list);
/* Takes over owned_fd, which must be non-blocking. bytes are copied; length may be 0. */
void linger_list_add(struct linger_list *linger_list, int owned_fd, const char *bytes,
		     size_t length, enum linger_when when);
/* Whether all sockets are closed. */
bool linger_list_are_over(const struct linger_list *linger_list);

#endif
