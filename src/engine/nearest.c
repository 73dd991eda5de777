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

/*
 * Edit distance from word to name: letters inserted, deleted, replaced, or two swapped (optimal
 * string alignment). Lengths are at most WORD_MAXIMUM.
 */
static int nearest_distance_of(const char *word, size_t word_length, const char *name,
			       size_t name_length)
{
	int edits[WORD_MAXIMUM + 1][WORD_MAXIMUM + 1];

	for (size_t i = 0; i <= word_length; i++)
		edits[i][0] = (int)i;
	for (size_t j = 0; j <= name_length; j++)
		edits[0][j] = (int)j;
	for (size_t i = 1; i <= word_length; i++) {
		for (size_t j = 1; j <= name_length; j++) {
			int change = word[i - 1] != name[j - 1];

			edits[i][j] = smallest(edits[i - 1][j] + 1, edits[i][j - 1] + 1,
					       edits[i - 1][j - 1] + change);
			if (i > 1 && j > 1 && word[i - 1] == name[j - 2] &&
			    word[i - 2] == name[j - 1])
				edits[i][j] =
					smallest(edits[i][j], edits[i][j], edits[i - 2][j - 2] + 1);
		}
	}
	return edits[word_length][name_length];
}

void nearest_init(struct nearest *nearest, const char *word)
{
	size_t length = strlen(word);

	*nearest = (struct nearest){
		.word = word,
		/* one wrong letter in short words, a third of the letters in others */
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
	distance = nearest_distance_of(nearest->word, word_length, name, name_length);
	/* A name without any letter in common is not close, however short it is. */
	if (distance >= nearest->distance || distance >= (int)word_length)
		return;
	nearest->distance = distance;
	nearest->best = name;
}
