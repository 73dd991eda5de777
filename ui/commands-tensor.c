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
#include "ui/pane.h"
#include "ui/tensorscreen.h"

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

static int need_tensor(const struct app *app, struct error *error)
{
	if (known_of(app)->has_tensor)
		return 0;
	return error_set(error, "no tensor is looked at; tensor EXPR looks at one.");
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

int ui_tensor(struct command_context *context, int argc, char **argv, struct error *error)
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
		result = error_set(
			error, "tensor needs an expression of the program: tensor model.fc.weight");
	free(expression);
	return result;
}

/*
 * How it is shown
 */

int ui_tensor_view(struct command_context *context, int argc, char **argv, struct error *error)
{
	static const char *const names[] = { "numbers", "heat", "histogram" };
	struct app *app = command_app(context);
	int mode = ((int)app->view.tensor.mode + 1) % TENSOR_MODE_COUNT;

	if (argc > 1)
		mode = find_word(names, ARRAY_LENGTH(names), argv[1]);
	if (argc > 2 || mode < 0)
		return command_usage(error, "tensor-view", "numbers, heat or histogram");
	app->view.tensor.mode = (enum tensor_mode)mode;
	return 0;
}

static int set_notation(struct tensor_format *format, const char *word, struct error *error)
{
	int notation = find_word(tensor_notation_names, TENSOR_NOTATION_COUNT, word);

	if (notation < 0)
		return command_usage(error, "tensor-digits",
				     "automatic, fixed, scientific, hex, more or fewer");
	format->notation = (enum tensor_notation)notation;
	return 0;
}

int ui_tensor_digits(struct command_context *context, int argc, char **argv, struct error *error)
{
	struct app *app = command_app(context);
	struct tensor_format *format = &app->view.tensor.format;
	int by = 0;

	if (argc == 1) {
		format->notation =
			(enum tensor_notation)(((int)format->notation + 1) % TENSOR_NOTATION_COUNT);
		return 0;
	}
	if (strcmp(argv[1], "more") == 0)
		by = 1;
	else if (strcmp(argv[1], "fewer") == 0)
		by = -1;
	else
		return set_notation(format, argv[1], error);
	if (format->precision + by >= 0 && format->precision + by <= TENSOR_PRECISION_MAXIMUM)
		format->precision += by;
	return 0;
}

int ui_tensor_scale(struct command_context *context, int argc, char **argv, struct error *error)
{
	static const char *const names[] = { "linear", "log" };
	struct app *app = command_app(context);
	int is_logarithmic = !app->view.tensor.is_logarithmic;

	if (argc > 1)
		is_logarithmic = find_word(names, ARRAY_LENGTH(names), argv[1]);
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

	tensor_settle(app);
	tensor_plane_append(&text, &app->view.tensor.plane);
	prompt_open(&app->view.prompt, PROMPT_TENSOR_INDEX, text.data);
	buffer_clear(&text);
}

static int step_plane(struct app *app, int by, struct error *error)
{
	tensor_settle(app);
	if (tensor_plane_step(&app->view.tensor.plane, &known_of(app)->tensor, by))
		return 0;
	return error_set(error, "this is all of it: it has no other dimensions.");
}

int ui_tensor_index(struct command_context *context, int argc, char **argv, struct error *error)
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
	tensor_settle(app);
	result = tensor_plane_parse(&choice->plane, &choice->cursor, &known_of(app)->tensor, text,
				    error);
	if (result == 0)
		choice->first = choice->cursor;
	free(text);
	return result;
}

int ui_tensor_find(struct command_context *context, int argc, char **argv, struct error *error)
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
	tensor_settle(app);
	if (strcmp(argv[1], "nan") == 0 && known->tensor.element_count > 0)
		after = tensor_plane_flat(&app->view.tensor.plane, &known->tensor,
					  &app->view.tensor.cursor);
	/* The first may be a NaN itself. */
	if (after == 0 && !app->view.tensor.is_at_found)
		after = -1;
	tensor_find(app->engine, argv[1], after);
	return 0;
}

/* Of no NaN there is no next one; of nothing else no least or greatest. */
static const char *why_not_found(const struct tensor *tensor)
{
	if (tensor->element_count == 0)
		return "there is no such element in it: it has none.";
	if (tensor->has_statistics && tensor->statistics.nan_count == 0 &&
	    tensor->statistics.infinity_count == 0)
		return "there is no such element in it: no NaN, no infinity.";
	return "there is no such element in it.";
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
	buffer_printf(&text, "%srank%d.npy", text.length > 0 ? "-" : "", known->rank);
	prompt_open(&app->view.prompt, PROMPT_TENSOR_EXPORT, text.data);
	buffer_clear(&text);
}

int ui_tensor_export(struct command_context *context, int argc, char **argv, struct error *error)
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
