/*
 * synopsis: what the arguments text of a table row ("[cards | table]",
 * "--rank R [--frame DEPTH]", "FILE") says may stand there. Completion, in a
 * shell and behind a colon, knows no more than that.
 *
 * A word in small letters stands for itself, one that begins with a capital
 * for a thing of its kind.
 */
#ifndef ENGINE_SYNOPSIS_H
#define ENGINE_SYNOPSIS_H

#include <stdbool.h>
#include <stddef.h>

enum synopsis_kind {
	SYNOPSIS_WORD,	  /* itself */
	SYNOPSIS_FILE,	  /* FILE */
	SYNOPSIS_THEME,	  /* THEME */
	SYNOPSIS_COMMAND, /* COMMAND: a command's name */
	SYNOPSIS_SETTING, /* SETTING: what `set` sets */
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
 * True when a part may stand behind the word previous (NULL: it is the first
 * argument): the value of that word alone, if it has one, else all but the
 * values of other words.
 */
bool synopsis_fits(const struct synopsis_part *parts, size_t count, size_t part,
		   const char *previous);

/* How many words stand behind the command, but for options and `ranks SET`. */
struct synopsis_count {
	size_t minimum;
	size_t maximum;
	bool is_choice; /* of small words only: "next | previous", "[on | off]" */
};

void synopsis_count(const char *synopsis, struct synopsis_count *count);

#endif
