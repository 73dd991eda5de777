/*
 * complete: what may stand where a command line is being typed, from the
 * command table (engine/synopsis.h) and from what there is: ranks, jobs,
 * themes, files, keys.
 */
#ifndef UI_COMPLETE_H
#define UI_COMPLETE_H

#include <stddef.h>

struct keymap;
struct session;

/* More than these are of no use on one line. */
#define COMPLETE_MAXIMUM 500

struct candidates {
	char **items; /* what the word could be, each once */
	size_t count;
	size_t capacity;
	size_t start; /* where in the line the word begins */
};

/*
 * Fills candidates for the word that the line ends in. Files are looked for
 * in the folder that the program was started in.
 */
void complete_line(struct candidates *candidates, const char *line, const struct session *session,
		   const struct keymap *keymap);
void candidates_clear(struct candidates *candidates);
/* The bytes that all candidates begin with. */
size_t candidates_common(const struct candidates *candidates);

#endif
