#include "ui/app.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "banned.h"
#include "base/alloc.h"
#include "base/array.h"
#include "base/error.h"
#include "base/log.h"
#include "base/loop.h"
#include "engine/command.h"
#include "engine/engine.h"
#include "engine/jobs.h"
#include "engine/replay.h"
#include "model/place.h"
#include "ui/commands.h"
#include "ui/editor.h"
#include "ui/input.h"
#include "ui/screen.h"
#include "ui/view-type.h"

#define DRAWS_A_SECOND 60
#define DOUBLE_CLICK_SECONDS 0.4
#define SAMPLING_PERIOD 0.25
#define SLOW_SAMPLING_PERIOD 1.0
#define SLOW_SAMPLING_RANKS 64 /* jobs with more ranks use SLOW_SAMPLING_PERIOD */

void app_init(struct app *app, struct engine *engine)
{
	*app = (struct app){ .engine = engine, .typed = BUFFER_INIT };
	view_init(&app->view);
	keymap_init(&app->keymap);
	keymap_add_default(&app->keymap);
	theme_init(&app->theme);
	canvas_init(&app->canvas, 1, 1);
}

void app_clear(struct app *app)
{
	buffer_clear(&app->typed);
	canvas_clear(&app->canvas);
	keymap_clear(&app->keymap);
	view_clear(&app->view);
}

static void take_prompt(struct app *app)
{
	char *line = prompt_take(&app->view.prompt);

	commands_run(app, line);
	free(line);
}

/* Shows the engine's notice: the result of a request that ended in the background. */
static void take_notice(struct app *app)
{
	bool is_error;
	char *notice;

	/* A notice must not replace a question before its answer. */
	if (app->view.message.question != NULL || app->view.message.choices != NULL)
		return;
	notice = engine_take_notice(app->engine, &is_error);
	if (notice != NULL)
		view_say(&app->view, is_error, notice);
	free(notice);
}

/* Logs each new stop once, in the order of the stops. */
static void log_stops(struct app *app)
{
	const struct stops *stops = &app->engine->session.stops;

	while (app->stops_told < stops->count) {
		const struct stop *stop = stops_find(stops, app->stops_told++);

		if (stop == NULL)
			continue;
		if (stop->said != NULL)
			log_write(LOG_NOTE, "rank %d, breakpoint %d: %s", stop->rank, stop->hits[0],
				  stop->said);
		else if (stop->resumed_for != RESUME_REQUEST)
			log_write(LOG_NOTE, "%s", stop->description);
		else if (stop->file == NULL)
			log_write(LOG_NOTE, "rank %d stopped: %s", stop->rank, stop->description);
		else
			log_write(LOG_NOTE, "rank %d stopped: %s, %s:%d", stop->rank,
				  stop->description, place_file_name(stop->file), stop->line);
	}
}

void app_say_error(struct app *app, const struct error *error)
{
	view_say(&app->view, true, error->message);
	log_write(LOG_WARNING, "%s", error->message);
}

static void app_type(struct app *app, const char *key)
{
	struct prompt *prompt = &app->view.prompt;
	bool is_forward = strcmp(key, "Tab") == 0;
	enum prompt_result result;

	if (is_forward || strcmp(key, "S-Tab") == 0) {
		prompt_complete(prompt, &app->engine->session, &app->keymap, is_forward ? 1 : -1);
		return;
	}
	result = prompt_key(prompt, key);
	if (prompt->kind == PROMPT_SEARCH)
		commands_search(app, result);
	if (result == PROMPT_DONE)
		take_prompt(app);
	else if (result == PROMPT_CANCELLED && prompt->kind == PROMPT_FILTER)
		commands_run(app, "filter");
}

/* Returns true if the key may answer a question. Other keys leave the question open, so that a user
 * who types on without reading it neither confirms it nor runs the rest of the typed keys. */
static bool is_answer(const char *key)
{
	static const char *const answers[] = { "y", "n", "Enter", "q", "Esc", ":", "C-c" };

	for (size_t i = 0; i < ARRAY_LENGTH(answers); i++)
		if (strcmp(key, answers[i]) == 0)
			return true;
	return false;
}

/* Runs the line of the chosen answer. A key of is_answer() that is not in choices closes the
 * question. */
static void app_choose(struct app *app, const struct view_choice *choices, const char *key)
{
	for (; choices->key != NULL; choices++) {
		if (strcmp(choices->key, key) != 0)
			continue;
		view_say(&app->view, false, NULL);
		commands_run(app, choices->line);
		return;
	}
	if (is_answer(key))
		view_say(&app->view, false, NULL);
	if (strcmp(key, ":") == 0)
		commands_run(app, "prompt");
}

