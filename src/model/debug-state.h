/*
 * debug-state: ranks that are in a debugger: stopped by a debugger that probetui is connected to,
 * waiting for a client, or stopped by another client's debugger. Also the texts about such ranks on
 * cards and in the verdict.
 */
#ifndef MODEL_DEBUG_STATE_H
#define MODEL_DEBUG_STATE_H

#include <stdbool.h>

struct buffer;
struct debugger;
struct rank;
struct session;
struct thread;
struct wait_group_list;

/* True if probetui is connected to the rank's debugger, which has stopped the rank at a prompt. */
bool debug_state_is_stopped(const struct rank *rank);
/* True if the rank waits in a debugger for a client. */
bool debug_state_is_waiting(const struct rank *rank);
/* True if another client is connected to the debugger, and the rank is stopped at the prompt. */
bool debug_state_is_taken(const struct rank *rank);
/* True if probetui is connected to the debugger, which runs a command typed at its prompt. */
bool debug_state_is_busy(const struct rank *rank);
/* True for any of the four states above. */
bool debug_state_is_held(const struct rank *rank);
/*
 * True if an uncaught exception or the program itself has stopped the rank in the debugger, not the
 * user.
 */
bool debug_state_is_outlier(const struct rank *rank);
/*
 * True if the agent has stopped the rank at an uncaught exception: the stop lasts until its time
 * limit (the lease) is over, even if probetui exits.
 */
bool debug_state_is_leased(const struct rank *rank);
/* Returns the thread at the prompt; if unknown, the main thread; NULL: not sampled. */
const struct thread *debug_state_thread(const struct rank *rank);
/*
 * Finds the frame of rank with the same function, and the same distance from the outermost frame,
 * as the frame at depth of looked_at. Returns the found frame's depth; -1: there is none.
 */
int debug_state_same_depth(const struct rank *rank, const struct rank *looked_at, int depth);
/* Like debug_state_same_depth(); if there is none, the innermost frame of that function. */
int debug_state_same_function(const struct rank *rank, const struct rank *looked_at, int depth);
/*
 * Appends the text `before` and the last uncaught exception that stopped the rank; nothing if no
 * exception stopped it.
 */
void debug_state_append_raised(struct buffer *out, const struct rank *rank, const char *before);
/* Seconds since the rank stopped, at session time now; -1: unknown. */
double debug_state_seconds(const struct rank *rank, double now);
/*
 * Appends the word on a card: "paused" "bp 1" "watch 3" "step" "return" "raised" "prompt"
 * "pdb?" (waits for a client) "taken" (another client is connected) "busy"; nothing for a
 * rank that is in no debugger.
 */
void debug_state_append_word(struct buffer *out, const struct rank *rank);
/*
 * Appends the verdict on a job with ranks in debuggers: "Ranks 0 and 3 stopped at breakpoint 1,
 * train.py:14. 6 ranks run on; 5 wait for them in all_reduce (train.py:17)."
 */
void debug_state_append_sentence(struct buffer *out, const struct session *session,
				 const struct wait_group_list *wait_groups);
/*
 * Appends only the sentences about ranks in debuggers, to follow another verdict: " Ranks 0 and 2
 * raised ValueError: no and wait in debuggers for somebody to connect."; nothing if there are no
 * such ranks.
 */
void debug_state_append_others(struct buffer *out, const struct session *session);

/*
 * Ranks that a node stops with ptrace, without a debugger in the process.
 * The node attaches at the first request to pause the rank or to set a breakpoint, and
 * detaches by itself when the rank runs and no breakpoint is set in it.
 */

/* True if the node is attached to the rank with ptrace, running or stopped. */
bool ptrace_state_is(const struct rank *rank);
/* Like ptrace_state_is(), for the debugger state of a rank. */
bool ptrace_state_is_debugger(const struct debugger *debugger);
/* True if no debugger is connected, so that the node can attach. */
bool ptrace_state_is_free(const struct rank *rank);

#endif
