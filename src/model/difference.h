/*
 * difference: what two ranks' tensors differ in, as it becomes known: of one
 * rank against another, mostly one of the majority. The answers own them
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
	DIFFERENCE_FAILED, /* error says why */
};

struct difference {
	int rank;
	int against;
	enum difference_state state;
	char *error;   /* a sentence; NULL: none */
	int64_t done;  /* bytes read of those that are to be */
	int64_t total; /* 0: not known yet */
	struct tensordiff found;
};

void difference_clear(struct difference *difference);
/* Lends; NULL: these two are not compared. */
struct difference *difference_find(const struct answers *answers, int rank, int against);
/* A new one, or the old one of these two, all forgotten. */
struct difference *difference_add(struct answers *answers, int rank, int against);
/* The newest of a rank of one class and one of the other; NULL: none. */
const struct difference *difference_of(const struct answers *answers,
				       const struct answer_class *one,
				       const struct answer_class *other);

#endif
