#include "model/watchdog.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "banned.h"
#include "model/session.h"
#include "protocol/stack.h"

#define NCCL_SECONDS 600.0
#define OTHER_SECONDS 1800.0
#define RANKS_LOOKED_AT 8 /* enough, as all ranks run the same program */

static bool has_nccl_frame(const struct stack *stack)
{
	for (size_t i = 0; stack && i < stack->frame_count; i++) {
		const struct code *code = stack->frames[i].code;

		if (strcasestr(code->func, "nccl") || strcasestr(code->file, "nccl"))
			return true;
	}
	return false;
}

static bool has_nccl(const struct rank *rank)
{
	for (size_t i = 0; i < rank->thread_count; i++) {
		const struct thread_sample *sample = &rank->threads[i].sample;

		if (has_nccl_frame(sample->stack) || has_nccl_frame(sample->native))
			return true;
	}
	return false;
}

double watchdog_seconds(const struct session *session)
{
	size_t count = session->rank_count;
	double usual = OTHER_SECONDS;
	double least = -1;

	if (count == 0 || (count == 1 && session->ranks[0]->process.world_size <= 1))
		return -1;
	for (size_t i = 0; i < count; i++) {
		const struct rank *rank = session->ranks[i];
		double told = rank->debugger.watchdog;

		if (told >= 0 && (least < 0 || told < least))
			least = told;
		if (i < RANKS_LOOKED_AT && has_nccl(rank))
			usual = NCCL_SECONDS;
	}
	return least >= 0 ? least : usual;
}
