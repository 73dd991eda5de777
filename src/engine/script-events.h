/*
 * script-events: what a script prints besides the answers of its commands: stops,
 * the ends of ranks, reports of the engine, errors.
 */
#ifndef ENGINE_SCRIPT_EVENTS_H
#define ENGINE_SCRIPT_EVENTS_H

struct command_context;
struct error;

/*
 * Appends a line for each stop and each rank that ended since the last call;
 * first what stopped, as a stop comes before the end of its rank.
 */
void script_append_events(struct command_context *context);
/* Says that a command failed, of a rank or (-1) in general; no status. */
void script_append_error(struct command_context *context, int rank, const char *command,
			 const char *sentence);
/*
 * Writes out to standard output and notes to standard error, and empties
 * them. -1 when it cannot be written, without a sentence when the reader has
 * left.
 */
int script_flush(struct command_context *context, struct error *error);

#endif
