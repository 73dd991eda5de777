/*
 * commands-tensor: commands that choose the tensor, its presentation and the shown part of the
 * tensor pane.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "base/alloc.h"
#include "base/array.h"
#include "base/buffer.h"
#include "base/error.h"
#include "engine/arguments.h"
#include "engine/engine.h"
#include "model/choice.h"
#include "ui/app.h"
#include "ui/commands.h"
#include "ui/layout.h"
#include "ui/pane.h"
#include "ui/tensorscreen.h"

static const struct tensorview *commands_tensor_known_of(const struct app *app)
{
	return &app->engine->session.tensorview;
}

static int need_tensor(const struct app *app, struct error *error)
{
	if (commands_tensor_known_of(app)->has_tensor)
		return 0;
	return error_set(error, "no tensor is shown: use `:tensor EXPR`");
}

/*
 * Choice of the tensor
 */

/* Appends one step of a path: an item "[0]" as it is, an attribute "weight" after a dot. */
static void append_step(struct buffer *out, const char *name)
{
	if (out->length > 0 && name[0] != '[' && name[0] != '.')
		buffer_append_char(out, '.');
	buffer_append_string(out, name);
}

/* Returns the expression of a row of the locals, "model.fc.weight"; free() it. Returns NULL if a
 * row on the path has no name. */
static char *path_of(const struct locals_row *rows, int at)
{
	struct buffer path = BUFFER_INIT;
	int indent = 0;

	for (int wanted = 0; wanted <= rows[at].indent; wanted++) {
		int i = at;

		while (i >= 0 && (rows[i].kind != LOCALS_VARIABLE || rows[i].indent != wanted))
			i--;
		if (i < 0 || rows[i].variable->name == NULL)
			break;
		append_step(&path, rows[i].variable->name);
		indent = wanted;
	}
	if (indent == rows[at].indent && path.length > 0)
		return buffer_take(&path);
	buffer_clear(&path);
	return NULL;
}

/* Returns the expression under the cursor of the locals; NULL if the row has no expression. */
static char *expression_under_cursor(const struct app *app)
{
	const struct session *session = &app->engine->session;
	struct locals_frame frame = locals_frame_selected(session);
	int at = app->view.locals_cursor;
	char *expression = NULL;
	struct locals_row *rows;
	size_t count;

	if (app->view.kind != VIEW_HOME || app->view.pane != PANE_LOCALS)
		return NULL;
	rows = pane_locals_rows(session, &app->view, &frame, &count);
	if (at >= (int)count)
		at = (int)count - 1;
	if (at >= 0 && rows[at].kind == LOCALS_VARIABLE)
		expression = path_of(rows, at);
	else if (at >= 0 && rows[at].kind == LOCALS_DISPLAY)
		expression = xstrdup(rows[at].display->expression);
	free(rows);
	return expression;
}

static void commands_tensor_look(struct app *app, const char *expression)
{
	struct tensor_choice *choice = &app->view.tensor;

	tensor_look(app->engine, expression);
	tensor_plane_init(&choice->plane);
	choice->cursor = (struct tensor_place){ 0, 0 };
	choice->first = choice->cursor;
	view_open(&app->view, VIEW_TENSOR);
}

void prompt_tensor(struct app *app)
{
	char *expression = expression_under_cursor(app);

	if (expression != NULL)
		commands_tensor_look(app, expression);
	else
		prompt_open(&app->view.prompt, PROMPT_TENSOR, "");
	free(expression);
}

static int tensor_on_screen(struct command_context *context, const struct arguments *arguments,
			    struct error *error)
{
	struct app *app = command_app(context);
	char *expression = arguments_text(arguments, 0, arguments->count);
	int result = 0;

	if (*expression != '\0')
		commands_tensor_look(app, expression);
	else if (commands_tensor_known_of(app)->expression != NULL)
		view_open(&app->view, VIEW_TENSOR);
	else
		result = error_set(
			error, "tensor needs a Python expression: use `:tensor model.fc.weight`");
	free(expression);
	return result;
}

const struct command_hook screen_tensor = { .command = &command_tensor, .run = tensor_on_screen };

/*
 * Presentation
 */

static int tensor_view_run(struct command_context *context, const struct arguments *arguments,
			   struct error *error)
{
	static const char *const names[] = { "numbers", "heat", "histogram" };
	struct app *app = command_app(context);
	int mode = ((int)app->view.tensor.mode + 1) % TENSOR_MODE_COUNT;

