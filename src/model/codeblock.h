/*
 * codeblock: Python that is typed line by line, and whether it is whole, as
 * an interactive interpreter sees it: open brackets and strings continue, and
 * so does a block (a line that ends in a colon, a decorator) up to an empty
 * line. Nothing is checked: what is wrong is for Python to say.
 */
#ifndef MODEL_CODEBLOCK_H
#define MODEL_CODEBLOCK_H

#include <stdbool.h>

#include "base/buffer.h"

struct error;

#define CODEBLOCK_MAXIMUM (256u << 10)

struct codeblock {
	struct buffer text; /* lines, without the last newline */
	bool is_begun;	    /* not whole yet */
	bool is_too_long;   /* what came last is not in text */
};

void codeblock_init(struct codeblock *block);
/* There is nothing to run in it. */
bool codeblock_is_blank(const struct codeblock *block);
/* It is empty again. */
void codeblock_clear(struct codeblock *block);
/*
 * Adds a line; true: it is whole now, or too long: to be checked, run and
 * cleared.
 */
bool codeblock_add(struct codeblock *block, const char *line);
/* -1 and a sentence: not all of it is there, and what is must not be run. */
int codeblock_check(const struct codeblock *block, struct error *error);
/*
 * A line that is no part of the block: it begins at the left, and the
 * block before it is complete. A reader of a file runs the block first.
 */
bool codeblock_ends_before(const struct codeblock *block, const char *line);

#endif
