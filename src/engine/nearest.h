/* nearest: the existing name that a mistyped name probably means, for error messages. */
#ifndef ENGINE_NEAREST_H
#define ENGINE_NEAREST_H

struct nearest {
	const char *word; /* the mistyped name, borrowed */
	const char *best; /* closest name so far, borrowed; NULL: none is close */
	int distance;
};

void nearest_init(struct nearest *nearest, const char *word);
/* Considers name; among equally close names the first is kept. */
void nearest_offer(struct nearest *nearest, const char *name);

#endif
