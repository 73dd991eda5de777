/*
 * commands: the commands of the screen, one row each. main.c joins them with the engine's commands.
 * Commands change the view, the selection and the focus; app.c draws the changes.
 */
#ifndef UI_COMMANDS_H
#define UI_COMMANDS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "engine/command.h"
#include "ui/grid.h"
#include "ui/prompt.h"

struct answer_class;
struct answer_classes;
struct app;
struct arguments;
struct error;
struct file_place;
struct layout;
struct rank;
struct rankset;
struct search_text;
struct selection;
struct session;
struct stack;

/* The commands of a shell (context->screen NULL), and of the screen, respectively. */
extern const struct command_tables shell_commands;
extern const struct command_tables screen_commands;

/*
 * Called after each key in the prompt of a search. PROMPT_EDITED: shows the first hit; any other
 * result: restores the place where the search began.
 */
void commands_search(struct app *app, enum prompt_result result);
/* Runs the command line of a key or of the prompt; failures are shown. */
void commands_run(struct app *app, const char *line);
/* Like commands_run(), for a line that the user has confirmed. */
void commands_confirmed(struct app *app, const char *line);
/*
 * Called after each change of the session: runs the next queued line when the ranks have stopped.
 */
void commands_go_on(struct app *app);
/* Runs the live command (COMMAND_LIVE) of the text view again, and replaces the view's text. */
void text_refresh(struct app *app, bool is_open);
/*
 * Handles a key in the console: sends input to the connected debugger; without a debugger, refuses
 * keys that could change the job. Returns false if the key keeps its binding.
 */
bool console_takes(struct app *app, const char *key);
/* Writes new output of the debugger to the console's terminal. */
void console_refresh(struct app *app, bool is_open);

/* Handles a key in the view where code is typed; returns false if the key keeps its binding. */
bool repl_takes(struct app *app, const char *key);

/* Handles a key in the view of the started job's terminal; returns false if no started job runs. */
bool started_takes(struct app *app, const char *key);
/* Sends to the started job the keys that were typed since the last call. */
void started_flush(struct app *app);
/* Resizes the started job's terminal, sends typed keys, and shows new output in the open view. */
void started_refresh(struct app *app, bool is_open);
/* Quits if the user has ended the started job and the job has exited. */
void started_check_end(struct app *app);
/*
 * Sets *rows and *columns to the size of the started job's terminal on a screen of row_count *
 * column_count cells.
 */
void started_terminal_size(int row_count, int column_count, int *rows, int *columns);

/* The declarations below are shared by the files of the screen's commands. */

/*
 * SCREEN_COMMANDS are the screen's own commands and the engine's commands that have a hook for the
 * screen, in the order of the screen's help. SCREEN_HOOKS are these hooks.
 */
/* clang-format off */
#define SCREEN_COMMANDS(X) \
	X(job) X(jobs) X(rank) X(outlier) X(up) X(down) X(pane) X(cursor) X(click) X(wheel) \
	X(open) X(expand) X(zoom) X(grid) X(toggle) X(sort) X(group) X(filter) X(merged) \
	X(native) X(granularity) X(why) X(collectives) X(diff) X(against) X(search) X(find) X(here) X(breakpoints) \
	X(remove) X(stay) X(hold) X(refresh) X(time) X(record) X(theme) X(set) X(bind) \
	X(prompt) X(keys) X(help) X(log) X(compare) X(visit) X(tensor) X(tensor_view) \
	X(tensor_index) X(tensor_find) X(tensor_digits) X(tensor_export) X(tensor_scale) \
	X(difference) X(diff_params) X(follow) X(broadcast) X(eval) X(assign) X(execute) \
	X(repl) X(console) X(terminal) X(edit) X(copy) X(redraw) X(suspend) X(interrupt) \
	X(back) X(quit)

#define SCREEN_HOOKS(X) \
	X(jobs) X(rank) X(up) X(down) X(collectives) X(diff) X(set) X(help) X(compare) X(tensor) \
	X(diff_params) X(broadcast) X(eval) X(assign) X(execute) X(quit)
/* clang-format on */

#define DECLARE_ROW(name) extern const struct command command_##name;
#define DECLARE_HOOK(name) extern const struct command_hook screen_##name;
SCREEN_COMMANDS(DECLARE_ROW)
SCREEN_HOOKS(DECLARE_HOOK)

/* Returns the screen that runs the command; NULL: a shell runs the command. */
struct app *command_app(const struct command_context *context);
/* Parses a line with the screen's commands, like command_parse(). */
int commands_parse(struct arguments *arguments, const char *line, struct error *error);

/* Returns the rank whose number text is, borrowed; NULL and *error: there is no such rank. */
const struct rank *command_find_rank(const struct session *session, const char *text,
				     struct error *error);

