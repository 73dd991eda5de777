/*
 * motion: ranks that were told to run ("next", "continue"), and which of them
 * stopped again since.
 */
#ifndef UI_MOTION_H
#define UI_MOTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buffer;
struct engine;
struct session;

struct motion_rank {
	int rank;
	uint64_t stops; /* of its debugger, when it was told */
};

struct motion {
	char *command; /* as it was said; NULL: there is none */
	struct motion_rank *ranks;
	size_t count;
};

void motion_clear(struct motion *motion);
/*
 * Those that a command told to run, by requests after number seq, are the
 * motion from now on; false when no command did.
 */
bool motion_begin(struct motion *motion, const struct engine *engine,
		  int64_t seq);
/*
 * Appends "next: 6 of 8 stopped; 2 run (3,5)"; nothing when none runs any
 * more.
 */
void motion_append(struct buffer *out, const struct motion *motion,
		   const struct session *session);

#endif
