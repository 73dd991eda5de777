/*
 * complete: candidates for the last word of a command line, from the command table
 * (engine/synopsis.h) and from ranks, jobs, themes, files and keys.
 */
#ifndef UI_COMPLETE_H
#define UI_COMPLETE_H

#include <stddef.h>
#include <stdint.h>

struct keymap;
struct session;

/* Maximum number of candidates. */
#define COMPLETE_MAXIMUM 500

struct candidates {
	char **items; /* words that can replace the completed word, without duplicates */
	size_t count;
	size_t capacity;
	size_t start; /* offset of the completed word in the line */
};

/* Fills candidates for the line's last word. Relative paths begin in the working directory. */
void complete_line(struct candidates *candidates, const char *line, const struct session *session,
		   const struct keymap *keymap);
void candidates_clear(struct candidates *candidates);
/* Returns the length in bytes of the prefix that all candidates share. */
size_t candidates_common(const struct candidates *candidates);

/*
 * names: completions of an expression in the selected frame: the frame's variables, and the
 * attributes of objects whose variables are known. If the variables of an object are needed and not
 * known yet, its address is returned, so that the caller can request them.
 */

struct names_query {
	uint64_t address; /* address of the object whose variables are needed; 0: none */
};

/*
 * Calls give() with each text that can replace word. Returns the object whose variables are needed
 * for further completions.
 */
struct names_query names_find(const struct session *session, const char *word,
			      void (*give)(void *data, const char *text), void *data);

#endif
