/*
 * synopsis: parses the synopsis of a table row ("[cards | table]", "--rank R [--frame DEPTH]",
 * "FILE") into the words that may be typed. Completion in a shell and on the `:` line uses only
 * these words.
 *
 * A word in lower case stands for itself, a word that begins with a capital is a placeholder.
 */
#ifndef ENGINE_SYNOPSIS_H
#define ENGINE_SYNOPSIS_H

#include <stdbool.h>
#include <stddef.h>

enum synopsis_kind {
	SYNOPSIS_WORD,	  /* the word itself */
	SYNOPSIS_FILE,	  /* FILE */
	SYNOPSIS_THEME,	  /* THEME */
	SYNOPSIS_COMMAND, /* COMMAND: a command's name */
	SYNOPSIS_SETTING, /* SETTING: a setting's name */
	SYNOPSIS_RANK,	  /* RANK, R: a rank's number */
	SYNOPSIS_RANKS,	  /* SET: a set of ranks */
	SYNOPSIS_FREE,	  /* anything: SECONDS, TEXT, KEY */
};

#define SYNOPSIS_PARTS 32
#define SYNOPSIS_WORD_SIZE 24

struct synopsis_part {
	enum synopsis_kind kind;
	char text[SYNOPSIS_WORD_SIZE];
	bool is_value; /* belongs to the word before it: "--for SECONDS" */
};

/* Fills parts, in order, and returns their count. */
size_t synopsis_split(const char *arguments, struct synopsis_part parts[SYNOPSIS_PARTS]);
/*
 * True if parts[part] may follow the typed word `previous` (NULL: the part would be the first
 * argument): after an option with a value only that value, else any part that is not a value.
 */
bool synopsis_fits(const struct synopsis_part *parts, size_t count, size_t part,
		   const char *previous);

/* Added to the maximum for a placeholder like "FILE...". */
#define SYNOPSIS_WORDS_MANY 1000000

/* Number of words that may follow the command, not counting options and `ranks SET`. */
struct synopsis_count {
	size_t minimum;
	size_t maximum;
	bool is_choice; /* all parts are lower-case words: "next | previous", "[on | off]" */
};

void synopsis_count(const char *synopsis, struct synopsis_count *count);

/* nearest: finds the existing name that a mistyped name probably means, for error messages. */

struct nearest {
	const char *word; /* the mistyped name, borrowed */
	const char *best; /* closest name so far, borrowed; NULL: none is close */
	int distance;
};

void nearest_init(struct nearest *nearest, const char *word);
/* Considers `name`; of equally close names the first one offered is kept. */
void nearest_offer(struct nearest *nearest, const char *name);

#endif
