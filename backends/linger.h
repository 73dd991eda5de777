/*
 * linger: the last bytes to the other end of a socket whose connection is
 * closed. They are written without anybody waiting for it, what comes back is
 * read and thrown away for a while (who is told of a broken pipe in the middle
 * of an answer raises in the user's program), then the socket is closed. The
 * node leaves no sooner.
 */
#ifndef BACKENDS_LINGER_H
#define BACKENDS_LINGER_H

#include <stdbool.h>
#include <stddef.h>

struct linger_list;
struct loop;

/* So long at most, from the call on. */
#define LINGER_SECONDS 0.25

enum linger_when {
	LINGER_NOW,
	/*
	 * When what it was asked before has been answered, or soon: who reads
	 * and writes by one stream forgets what came while it wrote.
	 */
	LINGER_BEHIND_AN_ANSWER,
};

struct linger_list *linger_list_new(struct loop *loop);
/* Closes what is still open. */
void linger_list_free(struct linger_list *linger_list);
/* Takes fd, which must not block; bytes are copied, and may be none. */
void linger_list_add(struct linger_list *linger_list, int owned_fd, const char *bytes,
		     size_t length, enum linger_when when);
bool linger_list_are_over(const struct linger_list *linger_list);

#endif