	(void)error;
	if (arguments->count > 0)
		mode = arguments_choice(arguments, names, ARRAY_LENGTH(names));
	app->view.tensor.mode = (enum tensor_mode)mode;
	return 0;
}

const struct command command_tensor_view = {
	.name = "tensor-view",
	.synopsis = "[numbers | heat | histogram]",
	.help = "show the tensor as numbers, heat map or histogram; without an argument: switch to "
		"the next of the three",
	.flags = COMMAND_SCREEN,
	.run = tensor_view_run,
};

static int tensor_digits_run(struct command_context *context, const struct arguments *arguments,
			     struct error *error)
{
	struct tensor_format *format = &command_app(context)->view.tensor.format;
	int notation = ((int)format->notation + 1) % TENSOR_NOTATION_COUNT;
	int by = arguments_is(arguments, "more") - arguments_is(arguments, "fewer");

	(void)error;
	if (by != 0) {
		if (format->precision + by >= 0 &&
		    format->precision + by <= TENSOR_PRECISION_MAXIMUM)
			format->precision += by;
		return 0;
	}
	if (arguments->count > 0)
		notation =
			arguments_choice(arguments, tensor_notation_names, TENSOR_NOTATION_COUNT);
	format->notation = (enum tensor_notation)notation;
	return 0;
}

const struct command command_tensor_digits = {
	.name = "tensor-digits",
	.synopsis = "[automatic | fixed | scientific | hex | more | fewer]",
	.help = "format the tensor's numbers; without an argument: switch to the next format",
	.flags = COMMAND_SCREEN,
	.run = tensor_digits_run,
};

static int tensor_scale_run(struct command_context *context, const struct arguments *arguments,
			    struct error *error)
{
	struct app *app = command_app(context);
	bool is_logarithmic = !app->view.tensor.is_logarithmic;

	(void)error;
	if (arguments->count > 0)
		is_logarithmic = arguments_is(arguments, "log");
	app->view.tensor.is_logarithmic = is_logarithmic;
	return 0;
}

const struct command command_tensor_scale = {
	.name = "tensor-scale",
	.synopsis = "[linear | log]",
	.help = "draw the histogram's bars linear or logarithmic; without an argument: switch to "
		"the other",
	.flags = COMMAND_SCREEN,
	.run = tensor_scale_run,
};

/*
 * Choice of the shown part
 */

static void prompt_index(struct app *app)
{
	struct buffer text = BUFFER_INIT;

	tensor_settle(app);
	tensor_plane_append(&text, &app->view.tensor.plane);
	prompt_open(&app->view.prompt, PROMPT_TENSOR_INDEX, text.data);
	buffer_clear(&text);
}

static int step_plane(struct app *app, int by, struct error *error)
{
	tensor_settle(app);
	if (tensor_plane_step(&app->view.tensor.plane, &commands_tensor_known_of(app)->tensor, by))
		return 0;
	return error_set(error, "the tensor has only the dimensions that are shown");
}

static int tensor_index_run(struct command_context *context, const struct arguments *arguments,
			    struct error *error)
{
	struct app *app = command_app(context);
	struct tensor_choice *choice = &app->view.tensor;
	char *text;
	int result;

	if (need_tensor(app, error) < 0)
		return -1;
	if (arguments->count == 0) {
		prompt_index(app);
		return 0;
	}
	if (arguments->count == 1 && arguments_direction(arguments) != 0)
		return step_plane(app, arguments_direction(arguments), error);
	text = arguments_join(arguments, 0, arguments->count);
	tensor_settle(app);
	result = tensor_plane_parse(&choice->plane, &choice->cursor,
				    &commands_tensor_known_of(app)->tensor, text, error);
	if (result == 0)
		choice->first = choice->cursor;
	free(text);
	return result;
}

const struct command command_tensor_index = {
	.name = "tensor-index",
	.synopsis = "[SLICE | next | previous]",
	.help = "select which slice of the tensor is shown: two dimensions (:), an index in the "
		"others: [2, :, :]",
	.flags = COMMAND_REST | COMMAND_SCREEN,
	.run = tensor_index_run,
};

static int tensor_find_run(struct command_context *context, const struct arguments *arguments,
			   struct error *error)
{
	struct app *app = command_app(context);
	const struct tensorview *known = commands_tensor_known_of(app);
	int64_t after = -1;

