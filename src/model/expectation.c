#include "model/expectation.h"

#include <stddef.h>

#include "banned.h"
#include "model/job.h"
#include "model/session.h"

/* The block of consecutive ranks of one machine: base to last. */
struct block {
	int last;
	int base; /* rank minus local rank, equal for all ranks of the machine */
	bool is_consistent;
};

static void expect(struct expectation *expectation, struct block *block,
		   const struct process *process)
{
	int base = process->rank - process->local_rank;

	if (process->rank > block->last)
		block->last = process->rank;
	if (process->world_size > expectation->world_size)
		expectation->world_size = process->world_size;
	if (!job_is_loopback(process->job))
		expectation->is_loopback = false;
	if (process->local_rank < 0 || (block->base >= 0 && block->base != base))
		block->is_consistent = false;
	block->base = base;
}

static void expect_block(const struct session *session, size_t node,
			 struct expectation *expectation)
{
	const struct job *job = &session->jobs[session->job];
	struct block block = { .last = -1, .base = -1, .is_consistent = true };

	for (size_t i = 0; i < session->rank_count; i++) {
		const struct rank *rank = session->ranks[i];

		if (rank->node == node && rank->process.pid != 0)
			expect(expectation, &block, &rank->process);
	}
	for (size_t i = 0; i < session->other_count; i++) {
		const struct rank *rank = session->others[i];

		if (rank->node == node && job_has(session, job, rank))
			expect(expectation, &block, &rank->process);
	}
	if (block.is_consistent && block.base >= 0 && block.base <= block.last)
		rankset_add_range(&expectation->numbers, block.base, block.last);
}

void expectation_make(struct expectation *expectation, const struct session *session)
{
	*expectation = (struct expectation){
		.numbers = RANKSET_INIT,
		.is_loopback = true,
	};
	for (size_t i = 0; i < session->node_count; i++)
		expect_block(session, i, expectation);
	if (expectation->is_loopback && expectation->world_size > 0)
		rankset_add_range(&expectation->numbers, 0, expectation->world_size - 1);
}

void expectation_clear(struct expectation *expectation)
{
	rankset_clear(&expectation->numbers);
}
