/*
 * debug-state: ranks that are in a debugger: stopped by the one that is ours, or
 * waiting in one for a client, or held by another client. What is said of them
 * on cards and in the verdict.
 */
#ifndef MODEL_DEBUG_STATE_H
#define MODEL_DEBUG_STATE_H

#include <stdbool.h>

struct buffer;
struct wait_group_list;
struct rank;
struct session;
struct thread;

/* Its debugger is ours and at a prompt. */
bool debug_state_is_stopped(const struct rank *rank);
/* Its debugger waits for a client, and the rank with it. */
bool debug_state_is_waiting(const struct rank *rank);
/* Another client has its debugger, and the rank is at its prompt. */
bool debug_state_is_taken(const struct rank *rank);
/* Ours, and runs what was typed at its prompt. */
bool debug_state_is_busy(const struct rank *rank);
/* Any of the four. */
bool debug_state_is_held(const struct rank *rank);
/* One that the program's error has brought there, not the person. */
bool debug_state_is_outlier(const struct rank *rank);
/* Its agent holds it at an uncaught exception: until its lease ends,
 * whether we stay or leave. */
bool debug_state_is_leased(const struct rank *rank);
/* The thread at the prompt; else, where it is not known, the main thread;
 * NULL: it was not read. */
const struct thread *debug_state_thread(const struct rank *rank);
/*
 * The frame of rank that runs the same function as the one at depth of
 * looked_at, as far from the outermost frame; -1: it has none there.
 */
int debug_state_same_depth(const struct rank *rank, const struct rank *looked_at, int depth);
/* The same, or else its innermost frame of that function; -1: it has none. */
int debug_state_same_function(const struct rank *rank, const struct rank *looked_at, int depth);
/* Appends before and the uncaught exception that held it last, if any. */
void debug_state_append_raised(struct buffer *out, const struct rank *rank, const char *before);
/* Seconds since it stopped, at session time now; -1: not known. */
double debug_state_seconds(const struct rank *rank, double now);
/*
 * Appends the word on a card: "paused" "bp 1" "watch 3" "step" "return"
 * "raised" "prompt" "pdb?" (waits for a client) "taken" (has another one)
 * "busy"; nothing of a rank that is in no debugger.
 */
void debug_state_append_word(struct buffer *out, const struct rank *rank);
/*
 * Appends the verdict on a job with such ranks: "Ranks 0 and 3 stopped at
 * breakpoint 1, train.py:14. 6 ranks run on; 5 wait for them in all_reduce
 * (train.py:17)."
 */
void debug_state_append_sentence(struct buffer *out, const struct session *session,
				 const struct wait_group_list *wait_groups);
/*
 * Appends what is said of them alone, behind others: " Ranks 0 and 2 raised
 * ValueError: no and wait in debuggers for somebody to connect."; nothing
 * where there are none.
 */
void debug_state_append_others(struct buffer *out, const struct session *session);

#endif
