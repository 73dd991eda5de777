/*
 * breaking: telling ranks of the breakpoints. A rank's debugger is told all
 * that it is to have, when that changes and when it becomes ours. So is a rank
 * without a debugger that is to have any: its node attaches to it then.
 */
#ifndef ENGINE_BREAKING_H
#define ENGINE_BREAKING_H

#include <stdbool.h>

struct engine;
struct failures;
struct pending;

/* That which sets one like it: "break", "watch". */
const char *breaking_command(const struct engine *engine, int id);
/* Adds a request for each rank that lacks the newest. */
void breaking_ask(struct engine *engine, struct pending *pending);
/* The same, and leaves the answers to the engine; added: as of pending. */
void breaking_tell(struct engine *engine, int added);
/*
 * Says which can never be set, each once; on a screen also which wait for code,
 * once ranks run code of the program. A shell says that with the answers.
 */
void breaking_say(struct engine *engine);
/*
 * Takes the answers: adds why each failed, or why the rank does not have the
 * newest breakpoint; the older ones were told of before. One that was added
 * and can be set nowhere, ever, is taken from the list.
 */
void breaking_take(struct engine *engine, struct pending *pending, struct failures *failures);
/* On a screen, afterwards: what stops the ranks at the one that was added. */
void breaking_confirm(struct engine *engine, const struct pending *pending,
		      const struct failures *failures);

#endif
