/*
 * commands: the screen's commands, one row each. main.c joins them with the
 * engine's. They change the view (and selection, focus); app.c draws.
 */
#ifndef UI_COMMANDS_H
#define UI_COMMANDS_H

#include <stdbool.h>

#include "engine/command.h"
#include "ui/prompt.h"

struct app;

/*
 * Without a screen (context->screen NULL) only `help` works: it prints the
 * keys and commands.
 */
extern const struct command_tables shell_commands;
extern const struct command_tables screen_commands;

/*
 * A key of a text to search for was typed: what it finds is shown at once.
 * Given up, everything is as it was before.
 */
void commands_search(struct app *app, enum prompt_result result);
/* Runs the command line of a key or of the prompt; failures are shown. */
void commands_run(struct app *app, const char *line);
/* The same of one that a person was asked about, and said yes. */
void commands_confirmed(struct app *app, const char *line);
/* After the session has changed: runs what waited for ranks to stop. */
void commands_go_on(struct app *app);
/* Writes the text of the command that is shown again, of the session now. */
void text_refresh(struct app *app, bool is_open);
/*
 * In the console a key is typed to the debugger, or does nothing where there is
 * none; false: it does what it does everywhere.
 */
bool console_takes(struct app *app, const char *key);
/* The console shows what came. */
void console_refresh(struct app *app, bool is_open);

/* The keys of the pane where code is typed; true: it was one. */
bool repl_takes(struct app *app, const char *key);

/* The keys of the terminal of the job that was started; true: it was one. */
bool started_takes(struct app *app, const char *key);
/* Sends what was typed since the last call. */
void started_flush(struct app *app);
/* Tells the job how large its terminal is, and shows what came. */
void started_refresh(struct app *app, bool is_open);
/* Leaves when it has ended, as a person wanted. */
void started_check_end(struct app *app);
/* The size that the job's terminal has on such a screen. */
void started_terminal_size(int row_count, int column_count, int *rows, int *columns);

#endif
