/*
 * holding: ranks that hold at a breakpoint of our package (probetui.breakpoint,
 * set_trace) until those that it names have gone on. They wait for ranks, but
 * in no collective: who waits in one for them waits for ever. What is said of
 * a job with such ranks of which none is in a debugger, and how it is.
 */
#ifndef MODEL_HOLDING_H
#define MODEL_HOLDING_H

#include <stdbool.h>

#include "model/verdict.h"

struct buffer;
struct camp;
struct camp_list;
struct session;

bool holding_is(const struct camp *camp);
bool holding_is_any(const struct camp_list *camps);
enum verdict_state holding_state(const struct camp_list *camps);
/*
 * Appends "Ranks 0 and 2 wait in all_reduce (train.py:17) for ranks 1 and 3,
 * which hold in probetui.breakpoint (train.py:12), for 34 s."
 */
void holding_append_sentence(struct buffer *out, const struct session *session,
			     const struct camp_list *camps);

#endif
