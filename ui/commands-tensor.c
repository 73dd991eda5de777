/*
 * commands-tensor: what is looked at in the tensor pane, and how.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "base/alloc.h"
#include "base/array.h"
#include "base/buffer.h"
#include "base/error.h"
#include "engine/engine.h"
#include "model/displays.h"
#include "ui/app.h"
#include "ui/commands-private.h"
#include "ui/grid.h"
#include "ui/heat.h"
#include "ui/layout.h"
#include "ui/pane-tensor.h"
#include "ui/pane.h"
#include "ui/tensorscreen.h"

/* A plane with no more elements is read as a whole. */
#define SMALL_CELLS 4096

/* The index of word in names, -1 when it is none of them. */
static int find_word(const char *const *names, size_t count, const char *word)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(names[i], word) == 0)
			return (int)i;
	return -1;
}

static const struct tensorview *known_of(const struct app *app)
{
	return &app->engine->session.tensorview;
}

/* The pane as it is drawn. */
static void make_screen(struct tensor_screen *screen, const struct app *app)
{
	struct layout layout;

	layout_make(&layout, &app->engine->session, &app->view);
	tensor_screen_make(screen, &app->engine->session, &app->view,
			   layout.body.row_count, layout.body.column_count);
}

static int need_tensor(const struct app *app, struct error *error)
{
	if (known_of(app)->has_tensor)
		return 0;
	return error_set(error, "no tensor is looked at; tensor EXPR looks at "
				"one.");
}

/* What the cursor and all that was scrolled become when it is drawn. */
static void settle(struct app *app)
{
	struct tensor_choice *choice = &app->view.tensor;
	struct tensor_screen screen;

	make_screen(&screen, app);
	choice->plane = screen.plane;
	choice->cursor = screen.cursor;
	choice->first = screen.first;
}

/*
 * What is looked at
 */

/* Behind what holds it: an item is "[0]", an attribute "weight". */
static void append_step(struct buffer *out, const char *name)
{
	if (out->length > 0 && name[0] != '[' && name[0] != '.')
		buffer_append_char(out, '.');
	buffer_append_string(out, name);
}

