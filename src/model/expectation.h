/*
 * expectation: which ranks of the chosen job must be here. If the job runs on several
 * machines, ranks on machines without a node are not missing, so a missing number counts
 * only
 * - if the job's address is a loopback address: then all ranks of the world are here;
 * - else if all ranks found on a machine are numbered as one block (rank minus local rank
 *   is equal for all): then from the block's first number to the highest one found.
 * In the second case missing ranks at the end of a block are not noticed.
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

/* Computes the ranks expected in the session's job; clear the result afterwards. */
void expectation_make(struct expectation *expectation, const struct session *session);
void expectation_clear(struct expectation *expectation);

#endif
