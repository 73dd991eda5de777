/*
 * codeblock: Python code that is typed line by line. Decides when the code is complete, as the
 * interactive interpreter does: an open bracket or string needs further lines, and a block (after a
 * line that ends in a colon, or a decorator) needs lines up to an empty one. The syntax is not
 * checked: Python reports errors.
 */
#ifndef MODEL_CODEBLOCK_H
#define MODEL_CODEBLOCK_H

#include <stdbool.h>

#include "base/buffer.h"

struct error;

#define CODEBLOCK_MAXIMUM (256u << 10)

struct codeblock {
	struct buffer text; /* all lines, without the last newline */
	bool is_begun;	    /* text has lines, but is not complete yet */
	bool is_too_long;   /* the last line did not fit into text */
};

void codeblock_init(struct codeblock *block);
/* True if text has only blanks: nothing to run. */
bool codeblock_is_blank(const struct codeblock *block);
/* Empties the block. */
void codeblock_clear(struct codeblock *block);
/*
 * Adds a line. Returns true if the block is complete or too long: then call codeblock_check(), run
 * the text, and clear the block.
 */
bool codeblock_add(struct codeblock *block, const char *line);
/* -1 and *error: the block was too long; its text is cut and must not be run. */
int codeblock_check(const struct codeblock *block, struct error *error);
/*
 * True if line, the next line of a file, starts at column 0 and does not belong to the block, which
 * is complete without it: run the block first.
 */
bool codeblock_ends_before(const struct codeblock *block, const char *line);

#endif
