/*
 * expectation: which ranks of the chosen job must be here. On a job over
 * several machines the ranks of those that are not looked at are not gone, so
 * a missing number counts only
 * - when the ranks meet at a loopback address: then all of the world is here;
 * - else when all that was found on a machine are numbered as one machine's
 *   block is (rank minus local rank is the same for all): then from the
 *   block's first number to the highest one that was found.
 * That the last ones of a block are missing cannot be seen in the second case.
 */
#ifndef MODEL_EXPECTATION_H
#define MODEL_EXPECTATION_H

#include <stdbool.h>

#include "protocol/rankset.h"

struct session;

struct expectation {
	struct rankset numbers;
	int world_size;
	bool is_loopback;
};

/* For the session's job; clear it afterwards. */
void expectation_make(struct expectation *expectation, const struct session *session);
void expectation_clear(struct expectation *expectation);

#endif
