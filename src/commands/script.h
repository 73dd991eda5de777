/*
 * script: runs commands from a file, one on each line. Only `wait` waits for events. A line that
 * fails is reported, and the next line runs.
 */
#ifndef COMMANDS_SCRIPT_H
#define COMMANDS_SCRIPT_H

struct command_context;
struct command_tables;
struct error;

/*
 * Runs the file at path ("-": standard input) and writes out to standard output after each line.
 * Returns the exit status; -1, *error: the file cannot be read.
 */
int script_run(struct command_context *context, const struct command_tables *tables,
	       const char *path, struct error *error);

#endif