/* How the program would say it: "model.fc.weight"; NULL: not at all. */
static char *path_of(const struct locals_row *rows, int at)
{
	struct buffer path = BUFFER_INIT;
	int indent = 0;

	for (int wanted = 0; wanted <= rows[at].indent; wanted++) {
		int i = at;

		while (i >= 0 && (rows[i].kind != LOCALS_VARIABLE ||
				  rows[i].indent != wanted))
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

/* What is under the cursor of the locals; NULL: nothing that has a name. */
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

static void look(struct app *app, const char *expression)
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
		look(app, expression);
	else
		prompt_open(&app->view.prompt, PROMPT_TENSOR, "");
	free(expression);
}

int ui_tensor(struct command_context *context, int argc, char **argv,
	      struct error *error)
{
	struct app *app = command_app(context);
	char *expression = command_tail(context, argc, argv, 1);
	int result = 0;

	if (app->engine->session.is_replay)
		result = error_set(error, "a recording has no tensors.");
	else if (*expression != '\0')
		look(app, expression);
	else if (known_of(app)->expression != NULL)
		view_open(&app->view, VIEW_TENSOR);
	else
		result = error_set(error, "tensor needs an expression of the "
					  "program: tensor model.fc.weight");
	free(expression);
	return result;
}

/*
 * How it is shown
 */

int ui_tensor_view(struct command_context *context, int argc, char **argv,
		   struct error *error)
{
	static const char *const names[] = { "numbers", "heat", "histogram" };
	struct app *app = command_app(context);
	int mode = ((int)app->view.tensor.mode + 1) % TENSOR_MODE_COUNT;

	if (argc > 1)
		mode = find_word(names, ARRAY_LENGTH(names), argv[1]);
	if (argc > 2 || mode < 0)
		return command_usage(error, "tensor-view",
				     "numbers, heat or histogram");
	app->view.tensor.mode = (enum tensor_mode)mode;
	return 0;
}

static int set_notation(struct tensor_format *format, const char *word,
			struct error *error)
{
	int notation =
		find_word(tensor_notation_names, TENSOR_NOTATION_COUNT, word);

	if (notation < 0)
		return command_usage(error, "tensor-digits",
				     "automatic, fixed, scientific, hex, more "
				     "or fewer");
	format->notation = (enum tensor_notation)notation;
	return 0;
}

int ui_tensor_digits(struct command_context *context, int argc, char **argv,
		     struct error *error)
{
	struct app *app = command_app(context);
	struct tensor_format *format = &app->view.tensor.format;
	int by = 0;

	if (argc == 1) {
		format->notation = (enum tensor_notation)(
			((int)format->notation + 1) % TENSOR_NOTATION_COUNT);
		return 0;
	}
	if (strcmp(argv[1], "more") == 0)
		by = 1;
	else if (strcmp(argv[1], "fewer") == 0)
		by = -1;
	else
		return set_notation(format, argv[1], error);
	if (format->precision + by >= 0 &&
	    format->precision + by <= TENSOR_PRECISION_MAXIMUM)
		format->precision += by;
	return 0;
}

int ui_tensor_scale(struct command_context *context, int argc, char **argv,
		    struct error *error)
{
	static const char *const names[] = { "linear", "log" };
	struct app *app = command_app(context);
	int is_logarithmic = !app->view.tensor.is_logarithmic;

	if (argc > 1)
		is_logarithmic =
			find_word(names, ARRAY_LENGTH(names), argv[1]);
	if (is_logarithmic < 0)
		return command_usage(error, "tensor-scale", "linear or log");
	app->view.tensor.is_logarithmic = is_logarithmic;
	return 0;
}

/*
 * Where in it
 */

static void prompt_index(struct app *app)
{
	struct buffer text = BUFFER_INIT;

	settle(app);
	tensor_plane_append(&text, &app->view.tensor.plane);
	prompt_open(&app->view.prompt, PROMPT_TENSOR_INDEX, text.data);
	buffer_clear(&text);
}

static int step_plane(struct app *app, int by, struct error *error)
{
	settle(app);
	if (tensor_plane_step(&app->view.tensor.plane, &known_of(app)->tensor,
			      by))
		return 0;
	return error_set(error, "this is all of it: it has no other "
				"dimensions.");
}

int ui_tensor_index(struct command_context *context, int argc, char **argv,
		    struct error *error)
{
	struct app *app = command_app(context);
	struct tensor_choice *choice = &app->view.tensor;
	char *text;
	int result;

	if (need_tensor(app, error) < 0)
		return -1;
	if (argc == 1) {
		prompt_index(app);
		return 0;
	}
	if (argc == 2 && command_direction(argc, argv) != 0)
		return step_plane(app, command_direction(argc, argv), error);
	text = command_join(argc, argv, 1);
	settle(app);
	result = tensor_plane_parse(&choice->plane, &choice->cursor,
				    &known_of(app)->tensor, text, error);
	if (result == 0)
		choice->first = choice->cursor;
	free(text);
	return result;
}

int ui_tensor_find(struct command_context *context, int argc, char **argv,
		   struct error *error)
{
	static const char *const names[] = { "min", "max", "nan" };
	struct app *app = command_app(context);
	const struct tensorview *known = known_of(app);
	int64_t after = -1;

	if (argc != 2 || find_word(names, ARRAY_LENGTH(names), argv[1]) < 0)
		return command_usage(error, "tensor-find", "min, max or nan");
	if (need_tensor(app, error) < 0)
		return -1;
	if (known->tensor.unread != NULL)
		return error_set(error, "%s.", known->tensor.unread);
	settle(app);
	if (strcmp(argv[1], "nan") == 0 && known->tensor.element_count > 0)
		after = tensor_plane_flat(&app->view.tensor.plane,
					  &known->tensor,
					  &app->view.tensor.cursor);
	/* The first may be a NaN itself. */
	if (after == 0 && !app->view.tensor.is_at_found)
		after = -1;
	tensor_find(app->engine, argv[1], after);
	return 0;
}

void tensor_refresh(struct app *app)
{
	struct tensorview *known = &app->engine->session.tensorview;
	struct tensor_choice *choice = &app->view.tensor;

	if (!known->has_found)
		return;
	known->has_found = false;
	if (app->view.kind != VIEW_TENSOR || !known->has_tensor)
		return;
	if (known->found < 0) {
		view_say(&app->view, false,
			 "there is no such element in it.");
		return;
	}
	settle(app);
	choice->cursor = tensor_plane_show(&choice->plane, &known->tensor,
					   known->found);
	choice->is_at_found = true;
	settle(app);
}

/* "model-fc-weight-rank5.npy" */
static void prompt_export(struct app *app)
{
	const struct tensorview *known = known_of(app);
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
	buffer_printf(&text, "%srank%d.npy", text.length > 0 ? "-" : "",
		      known->rank);
	prompt_open(&app->view.prompt, PROMPT_TENSOR_EXPORT, text.data);
	buffer_clear(&text);
}

int ui_tensor_export(struct command_context *context, int argc, char **argv,
		     struct error *error)
{
	struct app *app = command_app(context);

	if (need_tensor(app, error) < 0)
		return -1;
	if (argc > 2)
		return command_usage(error, "tensor-export", "one file");
	if (argc == 2)
		return tensor_export(app->engine, argv[1], error);
	prompt_export(app);
	return 0;
}

/* In numbers by one, in a map by a part of it. */
static void find_step(const struct app *app, const struct tensor_screen *screen,
		      int64_t *rows, int64_t *columns)
{
	const struct tensor_heat *heat = &known_of(app)->heat;

	*rows = 1;
	*columns = 1;
	if (app->view.tensor.mode != TENSOR_HEAT || heat->bins == NULL ||
	    !tensor_plane_is_same(&heat->plane, &screen->plane))
		return;
	*rows = heat->bin_rows;
	*columns = heat->bin_columns;
}

/* Home and End: of the row, then of the plane. */
static void go_to_end(struct tensor_place *cursor,
		      const struct tensor_screen *screen, bool is_first)
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

	settle(app);
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
	settle(app);
}

