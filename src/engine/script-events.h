/*
 * script-events: what a script prints besides the output of its commands: stops, exits of ranks,
 * notices of the engine, errors.
 */
#ifndef ENGINE_SCRIPT_EVENTS_H
#define ENGINE_SCRIPT_EVENTS_H

struct command_context;
struct error;

/*
 * Appends a line for each stop and each rank exit since the last call; stops first, because a rank
 * stops before it exits.
 */
void script_append_events(struct command_context *context);
/* Appends the error of a command on a rank (-1: on no single rank); does not set the status. */
void script_append_error(struct command_context *context, int rank, const char *command,
			 const char *sentence);
/*
 * Writes context->out to standard output and context->notes to standard error, and empties both.
 * Returns 0; -1 if writing failed: *error is set unless the reader has closed the pipe.
 */
int script_flush(struct command_context *context, struct error *error);

#endif
