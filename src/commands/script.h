/*
 * script: runs commands from a file, one on each line. Only `wait` waits for events. A line that
 * fails is reported, and the next line runs.
 */
#ifndef COMMANDS_SCRIPT_H
#define COMMANDS_SCRIPT_H

#include <stdio.h>

struct command_context;
struct command_tables;
struct engine;
struct error;

/*
 * Waits for the next line of file, if that is standard input, with the loop running: the output of
 * a started job is passed on, because the job would block on a full pipe, and the leases of nodes
 * on other machines are renewed.
 */
void script_await_line(struct engine *engine, FILE *file);
/*
 * Runs the file at path ("-": standard input) and writes out to standard output after each line.
 * Returns the exit status; -1, *error: the file cannot be read.
 */
int script_run(struct command_context *context, const struct command_tables *tables,
	       const char *path, struct error *error);

#endif