void app_key(struct app *app, const char *key)
{
	const struct view_type *open = view_type_of(app->view.kind);
	const struct view_choice *choices = app->view.message.choices;
	char *question = app->view.message.question;
	const char *line;

	app->is_changed = true;
	app->has_key = true;
	if (choices != NULL) {
		app_choose(app, choices, key);
		return;
	}
	if (question != NULL && !is_answer(key))
		return;
	app->view.message.question = NULL;
	view_say(&app->view, false, NULL);
	step_group_key(&app->view.motion, &app->engine->session);
	if (question != NULL) {
		if (strcmp(key, "y") == 0)
			commands_confirmed(app, question);
		else
			stepqueue_clear(&app->view.steps);
		free(question);
		if (strcmp(key, ":") != 0)
			return;
	}
	if (app->view.prompt.is_open) {
		app_type(app, key);
		return;
	}
	if (open->key != NULL && open->key(app, key))
		return;
	line = keymap_find(&app->keymap, view_type_shown(&app->engine->session, &app->view)->name,
			   key);
	if (line != NULL)
		commands_run(app, line);
}

/* Returns true if the press repeats the last press at the same cell within DOUBLE_CLICK_SECONDS. */
static bool is_second(struct app *app, const struct input *input)
{
	struct press press = { loop_now(), input->row, input->column };
	struct press last = app->press;
	bool is_second = press.at - last.at < DOUBLE_CLICK_SECONDS && press.row == last.row &&
			 press.column == last.column;

	app->press = press;
	/* A third press begins a new double click. */
	if (is_second)
		app->press.at = 0;
	return is_second;
}

void app_mouse(struct app *app, const struct input *input)
{
	const char *name = "wheel";
	const char *end = "";
	char line[64];

	switch (input->kind) {
	case INPUT_PRESS:
		name = "click";
		if (is_second(app, input))
			end = "open";
		/* A click cancels the open prompt. */
		if (app->view.prompt.is_open)
			app_type(app, "Esc");
		break;
	case INPUT_WHEEL_UP:
		end = "up";
		break;
	case INPUT_WHEEL_DOWN:
		end = "down";
		break;
	case INPUT_KEY:
		return;
	}
	app->has_key = true;
	snprintf(line, sizeof(line), "%s %d %d %s", name, input->row + 1, input->column + 1, end);
	view_say(&app->view, false, NULL);
	step_group_key(&app->view.motion, &app->engine->session);
	commands_run(app, line);
}

/* Copies to the view, for the header, whether a recording is written and which times are
 * replayed. */
static void note_recording(struct app *app)
{
	const struct replay *replay = app->engine->replay;

	app->view.is_recording = engine_record_path(app->engine) != NULL;
	if (replay == NULL)
		return;
	app->view.replay.first = replay_first_time(replay);
	app->view.replay.end = replay_end_time(replay);
	app->view.replay.wall = replay_wall(replay);
}

void app_draw(struct app *app)
{
	take_notice(app);
	note_recording(app);
	for (int kind = 0; kind < VIEW_KIND_COUNT; kind++) {
		const struct view_type *type = view_type_of((enum view_kind)kind);

		if (type->refresh != NULL)
			type->refresh(app, app->view.kind == (enum view_kind)kind);
	}
	view_draw(&app->canvas, app);
	app->drawn_at = loop_now();
	if (app->screen == NULL || screen_draw(app->screen, &app->canvas))
		app->shown_at = app->drawn_at;
}

/* Heat maps are drawn with characters if the screen has no colours for heat maps. */
static void note_colours(struct app *app)
{
	app->view.has_heat = screen_has_heat(app->screen) && !app->view.is_ascii;
}

int app_set_theme(struct app *app, const char *name, struct error *error)
{
	struct settings *settings = &app->engine->settings;
	char *chosen;

	if (theme_load(&app->theme, name, error) < 0)
		return -1;
	/* name may point to settings->theme. */
	chosen = xstrdup(name);
	free(settings->theme);
	settings->theme = chosen;
	if (app->screen != NULL) {
		screen_set_theme(app->screen, &app->theme);
		note_colours(app);
	}
	return 0;
}

static void on_changed(void *data)
{
	struct app *app = data;

	app->is_changed = true;
	log_stops(app);
	commands_go_on(app);
	started_check_end(app);
}

