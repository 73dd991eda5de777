/*
 * breaking: telling debuggers of the breakpoints. A rank's debugger is told
 * all that it is to have, when that changes and when it becomes ours.
 */
#ifndef ENGINE_BREAKING_H
#define ENGINE_BREAKING_H

#include <stdbool.h>

struct engine;
struct failures;
struct pending;
struct pending_answer;

/* Adds a request for each rank that lacks the newest. */
void breaking_ask(struct engine *engine, struct pending *pending);
/* The same, and leaves the answers to the engine. */
void breaking_tell(struct engine *engine);
/*
 * Adds why a rank that is stopped does not have the newest breakpoint, if its
 * answer says so; the older ones were told of before.
 */
void breaking_check(const struct engine *engine,
		    const struct pending_answer *answer,
		    struct failures *failures);

#endif
