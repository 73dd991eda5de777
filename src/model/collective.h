/*
 * collective: finds calls in a line of Python that wait for all ranks of a group, by the
 * functions' names. The module (torch.distributed, deepspeed, a wrapper) is not checked.
 */
#ifndef MODEL_COLLECTIVE_H
#define MODEL_COLLECTIVE_H

#include <stdbool.h>

struct buffer;
struct rank;
struct session;

/* Returns the borrowed name of the first collective that a line's text calls; NULL: none. */
const char *collective_of_line(const char *text);

/* The collective in which a stopped rank will wait for its peers. */
struct collective {
	const char *name; /* borrowed */
	int line;
};

/*
 * True if the rank's current line in frame depth calls a collective: by the source, or
 * because peers wait in a call from this line. is_far: also searches the later lines of
 * the function.
 */
bool collective_is_ahead(struct collective *collective, const struct session *session,
			 const struct rank *rank, int depth, bool is_far);

#endif
