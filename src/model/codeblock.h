/*
 * codeblock: Python that is typed line by line, and whether it is whole, as
 * an interactive interpreter sees it: open brackets and strings go on, and
 * so does a block (a line that ends in a colon, a decorator) up to an empty
 * line. Nothing is checked: what is wrong is for Python to say.
 */
#ifndef MODEL_CODEBLOCK_H
#define MODEL_CODEBLOCK_H

#include <stdbool.h>

#include "base/buffer.h"

#define CODEBLOCK_MAXIMUM (256u << 10)

struct codeblock {
	struct buffer text; /* lines, without the last newline */
	bool is_begun;	    /* not whole yet */
};

void codeblock_init(struct codeblock *block);
/* It is empty again. */
void codeblock_clear(struct codeblock *block);
/* Adds a line; true: it is whole now, to be run and cleared. */
bool codeblock_add(struct codeblock *block, const char *line);
/*
 * A line that is no part of the block: it begins at the left, and what it
 * would go on from is whole. Whoever reads a file runs the block first.
 */
bool codeblock_ends_before(const struct codeblock *block, const char *line);

#endif
