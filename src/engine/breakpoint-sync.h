/*
 * breakpoint-sync: sends breakpoints to ranks. A rank's debugger gets the rank's whole list of
 * breakpoints when the list changes and when the debugger becomes connected. If a breakpoint is for
 * a rank without a debugger, that rank gets the list, too: its node then attaches to the rank.
 */
#ifndef ENGINE_BREAKPOINT_SYNC_H
#define ENGINE_BREAKPOINT_SYNC_H

#include <stdbool.h>

struct engine;
struct failures;
struct rank_answers;

/* Name of the command that sets breakpoints like the one with this id: "break" or "watch". */
const char *breakpoint_sync_command(const struct engine *engine, int id);
/* Adds to pending a request for each rank that was not sent the list's newest revision. */
void breakpoint_sync_ask(struct engine *engine, struct rank_answers *pending);
/*
 * Sends the same requests as breakpoint_sync_ask(), and leaves the answers to the engine; added: id
 * of the new breakpoint, 0: none.
 */
void breakpoint_sync_tell(struct engine *engine, int added);
/*
 * Reports, once, each breakpoint that a rank can never set. On a screen, as soon as ranks run the
 * program's code, also reports each breakpoint whose code is not loaded yet; a shell command
 * reports those with its answers.
 */
void breakpoint_sync_say(struct engine *engine);
/*
 * Takes the answers: adds to failures why a request failed, or why a rank did not set the newest
 * breakpoint (errors of older breakpoints were reported before). Removes a new breakpoint that no
 * rank can ever set from the list.
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
