/*
 * rank-barrier: ranks that wait in our package's breakpoint(ranks=…) or set_trace() until
 * the ranks named there have resumed. They wait for ranks, but not in a collective: a
 * peer that waits for them in a collective waits for ever. Verdict and sentence for a job
 * with such ranks, none of which is in a debugger.
 */
#ifndef MODEL_RANK_BARRIER_H
#define MODEL_RANK_BARRIER_H

#include <stdbool.h>

#include "model/verdict.h"

struct buffer;
struct wait_group;
struct wait_group_list;
struct session;

/* True if the group's ranks wait in breakpoint(ranks=…). */
bool rank_barrier_is(const struct wait_group *wait_group);
bool rank_barrier_is_any(const struct wait_group_list *wait_groups);
/* Returns the verdict's state if rank_barrier_is_any(). */
enum verdict_state rank_barrier_state(const struct wait_group_list *wait_groups);
/*
 * Appends "Ranks 0 and 2 wait in all_reduce (train.py:17) for ranks 1 and 3,
 * which hold in probetui.breakpoint (train.py:12), for 34 s."
 */
void rank_barrier_append_sentence(struct buffer *out, const struct session *session,
				  const struct wait_group_list *wait_groups);

#endif
