/*
 * app: the screen of a running engine. The app owns view, keys and canvas. It owns the terminal
 * only within app_run(), so that tests can use all other functions without a terminal.
 */
#ifndef UI_APP_H
#define UI_APP_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/buffer.h"
#include "ui/canvas.h"
#include "ui/keymap.h"
#include "ui/theme.h"
#include "ui/view.h"

struct engine;
struct error;
struct input;
struct loop_signal;
struct loop_timer;
struct loop_watch;
struct screen;

/* The last press of a mouse button: time (seconds of loop_now()) and cell. */
struct press {
	double at;
	int row;
	int column;
};

/* The user's editor, while it has the terminal. */
struct away {
	pid_t pid;		   /* 0: no editor runs */
	char *scratch;		   /* path of a scratch file to remove afterwards; NULL: none */
	struct loop_signal *ended; /* handler of SIGCHLD */
};

struct app {
	struct engine *engine;
	struct screen *screen; /* NULL: no terminal */
	struct view view;
	struct keymap keymap;
	struct canvas canvas;
	struct theme theme;
	double period;	 /* seconds between samples, while sampling is not paused */
	bool is_changed; /* true: draw at the end of the loop's turn */
	bool is_done;
	bool is_ending;		 /* quit when the started job has ended */
	bool has_key;		 /* a key or click came since the last draw */
	double drawn_at;	 /* loop_now() of the last draw */
	double shown_at;	 /* loop_now() of the last draw that changed the screen */
	uint64_t stops_told;	 /* number of entries of session.stops that are in the log */
	double evidence_at;	 /* session time of the next request for evidence */
	size_t evidence_turns;	 /* starts and ends of ranks at the last one */
	uint64_t differences_of; /* answers.number of the question whose differences were
				  * requested */
	struct press press;
	struct loop_watch *input; /* the terminal's input; NULL: not watched */
	struct buffer typed;	  /* keys for the started job, not sent yet */
	struct away away;
	struct loop_timer *draw_timer; /* postponed draw; NULL: none */
};

/* Makes an app with the default keys, without colours and terminal. The engine is borrowed. */
void app_init(struct app *app, struct engine *engine);
void app_clear(struct app *app);
/* Shows an error on the hint line, and keeps it in the log. */
void app_say_error(struct app *app, const struct error *error);
/* Handles a key, by its name. */
void app_key(struct app *app, const char *key);
/* Handles an event of the mouse; INPUT_KEY is ignored. */
void app_mouse(struct app *app, const struct input *input);
/* Draws the screen onto app->canvas, which gets the size in app->view. */
void app_draw(struct app *app);
/*
 * Draws changes and requests missing data, at most 60 times a second: a draw that comes too soon is
 * postponed to a later turn of the loop. After a key, only the time since the last draw that
 * changed the screen counts.
 */
void app_draw_if_due(struct app *app);
/* Requests from the engine the data that the view lacks. */
void app_want(struct app *app);
/*
 * Gives the terminal to the editor until the editor ends; the engine keeps running. For
 * app_edit_scratch() the file is a copy, which is removed afterwards. Returns 0; -1 and *error: the
 * editor cannot be started.
 */
int app_edit(struct app *app, const char *path, int line, struct error *error);
int app_edit_scratch(struct app *app, const char *path, int line, struct error *error);
/* Loads a theme by name and shows it. Returns 0; -1 and *error: the theme cannot be loaded. */
int app_set_theme(struct app *app, const char *name, struct error *error);
/* Applies settings that the command `set` has changed. */
void app_apply_settings(struct app *app);
/*
 * Runs the screen of a started engine: takes the terminal, runs the loop until the user or a signal
 * ends it, and restores the terminal. Returns 0; -1 and *error: no terminal, or a wrong key or
 * theme in the config file.
 */
int app_run(struct engine *engine, struct error *error);

#endif