static void app_on_input(int fd, int events, void *data)
{
	struct app *app = data;
	struct pollfd terminal = { .fd = fd, .events = POLLIN };
	struct input input;
	bool has_key = false;

	(void)events;
	while (!app->is_done && app->away.pid == 0 && input_read(&input)) {
		has_key = true;
		if (input.kind == INPUT_KEY)
			app_key(app, input.key);
		else
			app_mouse(app, &input);
	}
	started_flush(app);
	/* A closed terminal polls as readable for ever, but gives no key. */
	if (!has_key && poll(&terminal, 1, 0) > 0 &&
	    (terminal.revents & (POLLHUP | POLLERR | POLLNVAL)) != 0)
		app->is_done = true;
}

static void app_measure(struct app *app)
{
	screen_size(app->screen, &app->view.row_count, &app->view.column_count);
	app->is_changed = true;
}

static void listen(struct app *app)
{
	app->input = loop_watch(app->engine->loop, screen_fd(app->screen), LOOP_READABLE,
				app_on_input, app);
}

/* While the editor runs, the editor reads the keys. */
static void stop_listening(struct app *app)
{
	loop_watch_stop(app->input);
	app->input = NULL;
}

/* The editor has ended or could not be started: drops the state of struct away. */
static void forget_away(struct app *app)
{
	loop_signal_stop(app->away.ended);
	if (app->away.scratch != NULL)
		scratch_remove(app->away.scratch);
	free(app->away.scratch);
	app->away = (struct away){ .pid = 0 };
}

static void come_back(struct app *app, int status)
{
	struct error error = ERROR_INIT;

	forget_away(app);
	screen_return(app->screen);
	listen(app);
	app_measure(app);
	if (editor_judge(status, &error) < 0)
		app_say_error(app, &error);
}

static void app_on_child(int number, void *data)
{
	struct app *app = data;
	int status;

	(void)number;
	if (waitpid(app->away.pid, &status, WNOHANG) == app->away.pid)
		come_back(app, status);
}

int app_edit(struct app *app, const char *path, int line, struct error *error)
{
	if (app->screen == NULL)
		return error_set(error, "cannot start the editor: probetui has no terminal");
	app->away.ended = loop_signal(app->engine->loop, SIGCHLD, app_on_child, app);
	stop_listening(app);
	screen_leave(app->screen);
	app->away.pid = editor_start(screen_fd(app->screen), path, line, error);
	if (app->away.pid > 0)
		return 0;
	forget_away(app);
	screen_return(app->screen);
	listen(app);
	return -1;
}

int app_edit_scratch(struct app *app, const char *path, int line, struct error *error)
{
	if (app_edit(app, path, line, error) < 0) {
		scratch_remove(path);
		return -1;
	}
	app->away.scratch = xstrdup(path);
	return 0;
}

static void on_resize(int number, void *data)
{
	struct app *app = data;

	(void)number;
	/* The terminal's size is read when the editor ends. */
	if (app->away.pid > 0)
		return;
	screen_resize(app->screen);
	app_measure(app);
}

static void app_on_end(int number, void *data)
{
	struct app *app = data;

	/* C-c was typed for the editor. */
	if (number == SIGINT && app->away.pid > 0)
		return;
	log_write(LOG_WARNING, "signal %d: exiting", number);
	engine_record_end(app->engine, number);
	app->is_done = true;
}

static void app_on_stop(int number, void *data)
{
	struct app *app = data;

	(void)number;
	if (app->away.pid > 0) {
		/* The shell continues the editor and probetui together. */
		raise(SIGSTOP);
		return;
	}
	screen_suspend(app->screen);
	app_measure(app);
}

struct signal_row {
	int number;
	void (*caught)(int number, void *data);
};

static const struct signal_row signal_rows[] = {
	{ SIGWINCH, on_resize }, { SIGCONT, on_resize }, { SIGTERM, app_on_end },
	{ SIGHUP, app_on_end },	 { SIGINT, app_on_end }, { SIGTSTP, app_on_stop },
};

static void on_draw_due(void *data)
{
	struct app *app = data;

	/* run() draws at the next turn of the loop. */
	loop_timer_stop(app->draw_timer);
	app->draw_timer = NULL;
}

/* Sets the sampling period: longer for many ranks and for the list of jobs. */
static void keep_pace(struct app *app)
{
	struct engine *engine = app->engine;
	double period = SAMPLING_PERIOD;
	bool lists_jobs = view_lists_jobs(&engine->session, &app->view);
	bool is_other = lists_jobs != engine->lists_jobs;

	jobs_list(engine, lists_jobs);
	if (engine->replay != NULL || app->view.is_held)
		return;
	if (lists_jobs || engine->session.rank_count > SLOW_SAMPLING_RANKS)
		period = SLOW_SAMPLING_PERIOD;
	if (!lists_jobs && engine->settings.period > 0)
		period = engine->settings.period;
	if (period != app->period || is_other) {
		app->period = period;
		app->view.period = period;
		engine_sample_every(engine, period);
	}
}

