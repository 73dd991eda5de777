/*
 * collective: which of the calls that a line of Python makes wait for all
 * ranks of a group, by their names. What stands between them and the line
 * (torch.distributed, deepspeed, a wrapper) is not looked at.
 */
#ifndef MODEL_COLLECTIVE_H
#define MODEL_COLLECTIVE_H

#include <stdbool.h>

struct buffer;
struct rank;
struct session;

/* Lends the name of the first that the text of a line calls; NULL: none. */
const char *collective_of_line(const char *text);

/* Where a rank that stands will wait for its peers. */
struct collective {
	const char *name; /* lent */
	int line;
};

/*
 * Whether the line that frame depth of the rank stands at calls one, as its
 * source says or because peers of it wait there; is_far: or one behind it in
 * the same function.
 */
bool collective_is_ahead(struct collective *collective, const struct session *session,
			 const struct rank *rank, int depth, bool is_far);

#endif
