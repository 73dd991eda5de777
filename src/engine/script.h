/*
 * script: commands from a file, one a line. A script waits for nothing by
 * itself; `wait` does. A line that fails says so and the next one runs.
 */
#ifndef ENGINE_SCRIPT_H
#define ENGINE_SCRIPT_H

#include <stddef.h>

struct command_context;
struct command_tables;
struct error;

/*
 * Runs the file at path ("-": standard input); out is written to standard
 * output after each line. Returns the exit status; -1 and a sentence when the
 * file cannot be read.
 */
int script_run(struct command_context *context, const struct command_tables *tables,
	       const char *path, struct error *error);
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
