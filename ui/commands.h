/*
 * commands: the commands of the screen, a row each. main.c joins them with the engine's commands.
 * Commands change the view, the selection and the focus; app.c draws.
 */
#ifndef UI_COMMANDS_H
#define UI_COMMANDS_H

#include <stdbool.h>

#include "engine/command.h"
#include "ui/prompt.h"

struct app;

/* All commands, for a shell (context->screen NULL) and for the screen. */
extern const struct command_tables shell_commands;
extern const struct command_tables screen_commands;

/*
 * Called after each key in the prompt of a search: PROMPT_EDITED shows the first hit; any other
 * result restores the place where the search began.
 */
void commands_search(struct app *app, enum prompt_result result);
/* Runs the command line of a key or of the prompt; failures are shown. */
void commands_run(struct app *app, const char *line);
/* Like commands_run(), for a line whose question was answered with yes. */
void commands_confirmed(struct app *app, const char *line);
/* After each change of the session: runs the next queued line once the ranks have stopped. */
void commands_go_on(struct app *app);
/* Runs the live command (COMMAND_LIVE) of the text view again, and replaces the text. */
void text_refresh(struct app *app, bool is_open);
/*
 * Handles a key in the console: sends input to the connected debugger; without a debugger, refuses
 * keys that could change the job. False: the key keeps its binding.
 */
bool console_takes(struct app *app, const char *key);
/* Writes new output of the debugger to the console's terminal. */
void console_refresh(struct app *app, bool is_open);

/* Handles a key in the view where code is typed; true: the key is used. */
bool repl_takes(struct app *app, const char *key);

/* Handles a key in the view of the started job's terminal; false: no started job runs. */
bool started_takes(struct app *app, const char *key);
/* Sends the keys that were typed to the started job since the last call. */
void started_flush(struct app *app);
/* Resizes the started job's terminal, sends typed keys, and shows new output in the open view. */
void started_refresh(struct app *app, bool is_open);
/* Quits if the user has ended the started job, and the job has exited. */
void started_check_end(struct app *app);
/* Computes the size of the started job's terminal for a screen of this size. */
void started_terminal_size(int row_count, int column_count, int *rows, int *columns);

#endif