static void stop_draw_timer(struct app *app)
{
	if (app->draw_timer != NULL)
		loop_timer_stop(app->draw_timer);
	app->draw_timer = NULL;
}

void app_draw_if_due(struct app *app)
{
	double last = app->has_key ? app->shown_at : app->drawn_at;
	double due = last + 1.0 / DRAWS_A_SECOND;
	double now = loop_now();

	if (!app->is_changed || app->away.pid > 0)
		return;
	/* Only a key can need an earlier draw than the scheduled one. */
	if (app->draw_timer != NULL && !app->has_key)
		return;
	stop_draw_timer(app);
	if (now < due) {
		app->draw_timer = loop_timer(app->engine->loop, due - now, 0, on_draw_due, app);
		return;
	}
	app->is_changed = false;
	app->has_key = false;
	app_draw(app);
	app_want(app);
}

static void run(struct app *app)
{
	struct loop *loop = app->engine->loop;

	listen(app);
	app_measure(app);
	while (!app->is_done) {
		keep_pace(app);
		app_draw_if_due(app);
		loop_turn(loop);
	}
	stop_draw_timer(app);
	if (app->away.pid > 0) {
		/* The editor must not survive its terminal. */
		kill(app->away.pid, SIGHUP);
		forget_away(app);
	} else {
		stop_listening(app);
	}
}

void app_apply_settings(struct app *app)
{
	const struct settings *settings = &app->engine->settings;

	app->view.is_ascii = settings->is_ascii;
	if (app->screen == NULL)
		return;
	app->view.is_ascii |= !screen_is_utf8(app->screen);
	note_colours(app);
	screen_set_mouse(app->screen, !settings->has_no_mouse);
}

/* Loads the default theme; a missing file is only logged. */
static void choose_theme(struct app *app)
{
	const char *name = screen_has_colour(app->screen) ? "default" : "mono";
	struct error problem = ERROR_INIT;

	if (app_set_theme(app, name, &problem) < 0)
		log_write(LOG_WARNING, "%s", problem.message);
}

/* A history whose file cannot be opened lasts as long as the screen. */
static void open_history(struct app *app)
{
	struct view *view = &app->view;
	const struct {
		struct history *history;
		const char *name;
	} files[] = {
		{ &view->prompt.histories[PROMPT_COMMAND], HISTORY_COMMANDS },
		{ &view->repl.line.histories[PROMPT_EVAL], HISTORY_CODE },
	};

	for (size_t i = 0; i < ARRAY_LENGTH(files); i++) {
		struct error error = ERROR_INIT;

		if (history_open(files[i].history, files[i].name, &error) < 0)
			log_write(LOG_WARNING, "%s", error.message);
	}
}

static int open_screen(struct app *app, struct error *error)
{
	const struct settings *settings = &app->engine->settings;

	if (keymap_add_config(&app->keymap, settings, error) < 0)
		return -1;
	if (settings->theme != NULL && app_set_theme(app, settings->theme, error) < 0)
		return -1;
	app->screen = screen_open(settings->has_no_color, error);
	if (app->screen == NULL)
		return -1;
	if (settings->theme == NULL)
		choose_theme(app);
	else
		screen_set_theme(app->screen, &app->theme);
	app_apply_settings(app);
	return 0;
}

int app_run(struct engine *engine, struct error *error)
{
	struct loop_signal *signals[ARRAY_LENGTH(signal_rows)];
	struct app app;
	int result = -1;

	app_init(&app, engine);
	engine->changed = on_changed;
	engine->changed_data = &app;
	/* None of these signals may end the process at once, since the terminal must be restored
	 * first. */
	for (size_t i = 0; i < ARRAY_LENGTH(signal_rows); i++)
		signals[i] = loop_signal(engine->loop, signal_rows[i].number, signal_rows[i].caught,
					 &app);
	if (open_screen(&app, error) < 0)
		goto out;
	log_set_quiet(1);
	open_history(&app);
	run(&app);
	screen_close(app.screen);
	log_set_quiet(0);
	result = 0;
out:
	for (size_t i = 0; i < ARRAY_LENGTH(signal_rows); i++)
		loop_signal_stop(signals[i]);
	engine->changed = NULL;
	app_clear(&app);
	return result;
}