	if (need_tensor(app, error) < 0)
		return -1;
	if (known->tensor.unread != NULL)
		return error_set(error, "%s", known->tensor.unread);
	tensor_settle(app);
	if (arguments_is(arguments, "nan") && known->tensor.element_count > 0)
		after = tensor_plane_flat(&app->view.tensor.plane, &known->tensor,
					  &app->view.tensor.cursor);
	/* The search must not skip element 0, unless the last search found element 0. */
	if (after == 0 && !app->view.tensor.is_at_found)
		after = -1;
	tensor_find(app->engine, arguments->words[0], after);
	return 0;
}

const struct command command_tensor_find = {
	.name = "tensor-find",
	.synopsis = "min | max | nan",
	.help = "go to the tensor's minimum or maximum; nan: go to the next NaN or infinity",
	.flags = COMMAND_SCREEN,
	.run = tensor_find_run,
};

/* Returns the sentence for a search that found no element. */
static const char *why_not_found(const struct tensor *tensor)
{
	if (tensor->element_count == 0)
		return "the tensor has no elements";
	if (tensor->has_statistics && tensor->statistics.nan_count == 0 &&
	    tensor->statistics.infinity_count == 0)
		return "the tensor has no NaN and no infinity";
	return "the tensor has no element of the requested kind";
}

void tensor_refresh(struct app *app, bool is_open)
{
	struct tensorview *known = &app->engine->session.tensorview;
	struct tensor_choice *choice = &app->view.tensor;

	if (!known->has_found)
		return;
	known->has_found = false;
	if (!is_open || !known->has_tensor)
		return;
	if (known->found < 0) {
		view_say(&app->view, false, why_not_found(&known->tensor));
		return;
	}
	tensor_settle(app);
	choice->cursor = tensor_plane_show(&choice->plane, &known->tensor, known->found);
	choice->is_at_found = true;
	tensor_settle(app);
}

/* Opens the prompt for the export with a proposed name: "model-fc-weight-rank5.npy". */
static void prompt_export(struct app *app)
{
	const struct tensorview *known = commands_tensor_known_of(app);
	const char *name = known->expression;
	struct buffer text = BUFFER_INIT;

	for (; *name != '\0'; name++) {
		bool is_letter = isalnum((unsigned char)*name) || *name == '_';

		if (is_letter)
			buffer_append_char(&text, *name);
		else if (text.length > 0 && text.data[text.length - 1] != '-')
			buffer_append_char(&text, '-');
	}
	if (text.length > 0 && text.data[text.length - 1] == '-')
		buffer_truncate(&text, text.length - 1);
	buffer_printf(&text, "%srank%d.npy", text.length > 0 ? "-" : "", known->rank);
	prompt_open(&app->view.prompt, PROMPT_TENSOR_EXPORT, text.data);
	buffer_clear(&text);
}

static int tensor_export_run(struct command_context *context, const struct arguments *arguments,
			     struct error *error)
{
	struct app *app = command_app(context);

	if (need_tensor(app, error) < 0)
		return -1;
	if (arguments->count == 1)
		return tensor_export(app->engine, arguments->words[0], error);
	prompt_export(app);
	return 0;
}

const struct command command_tensor_export = {
	.name = "tensor-export",
	.synopsis = "[FILE]",
	.help = "export all elements to a new .npy file; without FILE: ask for the name of the "
		"file",
	.takes = "one file",
	.flags = COMMAND_SCREEN,
	.run = tensor_export_run,
};

/*
 * The cursor of the tensor pane, and requests for the elements that the pane
 * shows.
 */

/* A plane of at most this number of elements is requested as a whole. */
#define SMALL_CELLS 4096

static const struct tensorview *commands_tensor_move_known_of(const struct app *app)
{
	return &app->engine->session.tensorview;
}

/* Computes the geometry of the tensor pane as drawn. */
static void make_screen(struct tensor_screen *screen, const struct app *app)
{
	struct layout layout;

	layout_make(&layout, &app->engine->session, &app->view);
	tensor_screen_make(screen, &app->engine->session, &app->view, layout.body.row_count,
			   layout.body.column_count);
}

void tensor_settle(struct app *app)
{
	struct tensor_choice *choice = &app->view.tensor;
	struct tensor_screen screen;

	make_screen(&screen, app);
	choice->plane = screen.plane;
	choice->cursor = screen.cursor;
	choice->first = screen.first;
}

