/*
 * script: commands from a file, one a line. A script waits for nothing by
 * itself; `wait` does. A line that fails says so and the next one runs.
 */
#ifndef COMMANDS_SCRIPT_H
#define COMMANDS_SCRIPT_H

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

#endif