/* Opens the prompt for a search, and saves the place to which a cancelled search returns. */
void search_begin(struct app *app);
/* Resets the cursors of source and locals if the selection differs from `before`. */
void selection_changed(struct app *app, const struct selection *before);
/* Selects a rank, its main thread and its default frame. */
void select_rank(struct session *session, int number);
/* Selects the rank whose number text is. Returns 0; -1 and *error: there is no such rank. */
int look_at_rank(struct app *app, const char *text, struct error *error);
/* Sorts the ranks by a column; if they are sorted by the column already, reverses the order. */
void sort_by(struct app *app, enum column column);
/* Moves the cursor of the shown view; in the home view, the cursor of the focused pane. */
void move_in_view(struct app *app, enum move move);
/* Opens the item under the cursor of the shown view. Returns 0; -1 and *error. */
int open_under_cursor(struct command_context *context, struct error *error);
/* Selects a frame of the selected thread by its depth in the Python stack. */
void select_depth(struct session *session, int depth);
/*
 * Goes one step back towards the grid of the home view: closes a view, or focuses the grid. Returns
 * false if the grid has the focus already.
 */
bool step_back(struct app *app);
/* True if the list of breakpoints, as a view or as a pane, has the focus. */
bool is_on_breakpoints(const struct app *app);
/*
 * Enable or disable the breakpoint under the list's cursor, and show its line in the source,
 * respectively.
 */
int toggle_breakpoint(struct app *app, struct error *error);
int open_breakpoint(struct command_context *context, struct error *error);
/* Opens the prompt that sets the variable under the cursor of the locals. */
int prompt_assign(struct app *app, struct error *error);
/* Opens the home view with the source of the frame under the cursor of the merged stacks. */
void open_branch(struct app *app);
/* Opens the difference between a class's tensor and that of answer_classes_reference(). */
int open_difference(struct app *app, const struct answer_classes *classes,
		    const struct answer_class *class, struct error *error);
/* Applies the setting `tolerance` to the present comparison. */
void apply_tolerance(struct app *app);
/* Compares the parameter under the cursor on all ranks of the comparison. */
int open_parameter(struct command_context *context, struct error *error);
/* Cancels the running comparison of parameters; returns false if none is running. */
bool stop_parameters(struct app *app);
/* Cancels the reading of the shown difference; returns false if it is not being read. */
bool stop_difference(struct app *app);
/* Opens the difference of the tensor under the cursor; for another answer, its whole text. */
int open_answer(struct command_context *context, struct error *error);

/* Sets the focus to these ranks; if the focus is already these ranks, sets it to all ranks. */
void focus_these(struct session *session, const struct rankset *these);
/* Adds the rank to the focus, or removes it; if all ranks are focused, focuses only this rank. */
void focus_toggle(struct session *session, int rank);
/* Shows a job in the home view; if it was opened from the list of jobs, "back" returns there. */
void choose_job(struct app *app, size_t index);
/* Connects to the selected rank's debugger; returns false if it does not wait for a client. */
bool connect_selected(struct app *app);
/* Requests source and variables of a frame. */
void want_frame(struct app *app, const struct rank *rank, pid_t tid, const struct stack *stack,
		int depth);

/* Functions of struct view_type (view-type.h) for the home view. */
void home_want(struct app *app, bool is_open);
void home_add_rows(struct search_text *lines, const struct app *app);
void home_select(struct app *app, int row);
void home_move(struct app *app, const struct layout *layout, enum move move);
struct file_place home_place(const struct app *app);
int home_open(struct command_context *context, struct error *error);
int home_expand(struct app *app, struct error *error);
int home_toggle(struct app *app, struct error *error);

/* Opens the tensor under the cursor of the locals, or the prompt for an expression. */
void prompt_tensor(struct app *app);
/* Stores in the view the plane, cursor and scroll position that the tensor pane has drawn. */
void tensor_settle(struct app *app);
/*
 * Move the cursor of the tensor pane: by a step, or to a clicked element (value of
 * MOUSE_TARGET_ELEMENT), respectively.
 */
void tensor_move(struct app *app, enum move move);
void tensor_point(struct app *app, int value);
/* Moves the cursor to the element that `tensor-find` has found. */
void tensor_refresh(struct app *app, bool is_open);
/* Requests the elements that the tensor pane shows. */
void want_tensor(struct app *app);

/*
 * Asks whether to detach from the started job or to end it. Returns false, without asking, if no
 * started job runs, or if the setting `yes` answers all questions.
 */
bool started_asks(struct app *app);
/* Ends the started job with SIGTERM (SIGKILL when called again), and quits after the job's end. */
void started_end(struct app *app);

#endif