void tensor_point(struct app *app, int value)
{
	struct tensor_choice *choice = &app->view.tensor;
	const struct tensor_heat *heat = &known_of(app)->heat;
	struct tensor_screen screen;

	settle(app);
	make_screen(&screen, app);
	choice->is_at_found = false;
	if (choice->mode == TENSOR_NUMBERS && screen.shown_columns > 0) {
		choice->cursor.row =
			screen.first.row + value / screen.shown_columns;
		choice->cursor.column =
			screen.first.column + value % screen.shown_columns;
	} else if (choice->mode == TENSOR_HEAT && heat->column_count > 0) {
		choice->cursor.row =
			value / heat->column_count * heat->bin_rows;
		choice->cursor.column =
			heat->first_column +
			value % heat->column_count * heat->bin_columns;
	}
	settle(app);
}

/*
 * What the pane lacks
 */

static int64_t minimum(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/* All of a small plane: what changed where nobody looked is marked, too. */
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
	rows = minimum(high, screen->rows - place.row);
	columns = minimum(wide, screen->columns - place.column);
	return tensor_plane_slice(&screen->plane, &place, rows, columns);
}

void want_tensor(struct app *app)
{
	struct view *view = &app->view;
	struct tensor_want want = { .bin_count = TENSOR_BINS };
	struct tensor_screen screen;

	make_screen(&screen, app);
	if (known_of(app)->has_tensor) {
		if (view->tensor.mode != TENSOR_HISTOGRAM)
			want.slice = cells_around(&screen);
		want.wants_map = view->tensor.mode == TENSOR_HEAT;
		want.plane = screen.plane;
		want.column = screen.cursor.column;
		tensor_screen_map(&screen, view, &want.row_maximum,
				  &want.column_maximum);
	}
	tensor_want(app->engine, &want);
}
