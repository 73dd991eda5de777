/*
 * breakpoint-sync: sends breakpoints to ranks. A rank's debugger gets its whole list when the list
 * changes and when the debugger becomes connected. A rank without a debugger gets the list, too, if
 * a breakpoint is for that rank: its node then attaches to it.
 */
#ifndef ENGINE_BREAKPOINT_SYNC_H
#define ENGINE_BREAKPOINT_SYNC_H

#include <stdbool.h>

struct engine;
struct failures;
struct rank_answers;

/* Name of the command that sets such a breakpoint: "break" or "watch". */
const char *breakpoint_sync_command(const struct engine *engine, int id);
/* Adds a request for each rank that does not have the newest revision. */
void breakpoint_sync_ask(struct engine *engine, struct rank_answers *pending);
/*
 * Like breakpoint_sync_ask(), with a pending of its own that the engine completes; added: id of the
 * new breakpoint, 0: none.
 */
void breakpoint_sync_tell(struct engine *engine, int added);
/*
 * Reports each breakpoint that no rank can ever set, once; on a screen also each breakpoint that
 * waits for code to load, once ranks run the program's code. A shell command reports waiting
 * breakpoints with its answers.
 */
void breakpoint_sync_say(struct engine *engine);
/*
 * Takes the answers: adds to failures why a request failed, or why a rank does not have the newest
 * breakpoint; errors of older breakpoints were reported before. A new breakpoint that no rank can
 * ever set is removed from the list.
 */
void breakpoint_sync_take(struct engine *engine, struct rank_answers *pending,
			  struct failures *failures);
/*
 * On a screen, after breakpoint_sync_take(): reports which backend stops the ranks at the new
 * breakpoint.
 */
void breakpoint_sync_confirm(struct engine *engine, const struct rank_answers *pending,
			     const struct failures *failures);

#endif
