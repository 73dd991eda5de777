/*
 * breakpoint-sync: telling ranks of the breakpoints. A rank's debugger is told all
 * that it is to have, when that changes and when it becomes ours. So is a rank
 * without a debugger that is to have any: its node attaches to it then.
 */
#ifndef ENGINE_BREAKPOINT_SYNC_H
#define ENGINE_BREAKPOINT_SYNC_H

#include <stdbool.h>

struct engine;
struct failures;
struct rank_answers;

/* That which sets one like it: "break", "watch". */
const char *breakpoint_sync_command(const struct engine *engine, int id);
/* Adds a request for each rank that lacks the newest. */
void breakpoint_sync_ask(struct engine *engine, struct rank_answers *pending);
/* The same, and leaves the answers to the engine; added: as of pending. */
void breakpoint_sync_tell(struct engine *engine, int added);
/*
 * Says which can never be set, each once; on a screen also which wait for code,
 * once ranks run code of the program. A shell says that with the answers.
 */
void breakpoint_sync_say(struct engine *engine);
/*
 * Takes the answers: adds why each failed, or why the rank does not have the
 * newest breakpoint; the older ones were told of before. One that was added
 * and can be set nowhere, ever, is taken from the list.
 */
void breakpoint_sync_take(struct engine *engine, struct rank_answers *pending,
			  struct failures *failures);
/* On a screen, afterwards: what stops the ranks at the one that was added. */
void breakpoint_sync_confirm(struct engine *engine, const struct rank_answers *pending,
			     const struct failures *failures);

#endif
