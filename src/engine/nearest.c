#include "engine/nearest.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "banned.h"

#define WORD_MAXIMUM 32

static int smallest(int a, int b, int c)
{
	int least = a < b ? a : b;

	return least < c ? least : c;
}

/* Edits (Levenshtein) that make name of word; both are short. */
static int distance_of(const char *word, size_t word_length, const char *name,
		       size_t name_length)
{
	int row[WORD_MAXIMUM + 1];

	for (size_t j = 0; j <= name_length; j++)
		row[j] = (int)j;
	for (size_t i = 1; i <= word_length; i++) {
		int diagonal = row[0];

		row[0] = (int)i;
		for (size_t j = 1; j <= name_length; j++) {
			int above = row[j];
			int change = word[i - 1] != name[j - 1];

			row[j] = smallest(above + 1, row[j - 1] + 1,
					  diagonal + change);
			diagonal = above;
		}
	}
	return row[name_length];
}

void nearest_init(struct nearest *nearest, const char *word)
{
	size_t length = strlen(word);

	*nearest = (struct nearest){
		.word = word,
		/* A third of the letters may be wrong, one always. */
		.distance = (int)(length < 6 ? 2 : length / 3 + 1),
	};
}

void nearest_offer(struct nearest *nearest, const char *name)
{
	size_t word_length = strlen(nearest->word);
	size_t name_length = strlen(name);
	int distance;

	if (word_length > WORD_MAXIMUM || name_length > WORD_MAXIMUM)
		return;
	distance = distance_of(nearest->word, word_length, name, name_length);
	/* What has no letter in common is not near, however short it is. */
	if (distance >= nearest->distance || distance >= (int)word_length)
		return;
	nearest->distance = distance;
	nearest->best = name;
}
