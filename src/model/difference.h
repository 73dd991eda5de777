/*
 * difference: the elementwise comparison of one rank's tensor with another rank's, mostly
 * one of the majority, with its progress. Struct answers owns the differences
 * (model/answers.h), the engine makes and fills them (engine/value-difference.h).
 */
#ifndef MODEL_DIFFERENCE_H
#define MODEL_DIFFERENCE_H

#include <stdint.h>

#include "model/tensordiff.h"

struct answer_class;
struct answers;

enum difference_state {
	DIFFERENCE_READING,
	DIFFERENCE_DONE,
	DIFFERENCE_FAILED, /* error has the reason */
};

struct difference {
	int rank;
	int against;
	enum difference_state state;
	char *error;   /* a sentence; NULL: none */
	int64_t done;  /* bytes read so far */
	int64_t total; /* bytes to read; 0: unknown yet */
	struct tensordiff found;
};

void difference_clear(struct difference *difference);
/* Returns a borrowed difference; NULL: these two ranks are not compared. */
struct difference *difference_find(const struct answers *answers, int rank, int against);
/* Returns a borrowed new difference; an old one of the same two ranks is reset. */
struct difference *difference_add(struct answers *answers, int rank, int against);
/* Returns the newest comparison between a rank of one class and a rank of the other; NULL: none. */
const struct difference *difference_of(const struct answers *answers,
				       const struct answer_class *one,
				       const struct answer_class *other);

#endif
