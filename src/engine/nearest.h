/*
 * nearest: the name somebody probably meant, for sentences about names that
 * do not exist.
 */
#ifndef ENGINE_NEAREST_H
#define ENGINE_NEAREST_H

struct nearest {
	const char *word; /* lent */
	const char *best; /* lent; NULL: nothing is near */
	int distance;
};

void nearest_init(struct nearest *nearest, const char *word);
/* Offers a candidate; the first of the nearest is kept. */
void nearest_offer(struct nearest *nearest, const char *name);

#endif