/* Sets *rows and *columns to the size of a cursor step in elements: 1, or a bin of the heat map. */
static void find_step(const struct app *app, const struct tensor_screen *screen, int64_t *rows,
		      int64_t *columns)
{
	const struct tensor_heat *heat = &commands_tensor_move_known_of(app)->heat;

	*rows = 1;
	*columns = 1;
	if (app->view.tensor.mode != TENSOR_HEAT || heat->bins == NULL ||
	    !tensor_plane_is_same(&heat->plane, &screen->plane))
		return;
	*rows = heat->bin_rows;
	*columns = heat->bin_columns;
}

/*
 * Home and End move to the first or last element of the row; if the cursor is already there, to the
 * plane's first or last row.
 */
static void go_to_end(struct tensor_place *cursor, const struct tensor_screen *screen,
		      bool is_first)
{
	int64_t column = is_first ? 0 : screen->columns - 1;
	int64_t row = is_first ? 0 : screen->rows - 1;

	if (cursor->column == column)
		cursor->row = row;
	cursor->column = column;
}

void tensor_move(struct app *app, enum move move)
{
	struct tensor_choice *choice = &app->view.tensor;
	struct tensor_place *cursor = &choice->cursor;
	struct tensor_screen screen;
	int64_t rows;
	int64_t columns;
	int page;

	tensor_settle(app);
	make_screen(&screen, app);
	find_step(app, &screen, &rows, &columns);
	page = screen.shown_rows > 1 ? screen.shown_rows - 1 : 1;
	choice->is_at_found = false;
	switch (move) {
	case MOVE_UP:
		cursor->row -= rows;
		break;
	case MOVE_DOWN:
		cursor->row += rows;
		break;
	case MOVE_LEFT:
		cursor->column -= columns;
		break;
	case MOVE_RIGHT:
		cursor->column += columns;
		break;
	case MOVE_PAGE_UP:
		cursor->row -= page * rows;
		break;
	case MOVE_PAGE_DOWN:
		cursor->row += page * rows;
		break;
	case MOVE_FIRST:
	case MOVE_LAST:
		go_to_end(cursor, &screen, move == MOVE_FIRST);
		break;
	case MOVE_COUNT:
		break;
	}
	tensor_settle(app);
}

void tensor_point(struct app *app, int value)
{
	struct tensor_choice *choice = &app->view.tensor;
	const struct tensor_heat *heat = &commands_tensor_move_known_of(app)->heat;
	struct tensor_screen screen;

	tensor_settle(app);
	make_screen(&screen, app);
	choice->is_at_found = false;
	if (choice->mode == TENSOR_NUMBERS && screen.shown_columns > 0) {
		choice->cursor.row = screen.first.row + value / screen.shown_columns;
		choice->cursor.column = screen.first.column + value % screen.shown_columns;
	} else if (choice->mode == TENSOR_HEAT && heat->column_count > 0) {
		choice->cursor.row = value / heat->column_count * heat->bin_rows;
		choice->cursor.column =
			heat->first_column + value % heat->column_count * heat->bin_columns;
	}
	tensor_settle(app);
}

/*
 * Requests for elements
 */

static int64_t commands_tensor_move_minimum(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/* Returns the slice to request: the shown part, or all of a small plane, so that changes outside
 * the shown part are marked, too. */
static struct tensor_slice cells_around(const struct tensor_screen *screen)
{
	int64_t high = screen->shown_rows;
	int64_t wide = screen->shown_columns + 1;
	struct tensor_place place = {
		.row = screen->first.row,
		.column = screen->first.column,
	};
	int64_t rows;
	int64_t columns;

	if (screen->rows <= SMALL_CELLS && screen->columns <= SMALL_CELLS &&
	    screen->rows * screen->columns <= SMALL_CELLS) {
		place = (struct tensor_place){ 0, 0 };
		high = screen->rows;
		wide = screen->columns;
	}
	rows = commands_tensor_move_minimum(high, screen->rows - place.row);
	columns = commands_tensor_move_minimum(wide, screen->columns - place.column);
	return tensor_plane_slice(&screen->plane, &place, rows, columns);
}

void want_tensor(struct app *app)
{
	struct view *view = &app->view;
	struct tensor_want want = { .bin_count = TENSOR_BINS };
	struct tensor_screen screen;

	make_screen(&screen, app);
	if (commands_tensor_move_known_of(app)->has_tensor) {
		if (view->tensor.mode != TENSOR_HISTOGRAM)
			want.slice = cells_around(&screen);
		want.wants_map = view->tensor.mode == TENSOR_HEAT;
		want.plane = screen.plane;
		want.column = screen.cursor.column;
		tensor_screen_map(&screen, view, &want.row_maximum, &want.column_maximum);
	}
	tensor_want(app->engine, &want);
}
