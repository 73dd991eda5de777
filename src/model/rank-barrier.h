/*
 * rank-barrier: ranks that hold at a breakpoint of our package (probetui.breakpoint,
 * set_trace) until those that it names have gone on. They wait for ranks, but
 * in no collective: who waits in one for them waits for ever. What is said of
 * a job with such ranks of which none is in a debugger, and how it is.
 */
#ifndef MODEL_RANK_BARRIER_H
#define MODEL_RANK_BARRIER_H

#include <stdbool.h>

#include "model/verdict.h"

struct buffer;
struct wait_group;
struct wait_group_list;
struct session;

bool rank_barrier_is(const struct wait_group *wait_group);
bool rank_barrier_is_any(const struct wait_group_list *wait_groups);
enum verdict_state rank_barrier_state(const struct wait_group_list *wait_groups);
/*
 * Appends "Ranks 0 and 2 wait in all_reduce (train.py:17) for ranks 1 and 3,
 * which hold in probetui.breakpoint (train.py:12), for 34 s."
 */
void rank_barrier_append_sentence(struct buffer *out, const struct session *session,
				  const struct wait_group_list *wait_groups);

#endif
