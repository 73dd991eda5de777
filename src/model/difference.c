#include "model/difference.h"

#include <stdbool.h>
#include <stdlib.h>

#include "banned.h"
#include "base/array.h"
#include "model/answers.h"

void difference_clear(struct difference *difference)
{
	free(difference->error);
	tensordiff_clear(&difference->found);
	*difference = (struct difference){ .rank = -1, .against = -1 };
}

struct difference *difference_find(const struct answers *answers, int rank, int against)
{
	for (size_t i = 0; i < answers->difference_count; i++) {
		struct difference *difference = &answers->differences[i];

		if (difference->rank == rank && difference->against == against)
			return difference;
	}
	return NULL;
}

struct difference *difference_add(struct answers *answers, int rank, int against)
{
	struct difference *difference = difference_find(answers, rank, against);

	if (difference) {
		difference_clear(difference);
	} else {
		ARRAY_GROW(answers->differences, answers->difference_count,
			   answers->difference_capacity);
		difference = &answers->differences[answers->difference_count++];
	}
	*difference = (struct difference){ .rank = rank, .against = against };
	return difference;
}

static bool is_between(const struct difference *difference, const struct rankset *one,
		       const struct rankset *other)
{
	return rankset_contains(one, difference->rank) &&
	       rankset_contains(other, difference->against);
}

const struct difference *difference_of(const struct answers *answers,
				       const struct answer_class *one,
				       const struct answer_class *other)
{
	for (size_t i = answers->difference_count; i-- > 0;) {
		const struct difference *difference = &answers->differences[i];

		if (is_between(difference, &one->ranks, &other->ranks) ||
		    is_between(difference, &other->ranks, &one->ranks))
			return difference;
	}
	return NULL;
}
