/*
 * commands-private: what the files of the screen's commands share.
 */
#ifndef UI_COMMANDS_PRIVATE_H
#define UI_COMMANDS_PRIVATE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "engine/command.h"
#include "ui/grid.h"

struct answer_class;
struct answer_classes;
struct app;
struct arguments;
struct error;
struct search_text;
struct layout;
struct rank;
struct rankset;
struct selection;
struct session;
struct stack;
struct file_place;

/*
 * The commands in the order of the screen's help, with those of the engine that
 * the screen has hooks for; and these.
 */
/* clang-format off */
#define SCREEN_COMMANDS(X) \
	X(job) X(jobs) X(rank) X(outlier) X(up) X(down) X(pane) X(cursor) X(click) X(wheel) \
	X(open) X(expand) X(zoom) X(grid) X(toggle) X(sort) X(group) X(filter) X(merged) \
	X(native) X(granularity) X(diff) X(against) X(search) X(find) X(here) X(breakpoints) \
	X(remove) X(stay) X(hold) X(refresh) X(time) X(record) X(theme) X(set) X(bind) \
	X(prompt) X(keys) X(help) X(log) X(compare) X(visit) X(tensor) X(tensor_view) \
	X(tensor_index) X(tensor_find) X(tensor_digits) X(tensor_export) X(tensor_scale) \
	X(difference) X(diff_params) X(follow) X(broadcast) X(eval) X(assign) X(execute) \
	X(repl) X(console) X(terminal) X(edit) X(copy) X(redraw) X(suspend) X(interrupt) \
	X(back) X(quit)

#define SCREEN_HOOKS(X) \
	X(jobs) X(rank) X(up) X(down) X(diff) X(set) X(help) X(compare) X(tensor) \
	X(diff_params) X(broadcast) X(eval) X(assign) X(execute) X(quit)
/* clang-format on */

#define DECLARE_ROW(name) extern const struct command command_##name;
#define DECLARE_HOOK(name) extern const struct command_hook screen_##name;
SCREEN_COMMANDS(DECLARE_ROW)
SCREEN_HOOKS(DECLARE_HOOK)

/* The screen that runs the command. */
struct app *command_app(const struct command_context *context);
/* Parses a line of the screen, as command_parse(). */
int commands_parse(struct arguments *arguments, const char *line, struct error *error);

/* Lends the rank whose number text is; NULL and a sentence: there is none. */
const struct rank *command_find_rank(const struct session *session, const char *text,
				     struct error *error);

/* A text to search for will be typed. */
void search_begin(struct app *app);
/* What belongs to one frame begins anew where another one is selected. */
void selection_changed(struct app *app, const struct selection *before);
/* Selects a rank, its main thread and the frame a person wants first. */
void select_rank(struct session *session, int number);
/* The same of what a person names; -1 and a sentence: there is none. */
int look_at_rank(struct app *app, const char *text, struct error *error);
/* Ranks are sorted by it; twice the same one turns them round. */
void sort_by(struct app *app, enum column column);
/* Moves in the view that is open, or in the pane. */
void move_in_view(struct app *app, enum move move);
int open_under_cursor(struct command_context *context, struct error *error);
/* Selects a frame of the thread that is looked at. */
void select_depth(struct session *session, int depth);
/* One step back, to home and its grid; false: that is where it is. */
bool step_back(struct app *app);
/* The list of breakpoints has the keys. */
bool is_on_breakpoints(const struct app *app);
/* Of the one under its cursor: off and on; its line in the source. */
int toggle_breakpoint(struct app *app, struct error *error);
int open_breakpoint(struct command_context *context, struct error *error);
/* A line to set the variable under the cursor of the locals. */
int prompt_assign(struct app *app, struct error *error);
/* Goes home, to the source of the frame under the cursor. */
void open_branch(struct app *app);
/* How a class's tensors differ from what most have. */
int open_difference(struct app *app, const struct answer_classes *classes,
		    const struct answer_class *class, struct error *error);
/* What is compared is so by the tolerance that was set. */
void apply_tolerance(struct app *app);
/* Compares the parameter under the cursor. */
int open_parameter(struct command_context *context, struct error *error);
/* True: they were being read, and are no more. */
bool stop_parameters(struct app *app);
/* True: one was being read, and is no more. */
bool stop_difference(struct app *app);
/* How the answer under the cursor differs, or all of it as a text. */
int open_answer(struct command_context *context, struct error *error);

/* The focus becomes these ranks; every rank when it is these already. */
void focus_these(struct session *session, const struct rankset *these);
/* Joins the focus or leaves it; from every rank, it is left alone in it. */
void focus_toggle(struct session *session, int rank);
/* Opens a job at home; from the list, "back" leads there again. */
void choose_job(struct app *app, size_t index);
/* Becomes the client of the selected rank's debugger; false: none waits. */
bool connect_selected(struct app *app);
/* Asks for source and variables of a frame. */
void want_frame(struct app *app, const struct rank *rank, pid_t tid, const struct stack *stack,
		int depth);

/* What view-type.h says, of the panes at home. */
void home_want(struct app *app, bool is_open);
void home_add_rows(struct search_text *lines, const struct app *app);
void home_select(struct app *app, int row);
void home_move(struct app *app, const struct layout *layout, enum move move);
struct file_place home_place(const struct app *app);
int home_open(struct command_context *context, struct error *error);
int home_expand(struct app *app, struct error *error);
int home_toggle(struct app *app, struct error *error);

/* Looks at what is under the cursor of the locals, or asks what. */
void prompt_tensor(struct app *app);
/* Cursor and what was scrolled become in the tensor pane what is drawn. */
void tensor_settle(struct app *app);
/* The cursor of the tensor pane; what was clicked there (mouse-target.h). */
void tensor_move(struct app *app, enum move move);
void tensor_point(struct app *app, int value);
/* The cursor goes to what was found. */
void tensor_refresh(struct app *app, bool is_open);
/* Asks for what the tensor pane lacks. */
void want_tensor(struct app *app);

/* A job that we started is there: asks what becomes of it, and is true. */
bool started_asks(struct app *app);
/* Has it end, and leaves once it has. */
void started_end(struct app *app);

#endif
